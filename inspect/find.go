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
func Find(text string) (matches []Match) {
	s := newSearch(text, func(m Match) {
		if matches == nil {
			matches = make([]Match, 0, 1+len(text)/256)
		}
		matches = append(matches, m)
	})
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
		var from int
		if class&inDigits != 0 { // most often an ObjectId that stands alone
			from, end = row(text, at, at+window, inDigits)
			if end-from == hexSize && (from == 0 || !is(text[from-1], inRow)) && (end == len(text) || !is(text[end], inRow)) {
				s.add(Match{from, end, text[from:end]})
				continue
			}
		}
		from, end = row(text, at, at+window, inWord)
		known := end // the window may be part of one word
		if class&inWord == 0 {
			from, end = row(text, from, end, inRow)
			known = from
		}
		s.row(from, known, end)
	}
	s.addRare(len(text))
	return matches
}

// FindObjectIDs calls found with each ObjectId that [Find] finds in text.
func FindObjectIDs(text string, found func(Match)) {
	s := newSearch(text, found)
	s.digits(0, len(text))
	s.addRare(len(text))
}

// search finds ids in a text.
type search struct {
	text  string
	found func(Match) // is called with the matches in the order of the text
	end   int         // of the last match
	rare  []Match     // the matches of anchors with which found was not yet called
}

func newSearch(text string, found func(Match)) search {
	s := search{text: text, found: found}
	for _, a := range anchors {
		for from := 0; ; {
			at := strings.Index(text[from:], a.text)
			if at < 0 {
				break
			}
			if m, ok := a.find(text, from+at); ok {
				s.rare = append(s.rare, m)
			}
			from += at + len(a.text)
		}
	}
	slices.SortFunc(s.rare, func(a, b Match) int { return a.Start - b.Start })
	return s
}

// add adds m to the matches, after those of anchors that begin before m or within m.
func (s *search) add(m Match) {
	if len(s.rare) > 0 {
		s.addRare(m.End)
	}
	s.addNext(m)
}

// addRare adds the matches of anchors that begin before text[until].
func (s *search) addRare(until int) {
	for len(s.rare) > 0 && s.rare[0].Start < until {
		s.addNext(s.rare[0])
		s.rare = s.rare[1:]
	}
}

// addNext adds m, unless it overlaps with the match before.
func (s *search) addNext(m Match) {
	if s.end <= m.Start {
		s.end = m.End
		s.found(m)
	}
}

// window is the number of bytes that [Find] looks at together; in most text, four of them are
// enough to skip a window. Each form that Find looks for has at least 23 characters of one
// class in a row, so at least one whole window lies within the form, wherever the form begins:
//
//	windows  |----12----|----12----|----12----|
//	a form        [----------23---------]
const window = 12

// Classes of characters, one bit each. Every higher bit is the class of one form.
const (
	inWord   = 1 << iota // ASCII letters and digits
	inRow                // inWord, and the separators within a UUID or a gpid
	inDigits             // hexadecimal digits

	inForms = ^uint8(inWord | inRow | inDigits)
)

var (
	// classes holds the classes of each character.
	classes [256]uint8

	// finders[n] are the find functions of the forms whose length is n.
	finders [32][]func(text string, from, to int) (Match, bool)
)

func init() {
	const lettersAndDigits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	sets := []string{lettersAndDigits, lettersAndDigits + "-:.[]", hexDigits}
	for _, f := range forms {
		if f.characters != "" {
			sets = append(sets, f.characters)
		}
		if f.find != nil {
			finders[f.length] = append(finders[f.length], f.find)
		}
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
	before := s.end
	if s.digits(from, to); s.end > before || to-from >= len(finders) {
		return
	}
	for _, find := range finders[to-from] {
		if m, ok := find(s.text, from, to); ok {
			s.add(m)
			return
		}
	}
}

// digits finds the ObjectIds in text[from:to].
func (s *search) digits(from, to int) {
	text := s.text
	// It is enough to look at every 24th character: each run of 24 digits contains one of them.
	for i := from + hexSize - 1; i < to; i += hexSize {
		if !is(text[i], inDigits) {
			continue
		}
		begin, end := row(text, i, i+1, inDigits)
		if id := idIn(text, begin, end); id >= 0 {
			s.add(Match{id, end, text[id:end]})
		}
		i = end
	}
}
