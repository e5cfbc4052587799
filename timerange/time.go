package timerange

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/xhit/go-str2duration/v2"

	"github.com/oidkit/oid/objectid"
)

// Help is a paragraph about what [Parse] reads.
const Help = `A TIME is RFC 3339 (2026-11-20T14:00:00+01:00), a date or a date and time
(2026-11-20, 2026-11-20T14:00, in UTC), now, a distance from now (-7d, -36h,
+1h30m; units w d h m s), Unix seconds (1795183200 or @1795183200), or an
ObjectId, which means its creation time.`

// layouts without a zone are read as UTC.
var layouts = []string{
	time.RFC3339Nano,
	"2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02T15:04Z07:00",
	"2006-01-02 15:04Z07:00",
	"2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05.999999999",
	"2006-01-02T15:04",
	"2006-01-02 15:04",
	time.DateOnly,
}

// Parse reads a time in any of the forms that [Help] describes; distances are
// relative to now. The error contains s and describes what is expected.
func Parse(s string, now time.Time) (time.Time, error) {
	s = strings.TrimSpace(s)
	if s == "now" {
		return now, nil
	}
	if id, err := objectid.Parse(s); err == nil {
		return id.Time(), nil
	}
	if digits, isUnix := strings.CutPrefix(s, "@"); isUnix || isDigits(s) {
		return parseUnix(digits, isUnix)
	}
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		d, err := str2duration.ParseDuration(s)
		if err != nil {
			return time.Time{}, fmt.Errorf("time %q: not a distance such as -7d or +1h30m", s)
		}
		return now.Add(d), nil
	}
	for _, layout := range layouts {
		// RFC 3339 allows t and z in lower case; the package time does not.
		if t, err := time.Parse(layout, strings.ToUpper(s)); err == nil {
			return t, nil
		}
	}
	if _, err := str2duration.ParseDuration(s); err == nil {
		return time.Time{}, fmt.Errorf("time %q: a distance needs a sign: -%s is in the past, +%s in the future", s, s, s)
	}
	return time.Time{}, fmt.Errorf("time %q: want RFC 3339, a date, now, a distance such as -7d, Unix seconds or an ObjectId", s)
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// parseUnix reads Unix seconds. Unless they are marked with an @, they must have as
// many digits as those of today: a shorter number may be a year or hours, a longer
// one milliseconds.
func parseUnix(s string, marked bool) (time.Time, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("time %q: not a number of Unix seconds", s)
	}
	if !marked && len(s) == 13 {
		return time.Time{}, fmt.Errorf("time %q: these look like milliseconds; remove the last three digits for Unix seconds", s)
	}
	if !marked && len(s) != 9 && len(s) != 10 {
		return time.Time{}, fmt.Errorf("time %q: want 9 or 10 digits for Unix seconds; for exactly this number, write @%s", s, s)
	}
	const year9999 = 253402300799
	if n > year9999 || n < -year9999 {
		return time.Time{}, fmt.Errorf("time %q: that is beyond the year 9999", s)
	}
	return time.Unix(n, 0).UTC(), nil
}
