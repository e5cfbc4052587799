package lock

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/netresearch/go-cron"
)

// Schedule says when a job that several hosts share is due, for [Once]. Make it with
// [EverySchedule], [KeySchedule] or [ParseSchedule]; the zero Schedule is invalid.
type Schedule struct {
	text string
	key  string
	next func(time.Time) time.Time // the first tick after a time; nil for a key
}

// EverySchedule returns the schedule with a tick after every period, counted from the year 1
// in UTC. So a period that divides a day has a tick at every midnight UTC. [Once] refuses
// periods below a millisecond or above 366 days.
func EverySchedule(period time.Duration) Schedule {
	return Schedule{text: period.String(), next: func(t time.Time) time.Time { return t.UTC().Truncate(period).Add(period) }}
}

// KeySchedule returns the schedule of a single tick that is named by key, such as a date or
// the number of an invoice: [Once] runs it once, whenever it is called. key is 1 to [MaxName]
// bytes of printable UTF-8 text. The backend remembers the last 16 keys of each lock, until
// 400 days after the latest run. A key that it has forgotten runs again.
func KeySchedule(key string) Schedule { return Schedule{text: keyPrefix + key, key: key} }

// keyPrefix begins the text of a KeySchedule.
const keyPrefix = "key="

// cronParser parses the five fields of crontab(5). It searches nine years for the next tick,
// because two leap days can be eight years apart.
var cronParser = cron.MustNewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor).WithMaxSearchYears(9)

// ParseSchedule parses a schedule. The error wraps [ErrInvalid]. The forms are:
//
//	10m                                 [EverySchedule], with a duration of [time.ParseDuration]
//	key=2026-11-24                      [KeySchedule]
//	*/10 * * * *                        the five fields of crontab(5), in UTC
//	CRON_TZ=Europe/Berlin 30 2 * * *    the five fields in a time zone; TZ= also works
//	@daily                              or @hourly, @weekly, @monthly, @yearly
//
// On days when the local clock changes, ticks are due as in cron(8). A job with fixed hours and
// minutes is due once; if the clock skips that time, the job is at most an hour late. If the
// field of hours or minutes begins with *, the job is due whenever the local time matches.
func ParseSchedule(text string) (Schedule, error) {
	s := Schedule{text: text}
	if key, found := strings.CutPrefix(text, keyPrefix); found {
		s = KeySchedule(key)
	} else if period, err := time.ParseDuration(text); err == nil {
		s = EverySchedule(period)
	} else if s.next, err = parseCron(text); err != nil {
		return Schedule{}, fmt.Errorf("%w schedule %.200q: %w; want a duration such as 10m, the five fields of a crontab, a word such as @daily, or key=TEXT", ErrInvalid, text, err)
	}
	return s, s.check()
}

// parseCron returns the function that finds the next tick of a cron expression.
func parseCron(text string) (func(time.Time) time.Time, error) {
	zone, fields := time.UTC, text
	for _, prefix := range []string{"CRON_TZ=", "TZ="} {
		if rest, found := strings.CutPrefix(text, prefix); found {
			name, rest, _ := strings.Cut(rest, " ")
			l, err := time.LoadLocation(name)
			if err != nil || name == "" {
				return nil, fmt.Errorf("no such time zone: %.100q", name)
			}
			zone, fields = l, strings.TrimSpace(rest)
		}
	}
	parsed, err := cronParser.Parse("TZ=UTC " + fields)
	if err != nil {
		return nil, err
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	switch {
	case !ok:
		return nil, fmt.Errorf("write the duration without @every")
	case spec.Next(time.Now()).IsZero():
		return nil, fmt.Errorf("it is never due")
	}
	words := strings.Fields(fields)
	star := func(field int) bool { return field < len(words) && words[field][0] == '*' }
	// A schedule with a day of the month and a day of the week is due on both.
	spec.DowOrDom = len(words) == 5 && !star(2) && !star(4)
	if star(0) || star(1) || words[0] == "@hourly" {
		spec.Location = zone
		return func(t time.Time) time.Time { return spec.Next(t.In(zone)).UTC() }, nil
	}
	// On days when the clock changes, the parser may skip or repeat ticks. So it is given
	// local times as if they were UTC, in which no clock changes. Each result is one tick.
	return func(t time.Time) time.Time {
		local := t.In(zone)
		_, offset := local.Zone()
		for tick := local.Add(time.Duration(offset)*time.Second - 2*maxShift).UTC(); ; {
			tick = spec.Next(tick)
			if at := inZone(tick, zone); at.After(t) {
				return at
			}
		}
	}, nil
}

// inZone returns the time at which clocks in a zone show a local time: the first such time if
// they show it twice. If they skip it, the offset before the change counts.
func inZone(local time.Time, zone *time.Location) time.Time {
	at := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), 0, 0, zone)
	_, offset := at.Add(-maxShift).Zone()
	first := local.Add(-time.Duration(offset) * time.Second)
	right := func(t time.Time) bool {
		return t.In(zone).Hour() == local.Hour() && t.In(zone).Minute() == local.Minute()
	}
	if right(first) || !right(at) {
		return first
	}
	return at.UTC()
}

// maxShift is the largest change of a local clock, for example for daylight saving time.
const maxShift = 3 * time.Hour

const (
	minPeriod = time.Millisecond // the unit in which Redis counts
	maxPeriod = 366 * 24 * time.Hour
)

// check returns an error that wraps [ErrInvalid] unless s can be used.
func (s Schedule) check() error {
	bad := func(r rune) bool { return !unicode.IsPrint(r) }
	switch {
	case s.text == "":
		return fmt.Errorf("%w schedule: it is empty", ErrInvalid)
	case s.next == nil && (s.key == "" || len(s.key) > MaxName || !utf8.ValidString(s.key) || strings.IndexFunc(s.key, bad) >= 0):
		return fmt.Errorf("%w key %.200q: want 1 to %d bytes of printable text", ErrInvalid, s.key, MaxName)
	case s.next == nil:
		return nil
	}
	if period, err := time.ParseDuration(s.text); err == nil && (period < minPeriod || period > maxPeriod) {
		return fmt.Errorf("%w period %v: want %v to %v", ErrInvalid, period, minPeriod, maxPeriod)
	}
	return nil
}

// String returns the text that [ParseSchedule] parses to the same schedule.
func (s Schedule) String() string { return s.text }

// Next returns the first tick after t, in UTC, or the zero Time for a key.
func (s Schedule) Next(t time.Time) time.Time {
	if s.next == nil {
		return time.Time{}
	}
	return s.next(t)
}

// before returns the last tick at or before t.
func (s Schedule) before(t time.Time) time.Time {
	for back := minPeriod; ; back *= 2 {
		tick := s.next(t.Add(-back))
		if tick.After(t) {
			continue
		}
		for {
			next := s.next(tick)
			if next.After(t) {
				return tick
			}
			tick = next
		}
	}
}

// after returns the n-th tick after t.
func (s Schedule) after(t time.Time, n int) time.Time {
	for range n {
		t = s.next(t)
	}
	return t
}

const (
	// minLife is the shortest time for which a record is kept. It is longer than a month,
	// for schedules that are due often on one day of the month.
	minLife = 35 * 24 * time.Hour
	// keyLife is how long the record of keys is kept: longer than a year, for keys that are years.
	keyLife = 400 * 24 * time.Hour
)

// life returns how long to keep a record that is written now: twice the time of the ticks
// that it can hold.
func (s Schedule) life(now time.Time) time.Duration {
	if s.next == nil {
		return keyLife
	}
	return max(s.after(now, 2*maxRuns).Sub(now), minLife)
}

const (
	// maxWrong is by how much the clock of a caller may be slow. It is not longer because a
	// nightly job that somebody calls by hand in the evening must not count as the night's run.
	maxWrong = time.Hour

	// Between two ticks is a border, and near the border a call fails with ErrBetween: the
	// callers of one tick whose clocks differ would otherwise run different ticks. "Near" is a
	// twelfth of the time between the two ticks, before and after the border. So on each
	// side of a tick, clocks may differ by five twelfths of that time.
	doubtShare = 12
	// maxDoubt is the upper limit of that twelfth.
	maxDoubt = 5 * time.Minute
)

// at returns the tick that a call at a time is for: the nearest tick, but none that is more
// than maxWrong and maxDoubt ahead. Near the border between two ticks the error wraps
// [ErrBetween].
func (s Schedule) at(now time.Time) (Tick, error) {
	if s.next == nil {
		return Tick{Key: s.key}, nil
	}
	before := s.before(now)
	after := s.next(now)
	apart := after.Sub(before)
	border := after.Add(-min(apart/2, maxWrong+maxDoubt))
	if doubt := min(apart/doubtShare, maxDoubt); now.Sub(border).Abs() < doubt {
		return Tick{}, fmt.Errorf("%w: %s could be for the tick %s or for %s of the schedule %q; use the schedule by which the job is called, such as the expression of the crontab",
			ErrBetween, now.UTC().Format(time.RFC3339Nano), before.Format(time.RFC3339Nano), after.Format(time.RFC3339Nano), s.text)
	}
	if now.Before(border) {
		return Tick{Time: before}, nil
	}
	return Tick{Time: after}, nil
}
