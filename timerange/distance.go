package timerange

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// distance is a stretch of time as people type it: months have no fixed length.
type distance struct {
	months int
	rest   time.Duration
}

// before returns the time that is d before t. The day of a shorter month is its last.
func (d distance) before(t time.Time) time.Time {
	if d.months != 0 {
		moved := t.AddDate(0, -d.months, 0)
		if moved.Day() != t.Day() { // 31 March less a month is 3 March
			moved = moved.AddDate(0, 0, -moved.Day())
		}
		t = moved
	}
	return t.Add(-d.rest)
}

func (d distance) negative() distance { return distance{-d.months, -d.rest} }

var (
	// number and unit are parts of a distance.
	numberAndUnit = pattern(`^(\d{1,18}(?:\.\d{1,9})?) ?([a-zµ]+)[ ,]*(?:and )?`)

	units = map[string]time.Duration{
		"ns": time.Nanosecond, "us": time.Microsecond, "µs": time.Microsecond, "ms": time.Millisecond,
		"s": time.Second, "sec": time.Second, "second": time.Second,
		"m": time.Minute, "min": time.Minute, "minute": time.Minute,
		"h": time.Hour, "hr": time.Hour, "hour": time.Hour,
		"d": day, "day": day, "w": 7 * day, "week": 7 * day,
	}
	monthUnits = map[string]int{"mo": 1, "mon": 1, "month": 1, "y": 12, "yr": 12, "year": 12}
)

const (
	day = 24 * time.Hour

	// maxMonths and maxRest keep the times within the years 0 to 9999 for any now of
	// this era.
	maxMonths = 12 * 2000
	maxRest   = 290 * 365 * day
)

var errNoDistance = errors.New("not a distance")

// parseDistance reads 7d, 1h30m, 2 hours, 1 year 6 months: whole numbers of months and
// years, and any numbers of shorter units, each with its unit.
func parseDistance(s string) (distance, error) {
	var d distance
	if s == "" {
		return d, errNoDistance
	}
	for s != "" {
		m := numberAndUnit().FindStringSubmatch(s)
		if m == nil {
			return distance{}, errNoDistance
		}
		s = s[len(m[0]):]
		unit := m[2]
		if len(unit) > 2 {
			unit = strings.TrimSuffix(unit, "s") // of the plural
		}
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return distance{}, errNoDistance
		}
		if months, ok := monthUnits[unit]; ok {
			if n != math.Trunc(n) {
				return distance{}, fmt.Errorf("%s %s: want a whole number of months or years", m[1], m[2])
			}
			n = n*float64(months) + float64(d.months)
			if n > maxMonths {
				return distance{}, errors.New("that is too long")
			}
			d.months = int(n)
			continue
		}
		length, ok := units[unit]
		if !ok {
			return distance{}, errNoDistance
		}
		n = n*float64(length) + float64(d.rest)
		if n > float64(maxRest) {
			return distance{}, errors.New("that is too long")
		}
		d.rest = time.Duration(n)
	}
	return d, nil
}

// one is a distance in words for one unit.
var one = pattern(`^(?:an?|last) (second|minute|hour|day|week|month|year)$`)

// parseWords reads a time in words: now, 2 hours ago, last month.
func parseWords(s string, now time.Time) (t time.Time, ok bool, err error) {
	s = strings.Join(strings.Fields(strings.ToLower(s)), " ")
	if s == "now" {
		return now, true, nil
	}
	ago, isAgo := strings.CutSuffix(s, " ago")
	if m := one().FindStringSubmatch(ago); m != nil && isAgo != strings.HasPrefix(ago, "last ") {
		ago, isAgo = "1"+m[1], true
	}
	if !isAgo {
		return time.Time{}, false, nil
	}
	d, err := parseDistance(ago)
	return d.before(now), true, err
}

// Duration reads a length of time such as 36h, 7d, 2 weeks or 1 year, without a sign.
// The length of months and years is that of the last ones before now.
func Duration(s string, now time.Time) (time.Duration, error) {
	d, err := parseDistance(strings.TrimSpace(s))
	if errors.Is(err, errNoDistance) {
		return 0, fmt.Errorf("duration %q: want one such as 36h, 7d, 2 weeks or 1 year", s)
	}
	if err != nil {
		return 0, fmt.Errorf("duration %q: %w", s, err)
	}
	return now.Sub(d.before(now)), nil
}

// pattern returns a regular expression that is compiled when it is first used: most
// runs of the command use none.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
