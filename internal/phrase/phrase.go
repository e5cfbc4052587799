// Package phrase writes numbers for people, within sentences.
package phrase

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/internal/hidden"
	"github.com/oidkit/oid/internal/pattern"
)

// Count returns n with the noun for it: one if n is 1, otherwise many.
func Count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return humanize.Comma(n) + " " + many
}

// Length returns a length of time in its two largest units of d, h, m and s, such
// as 1d19h or 40s. What is below the second unit is cut off, and so is a second unit
// of 0. A negative length is written in its largest unit alone, such as -1d.
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

// Ago returns how long before now t is, or how long after it, in the largest unit:
// "3 minutes ago", "14 years ago", "1 week from now". The web page's script follows
// the same rule.
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

// Memo remembers texts that are often needed again, such as that of a time which many ids
// share. The zero value is ready to use, by one goroutine.
type Memo[K comparable] struct {
	known [32]struct {
		key  K
		text []byte
	}
}

// Append appends to b what write appends for key, which is not empty. It calls write only if
// the last key with the same slot was another one. A slot is any number, best one that
// differs between keys.
func (m *Memo[K]) Append(b []byte, slot int, key K, write func(b []byte, key K) []byte) []byte {
	e := &m.known[uint(slot)%uint(len(m.known))]
	if len(e.text) == 0 || e.key != key {
		e.key, e.text = key, write(e.text[:0], key)
	}
	return append(b, e.text...)
}

// packagePrefix matches the name of a package in front of its error.
var packagePrefix = pattern.Of(`(^|: |\n)(?:objectid|gpid|inspect|census|store|memstore|sqlitestore|mongostore|pgstore|registry|lock|redislock|filelock|storelock|server|sealed): `)

// Plain returns the text of an error without the names of packages, which do not help
// those who use a program.
func Plain(text string) string {
	for packagePrefix().MatchString(text) {
		text = packagePrefix().ReplaceAllString(text, "$1")
	}
	return text
}

// Shown returns text of a stranger for people, with a sign in place of each character
// that is hidden.
func Shown(text string) string {
	return strings.Map(func(r rune) rune {
		if hidden.Rune(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
