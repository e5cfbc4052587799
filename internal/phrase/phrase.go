// Package phrase writes numbers, times and errors for people, as parts of sentences.
package phrase

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/internal/hidden"
	"github.com/oidkit/oid/internal/pattern"
)

// Count returns n and its noun, such as "1 id" or "1,200 ids": one is the noun in singular,
// many in plural.
func Count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return humanize.Comma(n) + " " + many
}

// Length returns a length of time in its largest unit of d, h, m and s and the next smaller
// unit, such as 1d19h or 40s. Smaller units are cut off. A negative length has only its largest
// unit, such as -1d.
func Length(d time.Duration) string {
	seconds := int64(d / time.Second)
	units := []struct {
		name    string
		seconds int64
	}{{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}}
	for i, u := range units {
		n := seconds / u.seconds
		if n == 0 {
			continue
		}
		out := fmt.Sprintf("%d%s", n, u.name)
		if i+1 < len(units) {
			if rest := seconds % u.seconds / units[i+1].seconds; rest > 0 {
				out += fmt.Sprintf("%d%s", rest, units[i+1].name)
			}
		}
		return out
	}
	return "0s"
}

// secondsPerYear is the mean of the Gregorian calendar.
const secondsPerYear = 31_556_952

// Ago returns how long before or after now t is, in the largest unit: "3 minutes ago",
// "14 years ago", "1 week from now". The script of the web page calculates it the same way.
func Ago(t, now time.Time) string {
	// The library counts years of 360 days and none beyond 37.
	switch years := (now.Unix() - t.Unix()) / secondsPerYear; {
	case years >= 1:
		return Count(years, "year", "years") + " ago"
	case years <= -1:
		return Count(-years, "year", "years") + " from now"
	}
	return humanize.RelTime(t, now, "ago", "from now")
}

// Memo is a small cache of texts by their key, for example of the text of a time that many ids
// have in common. The zero value is ready to use. Only one goroutine at a time may use a Memo.
type Memo[K comparable] struct {
	known [32]struct {
		key  K
		text []byte
	}
}

// Append appends the text of key to b. If the text is not in the cache, Append calls write,
// which must append the text to its argument; the text must not be empty. slot is any number
// that depends only on the key. Keys with equal slots replace each other in the cache.
func (m *Memo[K]) Append(b []byte, slot int, key K, write func(b []byte, key K) []byte) []byte {
	e := &m.known[uint(slot)%uint(len(m.known))]
	if len(e.text) == 0 || e.key != key {
		e.key, e.text = key, write(e.text[:0], key)
	}
	return append(b, e.text...)
}

// packagePrefix matches the name of a package before the text of its error.
var packagePrefix = pattern.Of(`(^|: |\n)(?:objectid|gpid|inspect|census|store|memstore|sqlitestore|mongostore|pgstore|registry|lock|redislock|filelock|storelock|server|sealed|unpack): `)

// Plain returns the text of an error without the names of packages, which mean nothing to the
// users of a program.
func Plain(text string) string {
	for packagePrefix.Get().MatchString(text) {
		text = packagePrefix.Get().ReplaceAllString(text, "$1")
	}
	return text
}

// Excerpt returns text if it has at most n bytes, otherwise its beginning and an ellipsis.
func Excerpt(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// Shown returns a text of unknown origin as it can be shown to people: each invisible character
// (see hidden.Rune) is replaced by U+FFFD.
func Shown(text string) string {
	return strings.Map(func(r rune) rune {
		if hidden.Rune(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// Argument returns text as an argument of a command line, in quotes if a shell needs them.
func Argument(text string) string {
	isPlain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("._-/:", r)
	}
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !isPlain(r) }) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
