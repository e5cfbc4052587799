package inspect

// Match is an id that [Find] found in a text. ID is text[Start:End].
type Match struct {
	Start, End int
	ID         string
}

// Find returns the ids in text that cannot be confused with other words and numbers:
// ObjectIds, UUIDs, ULIDs in capitals, TypeIDs with a prefix, and gpids. They are in the order
// of the text. nil means that there are none.
func Find(text string) (matches []Match) {
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
		from, end = row(text, at, at+window, inWord)
		known := end // the window may be part of one word
		if class&inWord == 0 {
			from, end = row(text, from, end, inRow)
			known = from
		}
		matches = findInRow(matches, text, from, known, end)
	}
	return matches
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
		if f.find != nil {
			sets = append(sets, f.characters)
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

func isHex(s string) bool { _, end := row(s, 0, 0, inDigits); return end == len(s) }

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

// findInRow appends the ids in text[from:to] to matches. All characters of text[from:to] are
// of the class inRow, and those of text[from:known] are of inWord.
func findInRow(matches []Match, text string, from, known, to int) []Match {
	for begin := from; begin < to; begin++ {
		_, end := row(text, begin, max(begin, known), inWord)
		if m, ok := findAround(text, begin, end); ok && (len(matches) == 0 || matches[len(matches)-1].End <= m.Start) {
			if matches == nil {
				matches = make([]Match, 0, 1+len(text)/256)
			}
			matches = append(matches, m)
		}
		begin = end
	}
	return matches
}

// findAround returns the id that contains the letters and digits text[from:to].
func findAround(text string, from, to int) (m Match, ok bool) {
	n := to - from
	// The last characters of an escape, such as \u003c or a terminal colour, may stand before an id.
	if n > hexSize && (n <= 29 || text[to-25] == 'm') && isHex(text[to-hexSize:to]) && escapes(text, to-hexSize) {
		from, n = to-hexSize, hexSize
	}
	if n >= len(finders) {
		return m, false
	}
	for _, find := range finders[n] {
		if m, ok = find(text, from, to); ok {
			return m, true
		}
	}
	return Match{}, false
}
