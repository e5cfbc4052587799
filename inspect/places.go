package inspect

import (
	"strings"

	"github.com/oidkit/oid/internal/pattern"
)

// Match is where an id is within a text: from the byte Start up to the one before End.
type Match struct{ Start, End int }

var (
	// guidStart, before 24 digits and with a letter and a digit in it, makes them the end of
	// a GUID or of a trace id, which others hyphenate as 8-24 or 8-4-4-24, not an id.
	guidStart = pattern.Of(`(?:^|[^0-9A-Za-z])([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4})*-)$`)

	// escape may come directly before an id: an escaped character of JSON or of a
	// URL, the beginning of bytes in PostgreSQL, a hexadecimal number, or the
	// colours of a terminal.
	escape = pattern.Of(`(?:\\(?:u[0-9a-fA-F]{4}|[bfnrtx])|%[0-9a-fA-F]{2}|\x1b\[[0-9;]{0,20}m|\b0[xX])$`)

	ulidInCapitals = pattern.Of(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`)
	typeIDSuffix   = pattern.Of(`^[0-7][0-9a-hjkmnp-tv-z]{25}$`)
	typeIDPrefix   = pattern.Of(`(?:^|[^0-9A-Za-z_])([a-z](?:[a-z_]{0,61}[a-z])?_)$`)
	uuidForm       = pattern.Of(`^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	processForm    = pattern.Of(`(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|\[[0-9a-f:.]{2,45}\]):[0-9]{1,5}:[0-9]{16}:[0-9]{1,10}`)
)

const (
	longestEscape = 30
	longestForm   = 80 // of a gpid
)

// Find returns the ids in s that nothing else looks like, in their order:
// ObjectIds, UUIDs, ULIDs in capitals, TypeIDs with a prefix and gpids. Of most text it
// looks at one byte in three.
func Find(s string) (places []Match) {
	end := 0 // of what was searched
	for at := 0; at+window <= len(s); at += window {
		w := s[at : at+window]
		kind := classes[w[0]] & classes[w[4]] & classes[w[7]] & classes[w[11]]
		if kind&inForms == 0 || at < end {
			continue
		}
		kind &= classes[w[1]] & classes[w[2]] & classes[w[3]] & classes[w[5]] & classes[w[6]] & classes[w[8]] & classes[w[9]] & classes[w[10]]
		if kind&inForms == 0 {
			continue
		}
		var from int
		from, end = row(s, at, at+window, inWord)
		known := end // the window may be part of one word
		if kind&inWord == 0 {
			from, end = row(s, from, end, inRow)
			known = from
		}
		places = wordIDs(places, s, from, known, end)
	}
	return places
}

// window is how many bytes [Find] looks at together. Each form that it looks for has
// at least 23 characters of one kind in a row, and so a whole window of them, wherever it
// begins:
//
//	windows  |----12----|----12----|----12----|
//	a form        [----------23---------]
const window = 12

// Kinds of characters, one bit each.
const (
	inHex     = 1 << iota // of an ObjectId or a UUID, with its hyphens
	inULID                // of a ULID in capitals
	inTypeID              // of a TypeID, after its prefix
	inProcess             // of a gpid
	inWord                // ASCII letters and digits
	inRow                 // inWord, and what is between them in a UUID or a gpid
	inDigits              // hexadecimal

	inForms = inHex | inULID | inTypeID | inProcess // what Find looks for
)

// classes are the kinds of each character.
var classes = func() (table [256]uint8) {
	const digits, lower, upper = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for kind, characters := range map[uint8]string{
		inHex:     digits + lower[:6] + upper[:6] + "-",
		inULID:    digits + "ABCDEFGHJKMNPQRSTVWXYZ",
		inTypeID:  digits + "abcdefghjkmnpqrstvwxyz",
		inProcess: digits + lower[:6] + ":.[]",
		inWord:    digits + lower + upper,
		inRow:     digits + lower + upper + "-:.[]",
		inDigits:  digits + lower[:6] + upper[:6],
	} {
		for _, c := range []byte(characters) {
			table[c] |= kind
		}
	}
	return table
}()

func is(c byte, kind uint8) bool { return classes[c]&kind != 0 }

func isHex(s string) bool { _, end := row(s, 0, 0, inDigits); return end == len(s) }

// row returns where the characters of a kind around s[from:to] begin and end.
func row(s string, from, to int, kind uint8) (int, int) {
	for from > 0 && is(s[from-1], kind) {
		from--
	}
	for to < len(s) && is(s[to], kind) {
		to++
	}
	return from, to
}

// wordIDs appends the ids in s[from:to], which has only the characters of inRow, to
// places. The first word goes up to known at least.
func wordIDs(places []Match, s string, from, known, to int) []Match {
	for begin := from; begin < to; begin++ {
		_, end := row(s, begin, max(begin, known), inWord)
		if p, ok := wordID(s, begin, end); ok && (len(places) == 0 || places[len(places)-1].End <= p.Start) {
			places = append(places, p)
		}
		begin = end
	}
	return places
}

// wordID returns the id of which the letters and digits s[from:to] are a part. How many
// these are says which form it may have:
//
//	24  an ObjectId; more, if an escape comes directly before it
//	26  a ULID in capitals, or a TypeID, whose prefix is before them
//	12  a UUID, whose other parts are before them
//	16  a gpid: they are the start time, between the address and the pid
func wordID(s string, from, to int) (p Match, ok bool) {
	n := to - from
	if n > 24 && (n <= 29 || s[to-25] == 'm') && isHex(s[to-24:to]) { // \u003c, or colours
		before := s[max(to-24-longestEscape, 0) : to-24]
		if escape().MatchString(before) {
			from, n = to-24, 24
		}
	}
	switch {
	case n == 24 && isHex(s[from:to]):
		if from > 0 && s[from-1] == '-' {
			m := guidStart().FindStringSubmatch(s[max(from-longestEscape, 0):from])
			if m != nil && strings.ContainsAny(m[1], "0123456789") && strings.ContainsAny(m[1], "abcdefABCDEF") {
				return p, false
			}
		}
	case n == 26 && ulidInCapitals().MatchString(s[from:to]):
	case n == 26 && typeIDSuffix().MatchString(s[from:to]):
		m := typeIDPrefix().FindStringSubmatch(s[max(from-66, 0):from])
		if m == nil {
			return p, false
		}
		from -= len(m[1])
	case n == 12 && from >= 24 && uuidForm().MatchString(s[from-24:to]):
		if from -= 24; from > 0 && is(s[from-1], inWord) {
			before := s[max(from-longestEscape, 0):from]
			if !escape().MatchString(before) {
				return p, false
			}
		}
	case n == 16 && from > 0 && s[from-1] == ':':
		begin := max(from-longestForm, 0)
		all := processForm().FindAllStringIndex(s[begin:min(to+11, len(s))], -1)
		if len(all) == 0 || begin+all[len(all)-1][1] <= to {
			return p, false
		}
		last := all[len(all)-1]
		from, to = begin+last[0], begin+last[1]
	default:
		return p, false
	}
	return Match{from, to}, true
}
