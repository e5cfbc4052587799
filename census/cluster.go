package census

import (
	"math"
	"slices"
	"sort"

	"github.com/oidkit/oid/census/internal/idset"
)

// unite assigns lines to clusters. Lines whose counters overlap or adjoin get the same
// cluster, and each line gets a shift: adding it to the counters of the line puts all
// counters of the cluster into one sequence. unite returns the number of clusters.
//
//	counters, which repeat every 2^24:
//	0                                              2^24
//	|---aaaaaaa----------cccccc------------------bb|bbb---
//	         ddddd            ^^^^^ limit
//
// Here a and d overlap, so they are one cluster. A line that begins within limit after the
// end of c belongs to the cluster of c. The line b continues past 2^24; its shift makes the
// counters after 2^24 greater instead of smaller. The walk begins at a line that no other
// line reaches, so that no cluster is cut in two at 0.
func (ls *lineSet) unite() (clusters int) {
	// Lines further apart than the second number would not be evidence of anything.
	limit := max(ls.limit, idset.CounterRange>>(proofBits-orderBits-1)/int64(len(ls.list)))
	var order, long []int
	for i := range ls.list {
		if ls.list[i].length() < longLine {
			order = append(order, i)
		} else {
			long = append(long, i)
		}
	}
	start := func(i int) int64 { return ls.list[i].from & idset.CounterMask }
	slices.SortFunc(order, func(a, b int) int { return int(start(a) - start(b)) })
	// The first round looks for a line whose start no other line covers.
	n, first := len(order), 0
	reach := int64(math.MinInt64 / 2)
	for k := range 2 * n {
		at := start(order[k%n]) + int64(k/n)*idset.CounterRange
		if k >= n && at > reach+limit {
			first = k - n
			break
		}
		reach = max(reach, at+ls.list[order[k%n]].length())
	}
	reach = math.MinInt64 / 2
	for k := first; k < first+n; k++ {
		l := &ls.list[order[k%n]]
		at := start(order[k%n]) + int64(k/n)*idset.CounterRange
		if at > reach+limit {
			clusters++
		}
		l.cluster, l.shift = clusters-1, at-l.from
		reach = max(reach, at+l.length())
	}
	// A long line overlaps others by chance. So only lines that adjoin its ends join it.
	for _, i := range long {
		a := &ls.list[i]
		a.cluster, a.shift = clusters, 0
		clusters++
		for k := range ls.list {
			b := &ls.list[k]
			if b.cluster == a.cluster || b.length() >= longLine && k > i {
				continue
			}
			if ahead := (b.from - a.at) & idset.CounterMask; ahead <= limit {
				ls.join(b.cluster, a.cluster, a.at+a.shift+ahead-b.from-b.shift)
			} else if ahead := (a.from - b.at) & idset.CounterMask; ahead <= limit {
				ls.join(b.cluster, a.cluster, a.from+a.shift-ahead-b.at-b.shift)
			}
		}
	}
	return clusters
}

// join moves the lines of the cluster from to the cluster to and adds shift to their counters.
func (ls *lineSet) join(from, to int, shift int64) {
	for i := range ls.list {
		if l := &ls.list[i]; l.cluster == from {
			l.cluster, l.shift = to, l.shift+shift
		}
	}
}

// landing describes where a line begins, relative to earlier lines. If earlier lines cover a
// tenth of all counters, a line begins inside them by chance in one of ten cases.
type landing struct {
	inside  bool  // the line begins at a counter that an earlier line covers
	covered int64 // number of counters that all earlier lines cover
	nearest int64 // distance to the nearest start or end of an earlier line
}

// landings returns the landing of each line.
func (ls *lineSet) landings() []landing {
	out := make([]landing, len(ls.list))
	var starts []int64     // of the earlier lines, in order
	var covered [][2]int64 // the intervals that they cover, in order, without overlaps
	total := int64(0)
	find := func(counter int64) int {
		return sort.Search(len(covered), func(k int) bool { return covered[k][1] > counter })
	}
	cover := func(from, to int64) {
		i := find(from)
		j := i
		for ; j < len(covered) && covered[j][0] < to; j++ {
			total -= covered[j][1] - covered[j][0]
			from, to = min(from, covered[j][0]), max(to, covered[j][1])
		}
		covered, total = slices.Replace(covered, i, j, [2]int64{from, to}), total+to-from
	}
	for i := range ls.list {
		l := &ls.list[i]
		from, start := l.from&idset.CounterMask, l.start.unwrapped()&idset.CounterMask
		k := find(from)
		out[i] = landing{k < len(covered) && covered[k][0] <= from, total, l.nearest}
		at, _ := slices.BinarySearch(starts, start)
		if n := len(starts); n > 0 {
			out[i].nearest = min(l.nearest, (starts[at%n]-start)&idset.CounterMask, (start-starts[(at+n-1)%n])&idset.CounterMask)
		}
		starts = slices.Insert(starts, at, start)
		to := from + min(l.length()+1, idset.CounterRange)
		cover(from, min(to, idset.CounterRange))
		if to > idset.CounterRange {
			cover(0, to-idset.CounterRange)
		}
	}
	return out
}

// bits returns how strongly a landing shows that the counters of earlier lines, n in number,
// are used again.
func (l landing) bits(n int) float64 {
	bits := idset.CounterBits - log2(2*l.nearest+1) - log2(2*int64(n))
	if l.inside {
		bits = max(bits, idset.CounterBits-log2(l.covered))
	}
	return bits
}

// countGaps counts the gaps: counters without ids, within a line and between a line and the
// next one that continues it. If the next line does not continue it, that is a restart.
func (ls *lineSet) countGaps(clusters []cluster, v *verdict) {
	var pace int64
	for _, c := range clusters {
		from, at := int64(math.MaxInt64), int64(math.MinInt64) // the first and last counter
		for _, i := range c.lines {
			l := &ls.list[i]
			pace = max(pace, l.pace)
			from, at = min(from, l.from+l.shift), max(at, l.at+l.shift)
			v.gaps -= l.ids
			if !c.whole {
				v.gaps += l.length() + 1
			}
		}
		if c.whole {
			v.gaps += at - from + 1
		}
	}
	for i := 1; i < len(ls.list); i++ {
		before, l := &ls.list[i-1], &ls.list[i]
		if c := &clusters[l.cluster]; c.whole && i != c.lines[0] {
			continue
		}
		ahead := (l.from - before.at) & idset.CounterMask
		elapsed := max(int64(l.first)-int64(before.last)+1, 1)
		if float64(ahead) <= paceFactor*float64(pace)*float64(elapsed) && ahead <= maxGap {
			v.gaps += ahead - 1
		} else {
			v.restarts++
		}
	}
	v.gaps = max(v.gaps, 0)
}
