package timerange

import (
	"fmt"
	"strings"
	"time"

	"github.com/oidkit/oid/internal/pattern"
)

// layouts without a zone are read in that of now.
var layouts = []string{
	time.RFC3339Nano,
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04:05.999999999",
	"2006-01-02T15:04",
	"2006-01-02T15",
	time.DateOnly,
}

// dayAndTime is a day in words or nothing, and a time of day or nothing.
var dayAndTime = pattern.Of(`^(today|yesterday|tomorrow|last (?:mon|tues|wednes|thurs|fri|satur|sun)day|)(?:(?: | at |t|^)(\d?\d:.*)|t(\d\d))?$`)

// asDate writes the day of s as a date, if s names it in words such as "last tuesday
// 9:00", or if s is a time of day alone, of the given day. Other texts are returned
// as they are. s is in lower case.
func asDate(s string, now, day time.Time) string {
	m := dayAndTime().FindStringSubmatch(s)
	if m == nil || s == "" {
		return s
	}
	// Noon is on the same date whatever the clocks do in the night.
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

// parseLayout reads s by one of the layouts. A time without a zone that the clocks of
// the zone showed twice, or never, is an error; a date is its first moment.
func parseLayout(layout, s string, zone *time.Location) (time.Time, error) {
	wall, err := time.Parse(layout, s)
	if err != nil || strings.HasSuffix(layout, "Z07:00") {
		return wall, err
	}
	// The two offsets differ if the clocks are changed on about this day.
	before, after := offsetAt(wall.Add(-24*time.Hour), zone), offsetAt(wall.Add(24*time.Hour), zone)
	first, second := wall.Add(-before).In(zone), wall.Add(-after).In(zone)
	isFirst, isSecond := offsetAt(first, zone) == before, offsetAt(second, zone) == after
	switch {
	case isFirst && isSecond && !first.Equal(second) && layout != time.DateOnly:
		return time.Time{}, fmt.Errorf("the clocks of %v showed it twice; write %s or %s", zone, first.Format(time.RFC3339), second.Format(time.RFC3339))
	case isFirst || layout == time.DateOnly:
		return first, nil
	case isSecond:
		return second, nil
	}
	return time.Time{}, fmt.Errorf("the clocks of %v skipped it; %s is the moment after it", zone, first.Format(time.RFC3339))
}

// offsetAt returns how far the clocks of a zone are ahead of UTC at t.
func offsetAt(t time.Time, zone *time.Location) time.Duration {
	_, seconds := t.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}
