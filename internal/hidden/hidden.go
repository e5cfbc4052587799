// Package hidden recognises characters that people do not see in a text. With them one name
// can look like another.
package hidden

import "unicode"

// Rune reports whether r is not seen, or changes how its neighbours are seen, such as a
// zero-width space, a line end, or the mark that reverses what follows.
func Rune(r rune) bool {
	if r >= ' ' && r <= '~' {
		return false // most are
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Variation_Selector) || r == '\u115f' || r == '\u3164'
}

// Unprintable reports whether r is hidden, or is what Go reads for a byte that is not UTF-8.
func Unprintable(r rune) bool { return Rune(r) || r == '\uFFFD' }
