package phrase

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
)

// secondsPerYear is the mean of the Gregorian calendar.
const secondsPerYear = 31_556_952

// Ago returns how long before now t is, or how long after it, in the largest unit:
// "3 minutes ago", "14 years ago", "1 week from now".
func Ago(t, now time.Time) string {
	// The library counts years of 360 days and none beyond 37.
	switch years := (now.Unix() - t.Unix()) / secondsPerYear; {
	case years >= 2:
		return fmt.Sprintf("%d years ago", years)
	case years <= -2:
		return fmt.Sprintf("%d years from now", -years)
	}
	return humanize.RelTime(t, now, "ago", "from now")
}
