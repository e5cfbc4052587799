package server

import (
	"fmt"
	"strconv"
	"time"
)

const day = 24 * time.Hour

// units of time, largest first.
var units = []struct {
	name   string
	length time.Duration
}{{"year", 36525 * day / 100}, {"day", day}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}}

// ago says in words how long ago something was, or how far ahead it lies.
func ago(d time.Duration) string {
	switch words := length(d.Abs()); {
	case words == "":
		return "just now"
	case d < 0:
		return "in " + words
	default:
		return words + " ago"
	}
}

// length says in words how long d is, in its largest unit; nothing for less than a
// second.
func length(d time.Duration) string {
	for _, u := range units {
		if n := d / u.length; n == 1 {
			return "1 " + u.name
		} else if n > 1 {
			return fmt.Sprintf("%d %ss", n, u.name)
		}
	}
	return ""
}

// size writes a number of bytes; nothing if it is not known.
func size(n int64) string {
	switch {
	case n < 0:
		return ""
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	default:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
}

// group writes a number with commas between its thousands.
func group(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
