package census

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/oidkit/oid/census/internal/idset"
)

// Interval is the length of a timeline's buckets.
type Interval string

const (
	// IntervalAuto chooses the shortest that gives a timeline of readable length.
	IntervalAuto   Interval = "auto"
	IntervalMinute Interval = "minute"
	IntervalHour   Interval = "hour"
	IntervalDay    Interval = "day"
	IntervalWeek   Interval = "week" // begins on Monday
	IntervalMonth  Interval = "month"
	IntervalYear   Interval = "year"
)

// Intervals returns all intervals, the shortest first.
func Intervals() []Interval {
	return []Interval{IntervalAuto, IntervalMinute, IntervalHour, IntervalDay, IntervalWeek, IntervalMonth, IntervalYear}
}

const (
	readable   = 640     // the most buckets with IntervalAuto
	maxBuckets = 1 << 20 // the most buckets of a timeline
)

// ErrTooFine is returned for a timeline with more than a million buckets.
var ErrTooFine = errors.New("census: the timeline has more than 1048576 buckets: take longer ones")

// axis is a row of buckets. Bucket i is from starts[i] to starts[i+1], not
// included.
type axis struct {
	interval Interval
	starts   []int64 // one more than buckets
}

// newAxis returns the axis from the second first to the second last.
func newAxis(interval Interval, first, last uint32, tz *time.Location) (*axis, error) {
	if !slices.Contains(Intervals(), interval) {
		return nil, fmt.Errorf("census: unknown interval: %q", interval)
	}
	intervals, limit := []Interval{interval}, maxBuckets
	if interval == IntervalAuto {
		intervals, limit = Intervals()[1:], readable // always in years: 2^32 seconds are 137
	}
	a := new(axis)
	for _, a.interval = range intervals {
		if a.fill(first, last, tz, limit) {
			return a, nil
		}
	}
	return nil, fmt.Errorf("%w than a %v", ErrTooFine, interval)
}

// fill sets the buckets, and reports whether there are no more than limit.
func (a *axis) fill(first, last uint32, tz *time.Location, limit int) bool {
	a.starts = a.starts[:0]
	t := a.floor(time.Unix(int64(first), 0).In(tz))
	for {
		a.starts = append(a.starts, t.Unix())
		if t.Unix() > int64(last) {
			return true
		}
		if len(a.starts) > limit {
			return false
		}
		t = a.floor(t.Add(intoNext[a.interval]))
	}
}

// floor returns the start of the bucket that contains t. Zones differ from UTC by whole
// minutes, but not by whole hours.
func (a *axis) floor(t time.Time) time.Time {
	y, m, d := t.Date()
	switch a.interval {
	case IntervalMinute:
		return t.Add(-time.Duration(t.Second()) * time.Second)
	case IntervalHour:
		return t.Add(-time.Duration(t.Minute()*60+t.Second()) * time.Second)
	case IntervalWeek:
		d -= (int(t.Weekday()) + 6) % 7
	case IntervalMonth:
		d = 1
	case IntervalYear:
		m, d = time.January, 1
	}
	return time.Date(y, m, d, 0, 0, 0, 0, t.Location())
}

// intoNext is how long after the start of a bucket is within the next one, even if a clock
// is set for summer time in between.
var intoNext = map[Interval]time.Duration{
	IntervalMinute: time.Minute, IntervalHour: time.Hour, IntervalDay: 36 * time.Hour, IntervalWeek: 180 * time.Hour, IntervalMonth: 32 * 24 * time.Hour, IntervalYear: 367 * 24 * time.Hour,
}

func (a *axis) buckets() int { return len(a.starts) - 1 }

// bucket returns the bucket that contains second, or -1 if none does, and the second
// from which the result is another.
func (a *axis) bucket(second uint32) (i int, until int64) {
	s := int64(second)
	n := sort.Search(len(a.starts), func(i int) bool { return a.starts[i] > s })
	switch n {
	case 0:
		return -1, a.starts[0]
	case len(a.starts):
		return -1, math.MaxInt64
	}
	return n - 1, a.starts[n]
}

// countDistinct adds the different ids in e, which are sorted, to counts.
func (a *axis) countDistinct(counts []int64, e idset.Extent) {
	bucket, until := -1, int64(-1)
	for r := range e.Distinct() {
		if r.IsBound() {
			continue
		}
		if s := r.Second(); int64(s) >= until {
			bucket, until = a.bucket(s)
		}
		if bucket >= 0 {
			counts[bucket]++
		}
	}
}
