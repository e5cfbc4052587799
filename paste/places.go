package paste

import (
	"cmp"
	"slices"
	"strings"

	"github.com/oidkit/oid/internal/pattern"
)

// Place is an id within a text.
type Place struct {
	From, To int    // its bytes, with its notation if it was written as bytes
	ID       string // as it was written, or the 24 digits of an id written as bytes
}

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

// Places returns the ids in s that nothing else looks like, in their order:
// ObjectIds, UUIDs, ULIDs in capitals, TypeIDs with a prefix and gpids, and ObjectIds
// as twelve bytes in the notation of Go, Node.js, Python, Extended JSON or a hex
// dump. Bytes in decimal digits or in a dump must have the time of a plausible id.
func Places(s string) []Place {
	places, lists := search(s)
	raw := append(lists, quotedBytes(s)...)
	if len(raw) == 0 {
		return places
	}
	places = append(places, raw...)
	slices.SortFunc(places, func(a, b Place) int { return cmp.Compare(a.From, b.From) })
	end := 0
	return slices.DeleteFunc(places, func(p Place) bool { // an id within the notation of another
		if p.From < end {
			return true
		}
		end = p.To
		return false
	})
}

// wordID returns the id of which the letters and digits s[from:to] are a part.
func wordID(s string, from, to int) (p Place, ok bool) {
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
	return Place{from, to, s[from:to]}, true
}
