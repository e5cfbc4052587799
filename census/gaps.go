package census

import "github.com/oidkit/oid/census/internal/idset"

// countGaps counts the counters that no id has within the lines, and between those of
// which one continues the other; all others are restarts.
func (ls *lineSet) countGaps(clusters []cluster, v *verdict) {
	var pace int64
	runs := make([]int, len(ls.list)) // of each line: its index in lives
	from, at := make([]int64, len(clusters)), make([]int64, len(clusters))
	for i := range ls.list {
		l := &ls.list[i]
		pace = max(pace, l.pace)
		v.gaps -= l.ids
		c := &clusters[l.cluster]
		if !c.whole {
			v.gaps += l.length() + 1
			continue
		}
		if i == c.first[0] {
			from[l.cluster], at[l.cluster] = l.from+l.shift, l.at+l.shift
		}
		from[l.cluster], at[l.cluster] = min(from[l.cluster], l.from+l.shift), max(at[l.cluster], l.at+l.shift)
	}
	for i, c := range clusters {
		if c.whole {
			v.gaps += at[i] - from[i] + 1
		}
	}
	for i := range ls.list {
		l := &ls.list[i]
		c := &clusters[l.cluster]
		continues := -1 // the line whose run goes on
		switch {
		case c.whole && i != c.first[0]:
			continues = c.first[0]
		case i > 0:
			before := &ls.list[i-1]
			ahead := (l.from - before.at) & idset.CounterMask
			elapsed := max(int64(l.first)-int64(before.last)+1, 1)
			if float64(ahead) <= paceFactor*float64(pace)*float64(elapsed) && ahead <= maxGap {
				v.gaps += ahead - 1
				continues = i - 1
			} else {
				v.restarts++
			}
		}
		if continues < 0 && len(v.lives) < maxRuns {
			runs[i] = len(v.lives)
			v.lives = append(v.lives, life{l.first, l.last, l.ids})
			continue
		}
		runs[i] = len(v.lives) - 1
		if continues >= 0 {
			runs[i] = runs[continues]
		}
		one := &v.lives[runs[i]]
		one.first, one.last, one.ids = min(one.first, l.first), max(one.last, l.last), one.ids+l.ids
	}
	v.gaps = max(v.gaps, 0)
}
