package census

import (
	"math"
	"slices"
	"sort"
)

// unite gives the lines whose counters overlap or adjoin one cluster, and each of them
// the shift that puts all counters of a cluster in one sequence. It returns how many
// clusters there are.
func (ls *lines) unite() (clusters int) {
	// Lines that are further apart than the second of these would be no evidence.
	limit := max(ls.limit, counterRange>>(proofBits-orderBits-1)/int64(len(ls.list)))
	var order, long []int
	for i := range ls.list {
		if ls.list[i].length() < longLine {
			order = append(order, i)
		} else {
			long = append(long, i)
		}
	}
	start := func(i int) int64 { return ls.list[i].from & counterMask }
	slices.SortFunc(order, func(a, b int) int { return int(start(a) - start(b)) })
	// The first round finds a line whose start no other one covers, if there is one.
	n, first := len(order), 0
	reach := int64(math.MinInt64 / 2)
	for k := range 2 * n {
		at := start(order[k%n]) + int64(k/n)*counterRange
		if k >= n && at > reach+limit {
			first = k - n
			break
		}
		reach = max(reach, at+ls.list[order[k%n]].length())
	}
	reach = math.MinInt64 / 2
	for k := first; k < first+n; k++ {
		l := &ls.list[order[k%n]]
		at := start(order[k%n]) + int64(k/n)*counterRange
		if at > reach+limit {
			clusters++
		}
		l.cluster, l.shift = clusters-1, at-l.from
		reach = max(reach, at+l.length())
	}
	// A longer one overlaps others by chance, so that only its ends show what it continues.
	for _, i := range long {
		a := &ls.list[i]
		a.cluster, a.shift = clusters, 0
		clusters++
		for k := range ls.list {
			b := &ls.list[k]
			if b.cluster == a.cluster || b.length() >= longLine && k > i {
				continue
			}
			if ahead := (b.from - a.at) & counterMask; ahead <= limit {
				ls.join(b.cluster, a.cluster, a.at+a.shift+ahead-b.from-b.shift)
			} else if ahead := (a.from - b.at) & counterMask; ahead <= limit {
				ls.join(b.cluster, a.cluster, a.from+a.shift-ahead-b.at-b.shift)
			}
		}
	}
	return clusters
}

// join makes the lines of one cluster those of another, their counters shifted.
func (ls *lines) join(from, to int, shift int64) {
	for i := range ls.list {
		if l := &ls.list[i]; l.cluster == from {
			l.cluster, l.shift = to, l.shift+shift
		}
	}
}

// landing is where a line begins: by chance it is among the counters of earlier lines as
// often as these cover the range of counters.
type landing struct {
	inside  bool
	covered int64 // by all earlier lines
	nearest int64 // counters to where one of them begins, or ended
}

// landings returns where each line begins.
func (ls *lines) landings() []landing {
	byStart := make([]int, 0, len(ls.list)) // the lines before, by their starts
	start := func(i int) int64 { return ls.list[i].start.unwrapped() & counterMask }
	// The range is cut at the ends of all lines; piece k is from cuts[k] to cuts[k+1].
	cuts := []int64{0, counterRange}
	for i := range ls.list {
		l := &ls.list[i]
		cuts = append(cuts, l.from&counterMask, (l.at+1)&counterMask)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	piece := func(counter int64) int {
		return sort.Search(len(cuts), func(k int) bool { return cuts[k] > counter }) - 1
	}
	free := make([]int, len(cuts)) // the next piece that is not covered, from each on
	for k := range free {
		free[k] = k
	}
	next := func(k int) int {
		for free[k] != k {
			free[k] = free[free[k]]
			k = free[k]
		}
		return k
	}
	out := make([]landing, len(ls.list))
	covered := int64(0)
	cover := func(from, to int64) {
		for k := next(piece(from)); k < len(cuts)-1 && cuts[k] < to; k = next(k) {
			covered += cuts[k+1] - cuts[k]
			free[k] = k + 1
		}
	}
	for i := range ls.list {
		l := &ls.list[i]
		from := l.from & counterMask
		k := piece(from)
		out[i] = landing{free[k] != k, covered, l.nearest}
		at, _ := slices.BinarySearchFunc(byStart, start(i), func(k int, c int64) int { return int(start(k) - c) })
		if n := len(byStart); n > 0 {
			out[i].nearest = min(l.nearest, (start(byStart[at%n])-start(i))&counterMask, (start(i)-start(byStart[(at+n-1)%n]))&counterMask)
		}
		byStart = slices.Insert(byStart, at, i)
		to := from + min(l.length()+1, counterRange)
		cover(from, min(to, counterRange))
		cover(0, to-counterRange)
	}
	return out
}

// bits returns the evidence of a line that begins among the counters of earlier ones, of
// so many.
func (l landing) bits(lines int) float64 {
	bits := counterBits - log2(2*l.nearest+1) - log2(2*int64(lines))
	if l.inside {
		bits = max(bits, counterBits-log2(l.covered))
	}
	return bits
}
