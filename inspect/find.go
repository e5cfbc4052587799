package inspect

// Match is an id within a text: text[Start:End], and the ID that is written there.
type Match struct {
	Start, End int
	ID         string
}

// Find returns the ids in text that nothing else looks like, in their order: ObjectIds,
// UUIDs, ULIDs in capitals, TypeIDs with a prefix and gpids. Of most text it looks at one
// byte in three.
func Find(text string) (matches []Match) {
	end := 0 // of what was searched
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

// window is how many bytes [Find] looks at together. Each form that it looks for has
// at least 23 characters of one class in a row, and so a whole window of them, wherever it
// begins:
//
//	windows  |----12----|----12----|----12----|
//	a form        [----------23---------]
const window = 12

// Classes of characters, one bit each; the bits above them are those of one form each.
const (
	inWord   = 1 << iota // ASCII letters and digits
	inRow                // inWord, and what is between them in a UUID or a gpid
	inDigits             // hexadecimal

	inForms = ^uint8(inWord | inRow | inDigits)
)

var (
	// classes are the classes of each character.
	classes [256]uint8

	// finders are the functions of the forms that have so many letters and digits in a row.
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

// row returns where the characters of a class around s[from:to] begin and end.
func row(s string, from, to int, class uint8) (int, int) {
	for from > 0 && is(s[from-1], class) {
		from--
	}
	for to < len(s) && is(s[to], class) {
		to++
	}
	return from, to
}

// findInRow appends the ids in text[from:to], which has only the characters of inRow, to
// matches. The first word goes up to known at least.
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

// findAround returns the id of which the letters and digits text[from:to] are a part.
func findAround(text string, from, to int) (m Match, ok bool) {
	n := to - from
	if n > hexSize && (n <= 29 || text[to-25] == 'm') && isHex(text[to-hexSize:to]) && escapes(text, to-hexSize) { // \u003c, or colours
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
