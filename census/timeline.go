package census

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"
)

// Step is the length of a timeline's buckets.
type Step string

const (
	// AnyStep chooses the shortest that gives a timeline of readable length.
	AnyStep Step = "auto"
	Minute  Step = "minute"
	Hour    Step = "hour"
	Day     Step = "day"
	Week    Step = "week" // begins on Monday
	Month   Step = "month"
	Year    Step = "year"
)

// Steps are all steps, the shortest first.
var Steps = []Step{AnyStep, Minute, Hour, Day, Week, Month, Year}

const (
	readable   = 640     // the most buckets with AnyStep, unless they are years
	maxBuckets = 1 << 20 // the most buckets of a timeline
)

// ErrTooFine is returned for a timeline with more than a million buckets.
var ErrTooFine = errors.New("census: the timeline has more than 1048576 buckets: take longer ones")

// axis is a row of buckets. Bucket i is from starts[i] to starts[i+1], not
// included.
type axis struct {
	step   Step
	starts []int64 // one more than buckets
}

// newAxis returns the axis from the second first to the second last.
func newAxis(step Step, first, last uint32, tz *time.Location) (*axis, error) {
	if !slices.Contains(Steps, step) {
		return nil, fmt.Errorf("census: unknown step: %q", step)
	}
	if step != AnyStep {
		a := &axis{step: step}
		if !a.fill(first, last, tz, maxBuckets) {
			return nil, fmt.Errorf("%w than a %v", ErrTooFine, step)
		}
		return a, nil
	}
	for _, step := range Steps[1 : len(Steps)-1] {
		a := &axis{step: step}
		if a.fill(first, last, tz, readable) {
			return a, nil
		}
	}
	a := &axis{step: Year}
	a.fill(first, last, tz, maxBuckets)
	return a, nil
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
		t = a.next(t)
	}
}

// floor returns the start of the bucket that contains t.
func (a *axis) floor(t time.Time) time.Time {
	y, m, d := t.Date()
	switch a.step {
	case Minute, Hour:
		// Zones differ from UTC by whole minutes, but not by whole hours.
		length := int64(time.Minute / time.Second)
		if a.step == Hour {
			length = int64(time.Hour / time.Second)
		}
		_, offset := t.Zone()
		local := t.Unix() + int64(offset)
		return t.Add(-time.Duration(((local%length)+length)%length) * time.Second)
	case Week:
		d -= (int(t.Weekday()) + 6) % 7
	case Month:
		d = 1
	case Year:
		m, d = time.January, 1
	}
	return time.Date(y, m, d, 0, 0, 0, 0, t.Location())
}

// next returns the start of the bucket after the one that starts at t.
func (a *axis) next(t time.Time) time.Time {
	y, m, d := t.Date()
	switch a.step {
	case Minute:
		return t.Add(time.Minute)
	case Hour:
		return a.floor(t.Add(time.Hour))
	case Day:
		d++
	case Week:
		d += 7
	case Month:
		m++
	case Year:
		y++
	}
	return time.Date(y, m, d, 0, 0, 0, 0, t.Location())
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
func (a *axis) countDistinct(counts []int64, e extent) {
	bucket, until := -1, int64(-1)
	for r := range distinct(e.spans()) {
		if r.isBound() {
			continue
		}
		if s := r.second(); int64(s) >= until {
			bucket, until = a.bucket(s)
		}
		if bucket >= 0 {
			counts[bucket]++
		}
	}
}
