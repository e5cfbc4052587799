package census

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// history counts the different ids of a collection by minute, and its gaps by hour. Seventeen
// years have 9 million minutes, so the goroutines of an analysis share them.
type history struct {
	from    uint32  // first second, at the start of an hour
	minutes []int32 // different ids in each minute
	gaps    []int64 // gaps in each hour

	latest  int   // the minute of the latest ids, see flush
	pending int32 // how many of them are not in minutes yet
}

// newHistory returns an empty history for a range of seconds.
func newHistory(r secondRange) *history {
	if r.empty() {
		return &history{}
	}
	from := r.first - r.first%secondsPerHour
	hours := int((r.last-from)/secondsPerHour) + 1
	return &history{from: from, minutes: make([]int32, hours*60), gaps: make([]int64, hours)}
}

const secondsPerHour = 60 * 60

// fork returns a history for another goroutine, which shares the minutes and the gaps of h.
func (h *history) fork() *history { return &history{from: h.from, minutes: h.minutes, gaps: h.gaps} }

// holds reports whether the second is within the history.
func (h *history) holds(second uint32) bool {
	return second >= h.from && int(second-h.from)/60 < len(h.minutes)
}

func (h *history) hours() int { return len(h.gaps) }

// add adds n different ids created in a second.
func (h *history) add(second uint32, n int64) {
	if !h.holds(second) {
		return
	}
	if i := int(second-h.from) / 60; i != h.latest {
		h.flush()
		h.latest = i
	}
	h.pending += int32(n)
}

// flush adds the pending ids to minutes. Ids come in order of time, so that one atomic addition
// often serves many seconds.
func (h *history) flush() {
	if h.pending > 0 {
		atomic.AddInt32(&h.minutes[h.latest], h.pending)
		h.pending = 0
	}
}

// addGaps spreads n gaps evenly over the hours from one second to another.
func (h *history) addGaps(from, to uint32, n int64) {
	if n <= 0 || !h.holds(from) || !h.holds(to) {
		return
	}
	a, b := int64(from-h.from)/secondsPerHour, int64(to-h.from)/secondsPerHour
	for i := a; i <= b; i++ {
		share := n / (b - i + 1)
		atomic.AddInt64(&h.gaps[i], share)
		n -= share
	}
}

// hour returns the number of ids in hour i.
func (h *history) hour(i int) int64 { return sumCounts(h.minutes[i*60 : i*60+60]) }

func sumCounts(counts []int32) (n int64) {
	for _, k := range counts {
		n += int64(k)
	}
	return n
}

// usual returns the usual number of ids in an hour: the median of the same hour on
// usualPeriods days before and after. isKnown is false if the history has too few of these
// days.
func (h *history) usual(hour int) (ids int64, isKnown bool) {
	var around []int64
	for k := -usualPeriods; k <= usualPeriods; k++ {
		if at := hour + k*24; k != 0 && at >= 0 && at < h.hours() {
			around = append(around, h.hour(at))
		}
	}
	return median(around), len(around) >= minPeriods
}

// median returns the median of counts, or 0 if there are none. It sorts counts.
func median[N cmp.Ordered](counts []N) (zero N) {
	if len(counts) == 0 {
		return zero
	}
	slices.Sort(counts)
	return counts[len(counts)/2]
}
