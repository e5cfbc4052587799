package timerange

import (
	"fmt"
	"strings"
	"time"

	"github.com/oidkit/oid/internal/pattern"
)

// dayAndTime matches a day in words, a time of day, or both.
var dayAndTime = pattern.Of(`^(today|yesterday|tomorrow|last (?:mon|tues|wednes|thurs|fri|satur|sun)day|)(?:(?: | at |t|^)(\d?\d:.*)|t(\d\d))?$`)

// asDate replaces a day in words, as in "last tuesday 9:00", by its date. If s is only a time
// of day, asDate puts the date of day before it. It returns other texts unchanged. s is in
// lower case.
func asDate(s string, now, day time.Time) string {
	m := dayAndTime.Get().FindStringSubmatch(s)
	if m == nil || s == "" {
		return s
	}
	// Noon is on the right date even if the clocks change in the night.
	noon := time.Date(now.Year(), now.Month(), now.Day(), 12, 0, 0, 0, now.Location())
	switch word, weekday, _ := strings.Cut(m[1], " "); word {
	case "":
		noon = day.In(now.Location())
	case "yesterday":
		noon = noon.AddDate(0, 0, -1)
	case "tomorrow":
		noon = noon.AddDate(0, 0, 1)
	case "last":
		for noon = noon.AddDate(0, 0, -1); strings.ToLower(noon.Weekday().String()) != weekday; {
			noon = noon.AddDate(0, 0, -1)
		}
	}
	date := noon.Format(time.DateOnly)
	if clock := m[2] + m[3]; clock != "" {
		return date + "t" + clock
	}
	return date
}

// inZone returns the moment at which the clocks of zone showed what wall says in UTC. A date
// means its first moment. If the clocks showed this time twice or never, that is an error.
func inZone(wall time.Time, zone *time.Location, isDate bool) (time.Time, error) {
	// The two offsets differ if the clocks change on about this day.
	before, after := offsetAt(wall.Add(-24*time.Hour), zone), offsetAt(wall.Add(24*time.Hour), zone)
	first, second := wall.Add(-before).In(zone), wall.Add(-after).In(zone)
	isFirst, isSecond := offsetAt(first, zone) == before, offsetAt(second, zone) == after
	switch {
	case isFirst && isSecond && !first.Equal(second) && !isDate:
		return time.Time{}, fmt.Errorf("the clocks of %v showed it twice; write %s or %s", zone, first.Format(time.RFC3339), second.Format(time.RFC3339))
	case isFirst || isDate:
		return first, nil
	case isSecond:
		return second, nil
	}
	return time.Time{}, fmt.Errorf("the clocks of %v skipped it; %s is the moment after it", zone, first.Format(time.RFC3339))
}

// offsetAt returns the offset of a zone from UTC at t.
func offsetAt(t time.Time, zone *time.Location) time.Duration {
	_, seconds := t.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}
