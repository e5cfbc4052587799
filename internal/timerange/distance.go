package timerange

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/internal/pattern"
)

// distance is a stretch of time as people type it: months have no fixed length.
type distance struct {
	months int
	rest   time.Duration
}

// before returns the time that is d before t. If the month has no such day, it is the last day
// of the month.
func (d distance) before(t time.Time) time.Time {
	if d.months != 0 {
		// AddDate turns 31 March less a month into 3 March, because February is shorter. The
		// calculation is in UTC, in which no midnight is skipped, so nothing else moves a day.
		beyond := 0
		if moved := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).AddDate(0, -d.months, 0); moved.Day() != t.Day() {
			beyond = moved.Day()
		}
		t = t.AddDate(0, -d.months, -beyond)
	}
	return t.Add(-d.rest)
}

// units are the units of a distance with their names in singular. The first name is the
// shortest, and the last one is the word as in "last week".
var units = []struct {
	names  []string
	length distance
}{
	{[]string{"y", "yr", "year"}, distance{months: 12}},
	{[]string{"mo", "mon", "month"}, distance{months: 1}},
	{[]string{"w", "week"}, distance{rest: 7 * day}},
	{[]string{"d", "day"}, distance{rest: day}},
	{[]string{"h", "hr", "hour"}, distance{rest: time.Hour}},
	{[]string{"m", "min", "minute"}, distance{rest: time.Minute}},
	{[]string{"s", "sec", "second"}, distance{rest: time.Second}},
	{[]string{"ms"}, distance{rest: time.Millisecond}},
}

// unit returns the length of the unit with the given name, in singular or plural. It returns 0
// if there is no such unit.
func unit(name string) distance {
	if len(name) > 2 {
		name = strings.TrimSuffix(name, "s")
	}
	for _, u := range units {
		if slices.Contains(u.names, name) {
			return u.length
		}
	}
	return distance{}
}

const (
	day = 24 * time.Hour

	// maxMonths and maxRest keep results within the years 0 to 9999 for any now of this
	// century.
	maxMonths = 12 * 2000
	maxRest   = 290 * 365 * day
)

var errNoDistance = errors.New("not a distance")

// parseDistance reads a distance such as 7d, 1h30m, 2 hours or 1 year 6 months. The numbers of
// months and years must be whole. If s is something else, the error is errNoDistance.
func parseDistance(s string) (distance, error) {
	var d distance
	if s == "" {
		return d, errNoDistance
	}
	for s != "" {
		m := numberAndUnit.Get().FindStringSubmatch(s)
		if m == nil {
			return distance{}, errNoDistance
		}
		s = s[len(m[0]):]
		length := unit(m[2])
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil || length == (distance{}) {
			return distance{}, errNoDistance
		}
		if length.months > 0 && n != math.Trunc(n) {
			return distance{}, fmt.Errorf("%s %s: want a whole number of months or years", m[1], m[2])
		}
		months, rest := float64(d.months)+n*float64(length.months), float64(d.rest)+n*float64(length.rest)
		if months > maxMonths || rest > float64(maxRest) {
			return distance{}, errors.New("too long")
		}
		d = distance{int(months), time.Duration(rest)}
	}
	return d, nil
}

var (
	numberAndUnit = pattern.Of(`^(\d{1,18}(?:\.\d{1,9})?) ?([a-z]+)[ ,]*(?:and )?`)

	// oneUnit matches a distance of one unit without a number, such as "an hour ago".
	oneUnit = pattern.Of(`^(?:an? (\w+) ago|last (year|month|week|day|hour|minute|second|ms))$`)
)

// Duration reads a length of time without a sign, such as 36h, 7d, 2 weeks or 1 year. A month
// or year is as long as the last one before now. The error contains s.
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
