package inspect

import (
	"github.com/oidkit/oid/internal/pattern"
)

// form is a form of ids that [Find] finds in any text. An id in this form has at least 23 of the
// characters in a row. Among them are exactly length letters and digits in a row, text[from:to],
// with which find is called if word matches them.
type form struct {
	name       string
	characters string
	length     int
	word       *pattern.Late // nil: any
	find       func(text string, from, to int) (m Match, ok bool)
}

// forms are all forms. If a word matches several forms, the first one counts.
var forms = [...]form{
	{name: "ObjectId"}, // of the class inDigits, and found by idIn
	{"UUID", hexDigits + "-", 12, nil, findUUID},
	{"ULID in capitals", "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 26, pattern.Of(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`), matchAt},
	{"TypeID", "0123456789abcdefghjkmnpqrstvwxyz", 26, pattern.Of(`^[0-7][0-9a-hjkmnp-tv-z]{25}$`), findTypeID},
	{"gpid", "0123456789abcdefABCDEF:.[]", 16, nil, findGPID}, // the start time, between the address and the pid
}

var (
	// guidStart is the beginning of a GUID or of a trace id that is hyphenated as 8-24 or
	// 8-4-4-24. If it stands directly before 24 digits, and has both a letter and a digit,
	// the 24 digits are not an ObjectId.
	guidStart = pattern.Of(`(?:^|[^0-9A-Za-z])([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4})*-)$`)

	typeIDPrefix = pattern.Of(`(?:^|[^0-9A-Za-z_])([a-z](?:[a-z_]{0,61}[a-z])?_)$`)
	gpidForm     = pattern.Of(`(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|\[[0-9a-f:.]{2,45}\]):[0-9]{1,5}:[0-9]{16}:[0-9]{1,10}`)
)

func matchAt(text string, from, to int) (Match, bool) { return Match{from, to, text[from:to]}, true }

// isUUID reports whether the 36 characters of s are a UUID.
func isUUID(s string) bool {
	for i := range len(s) {
		if hyphen := i == 8 || i == 13 || i == 18 || i == 23; hyphen != (s[i] == '-') || !hyphen && !is(s[i], inDigits) {
			return false
		}
	}
	return true
}

// findUUID is called with the last 12 digits of a UUID.
func findUUID(text string, from, to int) (m Match, ok bool) {
	id := from - 24
	if id < 0 || !isUUID(text[id:to]) {
		return m, false
	}
	if begin, _ := row(text, id, id, inDigits); begin < id && !escapeEnds(text, begin, id) {
		return m, false
	}
	return matchAt(text, id, to)
}

// findTypeID is called with the characters after the prefix.
func findTypeID(text string, from, to int) (m Match, ok bool) {
	prefix := typeIDPrefix.Get().FindStringSubmatch(text[max(from-66, 0):from])
	if prefix == nil {
		return m, false
	}
	return matchAt(text, from-len(prefix[1]), to)
}

// findGPID is called with the start time of a gpid.
func findGPID(text string, from, to int) (m Match, ok bool) {
	if from == 0 || text[from-1] != ':' {
		return m, false
	}
	const longest = 80
	begin := max(from-longest, 0)
	all := gpidForm.Get().FindAllStringIndex(text[begin:min(to+11, len(text))], -1)
	if len(all) == 0 || begin+all[len(all)-1][1] <= to {
		return m, false
	}
	last := all[len(all)-1]
	return matchAt(text, begin+last[0], begin+last[1])
}
