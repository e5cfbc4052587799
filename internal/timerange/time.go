package timerange

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oidkit/oid/objectid"
)

// Help returns a text for users about the times that [Parse] reads. zone names the zone of
// times that are written without a zone, such as "UTC".
func Help(zone string) string {
	return `A TIME is one of these: RFC 3339 (2026-11-20T14:00:00+01:00), a date (2026-11-20), a date
and a time (2026-11-20T14:00), a day in words (now, today, yesterday 9:00, last tuesday),
a distance from now (-7d, -36h, 2 hours ago, last month), Unix seconds (1795183200 or
@1795183200), or an ObjectId, which means its creation time. Times without a zone are in
` + zone + `.

Times that programs print are read as well, such as ISODate('2026-11-20T14:00:00Z'), {"$date":
...}, 2026-11-20 14:00:00.5+01, Fri Nov 20 14:00:00 UTC 2026 and 20/Nov/2026:14:00:00 +0100.
Ambiguous times are refused: 01/02/2026, years of two digits, and names of zones other than
UTC and GMT.

The units of a distance are y mo w d h m s ms and their names. A month ago is the same
day and time in the month before. At the end of a range, +2h counts from the beginning of
the range, and 10:00 is on the day of the beginning.`
}

// Parse reads a time in any of the forms that [Help] describes. Distances count from now.
// Times without a zone are in the zone of now. The error contains s and describes what is
// expected.
func Parse(s string, now time.Time) (time.Time, error) { return parseAfter(s, now, now) }

// parseAfter is [Parse] for the end of a span that begins at start: a distance with + counts
// from start, and a time of day is on the day of start.
func parseAfter(s string, now, start time.Time) (time.Time, error) {
	s = strings.TrimSpace(s)
	words, unit := unwrap(strings.Join(strings.Fields(strings.ToLower(s)), " "))
	if words == "now" {
		return now, nil
	}
	if unit != 0 {
		return since1970(words, unit)
	}
	if id, err := objectid.Parse(words); err == nil {
		return id.Time(), nil
	}
	if digits, isUnix := strings.CutPrefix(words, "@"); isUnix || isDigits(words) {
		return parseUnix(digits, isUnix)
	}
	words = oneUnit.Get().ReplaceAllString(words, "1 $1$2 ago")
	unsigned, isAgo := strings.CutSuffix(words, " ago")
	if !isAgo {
		unsigned = strings.TrimLeft(words, "+-")
	}
	if isAgo || len(words)-len(unsigned) == 1 {
		d, err := parseDistance(strings.TrimLeft(unsigned, " "))
		switch {
		case errors.Is(err, errNoDistance):
			return time.Time{}, fmt.Errorf("time %q: not a distance such as -7d, +1h30m or 2 hours ago", s)
		case err != nil:
			return time.Time{}, fmt.Errorf("time %q: %w", s, err)
		case !isAgo && words[0] == '+':
			return distance{-d.months, -d.rest}.before(start), nil
		}
		return d.before(now), nil
	}
	if t, err := parseMoment(asDate(words, now, start), now.Location()); err == nil {
		return t, nil
	} else if !errors.Is(err, errNoMoment) {
		return t, fmt.Errorf("time %q: %w", s, err)
	}
	if d, err := parseDistance(words); err == nil && d == (distance{}) {
		return time.Time{}, fmt.Errorf("time %q: a distance of 0; for this moment write now", s)
	} else if err == nil {
		return time.Time{}, fmt.Errorf("time %q: a distance needs a sign: -%s is in the past, +%s in the future", s, s, s)
	}
	return time.Time{}, fmt.Errorf("time %q: want RFC 3339, a date, now, yesterday, last tuesday 9:00, a distance such as -7d or 2 hours ago, Unix seconds, an ObjectId, or a time as MongoDB prints it", s)
}

// year9999 is the last second of the year 9999, in Unix seconds.
const year9999 = 253402300799

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// parseUnix reads Unix seconds. Unless they are marked with an @, they must have 9 or 10
// digits, as times from 1973 to 2286 have: a shorter number may mean a year or hours, and a
// longer number milliseconds.
func parseUnix(s string, marked bool) (time.Time, error) {
	switch {
	case !isDigits(strings.TrimPrefix(s, "-")):
		return time.Time{}, fmt.Errorf("time %q: not a number of Unix seconds", s)
	case !marked && len(s) == 13:
		return time.Time{}, fmt.Errorf("time %q: these look like milliseconds; remove the last three digits for Unix seconds", s)
	case !marked && len(s) != 9 && len(s) != 10:
		return time.Time{}, fmt.Errorf("time %q: want 9 or 10 digits for Unix seconds; for exactly this number, write @%s", s, s)
	}
	return since1970(s, time.Second)
}
