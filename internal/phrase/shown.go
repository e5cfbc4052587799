package phrase

import (
	"strings"
	"unicode"
)

// isHidden reports whether r is not seen, or changes how its neighbours are seen, such
// as a zero-width space or the mark that reverses what follows. With these one name can
// look like another.
func isHidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Variation_Selector) || r == '\u115f' || r == '\u3164'
}

// HasHidden reports whether text has a character that [Shown] replaces.
func HasHidden(text string) bool { return strings.ContainsFunc(text, isHidden) }

// Shown returns text of a stranger for people, with a sign in place of each character
// that is hidden.
func Shown(text string) string {
	return strings.Map(func(r rune) rune {
		if isHidden(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
