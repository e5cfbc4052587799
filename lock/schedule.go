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

// EverySchedule returns the schedule whose ticks are the multiples of period, counted from
// midnight UTC at the beginning of the year 1. So ticks of a period that divides a day
// include every midnight UTC. [Once] refuses a period
// below a millisecond or above 366 days.
func EverySchedule(period time.Duration) Schedule {
	return Schedule{text: period.String(), next: func(t time.Time) time.Time { return t.UTC().Truncate(period).Add(period) }}
}

// KeySchedule returns the schedule of a single tick that the caller names, such as a date or
// the number of an invoice: [Once] runs it once at any time. A key has 1 to [MaxName]
// bytes of printable UTF-8 text. The record of a name keeps its last 16 keys, for 400 days
// after the last: an earlier key would run again.
func KeySchedule(key string) Schedule { return Schedule{text: keyPrefix + key, key: key} }

// keyPrefix begins the text of a schedule that is a key.
const keyPrefix = "key="

// cronParser reads the five fields of crontab(5). It looks for a tick as far ahead as
// the next leap day may be.
var cronParser = cron.MustNewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor).WithMaxSearchYears(9)

// ParseSchedule returns the schedule of a text:
//
//	10m                                 see [EverySchedule]; a duration as [time.ParseDuration] reads it
//	key=2026-11-24                      see [KeySchedule]
//	*/10 * * * *                        the five fields of crontab(5), in UTC
//	CRON_TZ=Europe/Berlin 30 2 * * *    in a time zone; also TZ=
//	@daily                              or @hourly, @weekly, @monthly, @yearly
//
// Where clocks are set forward or back, the ticks are those of cron(8): a job with
// fixed hours and minutes is due once on such a day, at most an hour late if its time
// is left out. One whose field of hours or minutes begins with * is due whenever the
// local time matches. The error wraps [ErrInvalid].
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
		return nil, fmt.Errorf("write the duration alone")
	case spec.Next(time.Now()).IsZero():
		return nil, fmt.Errorf("it is never due")
	}
	words := strings.Fields(fields)
	star := func(field int) bool { return field < len(words) && words[field][0] == '*' }
	// A job that restricts both is due on both kinds of days.
	spec.DowOrDom = len(words) == 5 && !star(2) && !star(4)
	if star(0) || star(1) || words[0] == "@hourly" {
		spec.Location = zone
		return func(t time.Time) time.Time { return spec.Next(t.In(zone)).UTC() }, nil
	}
	// The parser may skip or repeat days whose clocks change. So it counts in local
	// times, which have no such days, and each of them is one tick.
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

// inZone returns when it is a local time in a zone: the first time if it comes twice, and
// by the offset before the change if it is left out.
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

// maxShift is by how much a clock may be set where daylight saving time begins or ends.
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

// String returns the text from which [ParseSchedule] makes the same schedule.
func (s Schedule) String() string { return s.text }

// Next returns the first tick after t, in UTC, or the zero Time for a key.
func (s Schedule) Next(t time.Time) time.Time {
	if s.next == nil {
		return time.Time{}
	}
	return s.next(t)
}

// before returns the last tick that is not after t.
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
	// minLife is the shortest time for which a record is kept, for schedules with
	// pauses, such as every minute of an hour of a month.
	minLife = 35 * 24 * time.Hour
	// keyLife is how long the record of keys is kept, for one that is a year.
	keyLife = 400 * 24 * time.Hour
)

// life returns how long a record is kept that is written now: for twice as many ticks as
// it has.
func (s Schedule) life(now time.Time) time.Duration {
	if s.next == nil {
		return keyLife
	}
	return max(s.after(now, 2*maxRuns).Sub(now), minLife)
}

const (
	// maxWrong is by how much a clock may be wrong. None is by more for long, and a job of
	// every night that is called by hand in the evening must not take the place of the run
	// at night.
	maxWrong = time.Hour

	// doubtShare is the part of the time between two ticks, before and after the border
	// between them, in which nobody can say which of the two a call is for: one host
	// would take it for the one, and another for the other. It leaves five twelfths of
	// the time on both sides of a tick to clocks that differ.
	doubtShare = 12
	// maxDoubt limits that part: clocks do not differ by more without a reason.
	maxDoubt = 5 * time.Minute
)

// at returns the tick for which a call at a time is: the nearest, but none that comes more
// than maxWrong and maxDoubt later. The error wraps [ErrBetween] near the border.
func (s Schedule) at(now time.Time) (Tick, error) {
	if s.next == nil {
		return Tick{Key: s.key}, nil
	}
	before := s.before(now)
	after := s.next(now)
	apart := after.Sub(before)
	border := after.Add(-min(apart/2, maxWrong+maxDoubt))
	if doubt := min(apart/doubtShare, maxDoubt); now.Sub(border).Abs() < doubt {
		return Tick{}, fmt.Errorf("%w: %s is too far from %s and from %s, the ticks of %q, to belong to one of them for certain; choose a schedule whose ticks are the times of the call, such as the expression of the crontab",
			ErrBetween, now.UTC().Format(time.RFC3339Nano), before.Format(time.RFC3339Nano), after.Format(time.RFC3339Nano), s.text)
	}
	if now.Before(border) {
		return Tick{Time: before}, nil
	}
	return Tick{Time: after}, nil
}
