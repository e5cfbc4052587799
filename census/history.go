package census

import (
	"cmp"
	"slices"
)

// history is what the ids of a collection show over time: how many there are by minute,
// and how many counters are missing by hour.
type history struct {
	from    uint32  // first second, at the start of an hour
	minutes []int32 // different ids
	gaps    []int64 // missing counters by hour, without restarts
}

// newHistory returns an empty history of plausible seconds.
func newHistory(r secondRange) *history {
	if r.empty() {
		return &history{}
	}
	from := r.first - r.first%secondsPerHour
	hours := int((r.last-from)/secondsPerHour) + 1
	return &history{from: from, minutes: make([]int32, hours*60), gaps: make([]int64, hours)}
}

const secondsPerHour = 60 * 60

// holds reports whether the history has the second.
func (h *history) holds(second uint32) bool {
	return second >= h.from && int(second-h.from)/60 < len(h.minutes)
}

func (h *history) hours() int { return len(h.gaps) }

// add adds different ids of a second.
func (h *history) add(second uint32, n int64) {
	if h.holds(second) {
		h.minutes[(second-h.from)/60] += int32(n)
	}
}

// addGaps adds missing counters of the time between two seconds, evenly.
func (h *history) addGaps(from, to uint32, n int64) {
	if n <= 0 || !h.holds(from) || !h.holds(to) {
		return
	}
	a, b := int64(from-h.from)/secondsPerHour, int64(to-h.from)/secondsPerHour
	for i := a; i <= b; i++ {
		share := n / (b - i + 1)
		h.gaps[i] += share
		n -= share
	}
}

func (h *history) merge(other *history) {
	for i, n := range other.minutes {
		h.minutes[i] += n
	}
	for i := range other.gaps {
		h.gaps[i] += other.gaps[i]
	}
}

// hour returns how many ids an hour has.
func (h *history) hour(i int) int64 { return sumCounts(h.minutes[i*60 : i*60+60]) }

func sumCounts(counts []int32) (n int64) {
	for _, k := range counts {
		n += int64(k)
	}
	return n
}

// usual returns how many ids an hour usually has, the median of the same hour of
// usualPeriods days before and after it, and whether there are enough of them.
func (h *history) usual(hour int) (ids int64, isKnown bool) {
	var around []int64
	for k := -usualPeriods; k <= usualPeriods; k++ {
		if at := hour + k*24; k != 0 && at >= 0 && at < h.hours() {
			around = append(around, h.hour(at))
		}
	}
	return median(around), len(around) >= minPeriods
}

// median returns the median of the counts, which it sorts.
func median[N cmp.Ordered](counts []N) (zero N) {
	if len(counts) == 0 {
		return zero
	}
	slices.Sort(counts)
	return counts[len(counts)/2]
}
