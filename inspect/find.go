package inspect

import (
	"slices"
	"strings"
)

// Match is an id that [Find] found in a text, at text[Start:End]. ID differs from text[Start:End]
// if the digits of the id are not in a row there.
type Match struct {
	Start, End int
	ID         string
}

// Find returns the ids in text that cannot be confused with other words and numbers:
// ObjectIds, UUIDs, ULIDs in capitals, TypeIDs with a prefix, and gpids. They are in the order
// of the text. nil means that there are none.
func Find(text string) []Match {
	s := search{text: text}
	end := 0 // text[:end] was searched
	for at := 0; at+window <= len(text); at += window {
		w := text[at : at+window]
		class := classes[w[0]] & classes[w[4]] & classes[w[7]] & classes[w[11]]
		if class&inForms == 0 || at < end {
			continue
		}
		class &= classes[w[1]] & classes[w[2]] & classes[w[3]] & classes[w[5]] & classes[w[6]] & classes[w[8]] & classes[w[9]] & classes[w[10]]
		if class&inForms == 0 {
			continue
		}
		if class&inBroken != 0 { // most often an ObjectId
			known := at // text[at:known] are digits
			if class&inDigits != 0 {
				known += window
			}
			before := len(s.matches)
			if end = s.digits(at, known); len(s.matches) > before || class&inRow == 0 {
				continue
			}
		}
		var from int
		from, end = row(text, at, at+window, inWord)
		known := end // the window may be part of one word
		if class&inWord == 0 {
			from, end = row(text, from, end, inRow)
			known = from
		}
		s.row(from, known, end)
	}
	return s.withSpread()
}

// AppendObjectIDs appends the ObjectIds that [Find] finds in text to matches.
func AppendObjectIDs(matches []Match, text string) []Match {
	s := search{text: text, matches: matches}
	end := 0 // text[:end] was searched
	for at := 0; at < len(text)-hexSize+1; {
		w := text[at : at+hexSize]
		class := classes[w[11]] & (classes[w[3]]&classes[w[7]] | classes[w[15]]&classes[w[19]]) // of half an id, at least
		if class&inBroken != 0 && at+11 >= end {
			// Few windows come here, and fewer pass the next test. Together the tests are fast.
			class = classes[w[4]]&classes[w[5]]&classes[w[9]] | classes[w[13]]&classes[w[14]]&classes[w[17]]
			if class&inBroken != 0 {
				end = s.digits(at+11, at+11)
			}
		}
		if at += hexSize; at > len(text)-hexSize && at < len(text) {
			at = len(text) - hexSize // the last window overlaps with the one before
		}
	}
	return s.withSpread()
}

// search finds ids in a text.
type search struct {
	text    string
	matches []Match
}

// add adds m to the matches, unless it overlaps with the match before.
func (s *search) add(m Match) {
	if n := len(s.matches); n > 0 && s.matches[n-1].End > m.Start {
		return
	}
	if s.matches == nil {
		s.matches = make([]Match, 0, 1+len(s.text)/128)
	}
	s.matches = append(s.matches, m)
}

// withSpread returns the matches, with the ids in notations in which the digits are not in a row.
func (s *search) withSpread() []Match {
	n := len(s.matches)
	for i, word := range [...]string{"Buffer", "Identifier", "Value1"} { // rare first letters are found faster
		if i == 1 && strings.IndexByte(s.text, '{') < 0 {
			break // the other words are members
		}
		for from := 0; ; from++ {
			at := strings.Index(s.text[from:], word)
			if at < 0 {
				break
			}
			from += at
			if m, ok := bracketed(s.text, from); ok {
				s.matches = append(s.matches, m)
			}
		}
	}
	if len(s.matches) == n {
		return s.matches
	}
	slices.SortFunc(s.matches, func(a, b Match) int { return a.Start - b.Start })
	end := 0
	return slices.DeleteFunc(s.matches, func(m Match) bool {
		overlaps := m.Start < end
		end = max(end, m.End)
		return overlaps
	})
}

// window is the number of bytes that [Find] looks at together; in most text, four of them are
// enough to skip a window. Each form that Find looks for has at least 23 characters of one
// class in a row, so at least one whole window lies within the form, wherever the form begins:
//
//	windows  |----12----|----12----|----12----|
//	a form        [----------23---------]
const window = 12

// Classes of characters, one bit each. Every bit from inDigits on is the class of one form.
const (
	inWord   = 1 << iota // ASCII letters and digits
	inRow                // inWord, and the separators within a UUID or a gpid
	inDigits             // hexadecimal digits, the class of an ObjectId
	inBroken             // inDigits, and a soft line break

	inForms = ^uint8(inWord | inRow)
)

var (
	// classes holds the classes of each character.
	classes [256]uint8

	// finders[n] are the forms whose length is n.
	finders [32][]*form
)

func init() {
	const lettersAndDigits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	sets := []string{lettersAndDigits, lettersAndDigits + "-:.[]", hexDigits, hexDigits + "=\r\n"}
	for i := 1; i < len(forms); i++ { // ObjectIds are found by idIn
		f := &forms[i]
		sets = append(sets, f.characters)
		finders[f.length] = append(finders[f.length], f)
	}
	for bit, characters := range sets {
		for _, c := range []byte(characters) {
			classes[c] |= 1 << bit
		}
	}
}

func is(c byte, class uint8) bool { return classes[c]&class != 0 }

// row extends s[from:to] in both directions as long as the characters are of the class, and
// returns the new bounds.
func row(s string, from, to int, class uint8) (int, int) {
	for from > 0 && is(s[from-1], class) {
		from--
	}
	for to < len(s) && is(s[to], class) {
		to++
	}
	return from, to
}

// row finds the ids in text[from:to]. All characters of text[from:to] are of the class inRow, and
// those of text[from:known] are of inWord.
func (s *search) row(from, known, to int) {
	for begin := from; begin < to; begin++ {
		_, end := row(s.text, begin, max(begin, known), inWord)
		s.word(begin, end)
		begin = end
	}
}

// word finds the ids that contain the letters and digits text[from:to] or a part of them.
func (s *search) word(from, to int) {
	// It is enough to look at every 24th character: each run of 24 digits contains one of them.
	for i := from + hexSize - 1; i < to; i += hexSize {
		if is(s.text[i], inDigits) {
			i = s.digits(i, i)
		}
	}
	if to-from >= len(finders) {
		return
	}
	for _, f := range finders[to-from] {
		if f.word != nil && !f.word.Get().MatchString(s.text[from:to]) {
			continue
		}
		if m, ok := f.find(s.text, from, to); ok {
			s.add(m)
			return
		}
	}
}

// digits finds the ObjectId that contains the digits text[from:to], or has them directly beside
// it. It returns where the digits end.
func (s *search) digits(from, to int) (end int) {
	from, to = row(s.text, from, to, inDigits)
	if m, ok := softBreak(s.text, from, to); ok {
		s.add(m)
		return m.End
	}
	if id := idIn(s.text, from, to); id >= 0 {
		s.add(Match{id, to, s.text[id:to]})
	}
	return to
}
