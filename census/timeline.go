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
	// IntervalAuto chooses the shortest interval that gives at most 640 buckets.
	IntervalAuto   Interval = "auto"
	IntervalMinute Interval = "minute"
	IntervalHour   Interval = "hour"
	IntervalDay    Interval = "day"
	IntervalWeek   Interval = "week" // begins on Monday
	IntervalMonth  Interval = "month"
	IntervalYear   Interval = "year"
)

// Intervals returns all intervals: [IntervalAuto], then the others from short to long.
func Intervals() []Interval {
	return []Interval{IntervalAuto, IntervalMinute, IntervalHour, IntervalDay, IntervalWeek, IntervalMonth, IntervalYear}
}

const (
	readable   = 640     // the most buckets with IntervalAuto
	maxBuckets = 1 << 20 // the most buckets of a timeline
)

// ErrTooFine is wrapped by the error of [Census.Report] if the timeline would have more
// than 1,048,576 buckets.
var ErrTooFine = errors.New("census: the timeline would have more than 1048576 buckets")

// axis is the buckets of a timeline. Bucket i begins at the Unix second starts[i] and ends
// before starts[i+1].
type axis struct {
	interval Interval
	starts   []int64 // and the end of the last bucket
}

// newAxis returns the buckets for the Unix seconds from first to last.
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
	return nil, fmt.Errorf("%w: choose an interval longer than one %v", ErrTooFine, interval)
}

// fill sets the buckets. It reports false if there are more than limit.
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

// floor returns the start of the bucket that contains t. It reads the minute from t because
// the offset of a zone may be a fraction of an hour.
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

// intoNext is a duration that leads from the start of a bucket into the next bucket, even if
// summer time begins or ends in between.
var intoNext = map[Interval]time.Duration{
	IntervalMinute: time.Minute, IntervalHour: time.Hour, IntervalDay: 36 * time.Hour, IntervalWeek: 180 * time.Hour, IntervalMonth: 32 * 24 * time.Hour, IntervalYear: 367 * 24 * time.Hour,
}

func (a *axis) buckets() int { return len(a.starts) - 1 }

// bucket returns the index of the bucket that contains second, or -1. The result is valid
// for all later seconds before until.
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

// countDistinct adds the number of different ids in each bucket to counts. The records of e
// must be sorted.
func (a *axis) countDistinct(counts []int64, e idset.Extent) {
	bucket, until := -1, int64(-1)
	for r := range e.Distinct() {
		if lacksTime(r) {
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
