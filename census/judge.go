package census

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/internal/phrase"
)

// fault is a kind of fault that the ids of a process value may show.
type fault int

const (
	shared     fault = iota // several processes used the value at the same time
	stepped                 // the clock was set backwards
	resumed                 // a saved state of the process was resumed later
	noSequence              // the counters do not count up
	faults                  // the number of faults
)

// verdict is the result of judge for one process value.
type verdict struct {
	found    [faults]evidence
	doubt    DoubtKind // the first reason why something cannot be told, or empty
	gaps     int64
	restarts int64
	isPart   bool // only the first ids were judged, because there are too many lines
}

// evidence is the evidence for a fault: how strong it is, and the numbers and a few ids that
// show the fault.
type evidence struct {
	bits     int            // chance causes it in one of 2^bits process values
	text     string         // a sentence with the numbers
	first    uint32         // the second in which the fault began
	last     uint32         // the second in which it ended
	examples []idset.Record // by time
}

// bits returns the bits of the fault with the strongest evidence.
func (v *verdict) bits() (most int) {
	for _, e := range v.found {
		most = max(most, e.bits)
	}
	return most
}

// add stores the evidence for a fault if it is stronger than what is stored. Less than
// doubtBits is not stored.
func (v *verdict) add(f fault, bits float64, value uint64, text string, examples ...linked) {
	if e := &v.found[f]; int(bits) > e.bits && bits >= doubtBits {
		*e = evidence{bits: int(min(bits, maxBits)), text: text, first: math.MaxUint32}
		for _, r := range examples {
			e.first, e.last = min(e.first, r.second()), max(e.last, r.second())
			if len(e.examples) < maxExamples {
				e.examples = append(e.examples, r.unlink(value))
			}
		}
	}
}

// judge looks for faults in the records of a process value that has breaks. It compares each
// fault with what a healthy process does: its runs begin at random counters one after
// another, threads may be late, and threads may reserve counters in blocks.
//
// The order of the steps matters, because each needs the results of those before:
//
//	follow           finds lines and turns; from here on the records of e are linked ones
//	unite, addTurns  find clusters of lines, and the turns within each cluster
//	sortByCounter    finds the sequence of each cluster with several lines or late ids
//	judgePace        finds counters that run through half their range in a second
//	judgeSequences   finds clock steps, and whether a cluster is whole or its lines overlap
//	judgeTurns       finds shared values, from lines that are not one whole cluster
//	judgeLandings    finds resumed states, from lines that overlap, unless the value is shared
//	judgeDisorder    finds counters that do not count up, unless another fault is proven
//	countGaps        counts gaps and restarts; a whole cluster is one run
//
// When judge returns, the records have their original form and order.
func judge(e idset.Extent, value uint64) (v verdict) {
	step := typicalStep(e)
	isSparse := step*sparseFactor > idset.CounterRange
	ls, done := follow(e, step)
	defer func() {
		for records := range e.Spans() {
			for i, r := range records {
				records[i] = linked(r).unlink(value)
			}
		}
		e.Sort()
	}()
	v.isPart = done < e.Len()
	e = e.Part(0, done)
	if isSparse {
		if v.judgeDisorder(ls, int64(e.Len()), value); v.bits() == 0 {
			v.doubt = DoubtFewIDs
		}
		return v
	}
	clusters := make([]cluster, ls.unite())
	for i, l := range ls.list {
		c := &clusters[l.cluster]
		c.lines = append(c.lines, i)
		c.fewer, c.most = c.fewer+min(l.ids, c.most), max(l.ids, c.most)
	}
	ls.addTurns(clusters)
	if ls.late > 0 || slices.ContainsFunc(clusters, func(c cluster) bool { return len(c.lines) > 1 }) {
		ls.sortByCounter(e, clusters)
	}
	if v.judgePace(ls, value); v.bits() < proofBits {
		v.judgeSequences(ls, clusters, value)
		v.judgeTurns(ls, clusters, value)
		v.judgeLandings(ls, clusters, value)
	}
	if v.bits() < proofBits {
		v.judgeDisorder(ls, int64(e.Len()), value)
	}
	ls.countGaps(clusters, &v)
	return v
}

// cluster is a group of lines whose counters overlap or adjoin.
type cluster struct {
	lines    []int     // in order of time
	most     int64     // ids of the line with the most ids
	fewer    int64     // ids of all other lines
	turns    pool      // turns between lines that were in use at the same time
	returns  int64     // the number of these turns
	sequence *sequence // nil if there is one line without late ids

	// judgeSequences sets these. If there are several lines, at most one is true.
	overlaps bool // the lines use the same counters
	whole    bool // the lines are parts of one sequence
}

// isApart reports whether the lines of c adjoin only by chance.
func (c *cluster) isApart() bool {
	return !c.whole && !c.overlaps && c.sequence != nil && (c.sequence.decreases == 1 || c.sequence.length >= idset.CounterRange/2)
}

// addTurns counts the turns between the lines of each cluster.
func (ls *lineSet) addTurns(clusters []cluster) {
	for t, n := range ls.turns {
		if c := ls.list[t.to].cluster; c == ls.list[t.from].cluster && ls.atOnce(t) {
			clusters[c].turns.add(float64(t.bits), n)
			clusters[c].returns += n
		}
	}
}

// atOnce reports whether the two lines of a turn were in use at the same time for at least
// minStep seconds. Less may be ids that are out of order.
func (ls *lineSet) atOnce(t turn) bool {
	a, b := &ls.list[t.to], &ls.list[t.from]
	return int64(min(a.last, b.last))-int64(max(a.first, b.first)) >= minStep
}

// sortByCounter sorts the records of each cluster by counter and sets its sequence.
func (ls *lineSet) sortByCounter(e idset.Extent, clusters []cluster) {
	least := make([]int64, len(clusters)) // least counter of each, rounded down to a multiple of 2^24
	for i := range least {
		least[i] = math.MaxInt64
	}
	for _, l := range ls.list {
		least[l.cluster] = min(least[l.cluster], (l.from+l.shift)&^idset.CounterMask)
	}
	first, last := e.At(0).Place(), uint32(0)
	for records := range e.Spans() {
		for i, r := range records {
			r := linked(r)
			first, last = min(first, r.place()), max(last, r.place())
			l := &ls.list[r.line()]
			records[i].Hi = uint64(l.cluster)<<unwrappedBits | uint64(r.unwrapped()+l.shift-least[l.cluster])
		}
	}
	e.Sort()
	for i := 0; i < e.Len(); {
		n := linkedAt(e, i).line()
		j := e.Search(i, func(r idset.Record) bool { return linked(r).line() > n })
		clusters[n].sequence = newSequence(e.Part(i, j), ls.limit, float64(last-first)/float64(e.Len()))
		i = j
	}
}

// judgeTurns looks for processes that share the value: their lines take turns. It depends on
// the two lines of a turn what the turn shows, if both were in use at the same time:
//
//	both are in one cluster, which is whole       nothing: they are one sequence
//	both are in one cluster, which is not whole   threads that reserve blocks of counters
//	they begin near each other, see arcBits       threads that reserve blocks of counters
//	any others, and lines that adjoin by chance   processes with counters far apart
//
// Processes whose counters are close together use counter values twice. judgeTurns recognizes
// them by the turns of a cluster whose lines overlap, or within a single line.
func (v *verdict) judgeTurns(ls *lineSet, clusters []cluster, value uint64) {
	turns := slices.SortedFunc(maps.Keys(ls.turns), func(a, b turn) int {
		return cmp.Or(a.to-b.to, a.from-b.from, a.bits-b.bits)
	})
	breaks, arcs := float64(len(ls.list)-1), ls.arcs()
	var all, near, within pool
	var returns int64
	to := map[int]bool{}
	var examples []linked
	for _, t := range turns {
		a, b, n := ls.list[t.to], ls.list[t.from], ls.turns[t]
		breaks += float64(n)
		switch {
		case !ls.atOnce(t):
		case a.cluster == b.cluster && !clusters[a.cluster].isApart():
			if !clusters[a.cluster].whole {
				within.add(float64(t.bits), n)
			}
		case arcs[t.to] >= nearBits:
			near.add(float64(t.bits), n)
		default:
			all.add(float64(t.bits), n)
			returns += n
			if !to[t.to] {
				to[t.to] = true
				examples = append(examples, a.start, a.end)
			}
		}
	}
	if bits := all.bits(breaks); returns > 0 {
		if returns <= minTurns || len(to) == 1 {
			bits = min(bits, proofBits-1)
		}
		v.add(shared, bits, value,
			fmt.Sprintf("Its counters form %s that alternate: %s an id continues one sequence after ids of another.",
				phrase.Count(int64(len(to)), "sequence", "sequences"), phrase.Count(returns, "time", "times")), examples...)
	}
	if max(near.bits(breaks), within.bits(breaks)) >= doubtBits {
		v.doubt = cmp.Or(v.doubt, DoubtBlocks)
	}
	for i := range clusters {
		c := &clusters[i]
		bits := c.turns.bits(breaks)
		if q := c.sequence; len(c.lines) == 1 && q != nil && q.twins > 1 && q.twinsLast-q.twinsFirst >= minTwinSeconds {
			// The counters of the processes are so close that they form one line.
			bits = idset.CounterBits - log2(2*ls.list[c.lines[0]].pace+1)
		} else if !c.overlaps || c.returns < minTurns {
			continue
		}
		v.add(shared, bits, value,
			fmt.Sprintf("Its counters form sequences that alternate and overlap: %s an id continues one sequence after ids of another, and %s used twice.",
				phrase.Count(c.returns, "time", "times"), phrase.Count(c.sequence.twins, "counter value was", "counter values were")), c.sequence.twin[:]...)
	}
}

// arcs returns the result of [arcBits] for the group of each line. Two lines that took turns
// are in the same group.
func (ls *lineSet) arcs() []float64 {
	group := make([]int, len(ls.list)) // the first line in the group of each line
	for i := range group {
		group[i] = i
	}
	for t := range ls.turns {
		if from, to := max(group[t.to], group[t.from]), min(group[t.to], group[t.from]); from != to && ls.atOnce(t) {
			for i := range group {
				if group[i] == from {
					group[i] = to
				}
			}
		}
	}
	starts := make([][]int64, len(ls.list))
	for i, g := range group {
		starts[g] = append(starts[g], ls.list[i].from&idset.CounterMask)
	}
	arcs := make([]float64, len(ls.list))
	for i, g := range group {
		if arcs[i] = arcs[g]; g == i {
			arcs[i] = arcBits(starts[i])
		}
	}
	return arcs
}

// arcBits returns how strongly the starts of lines show that they are not random but near each
// other. Threads that reserve large blocks of counters have such lines.
func arcBits(starts []int64) float64 {
	n := len(starts)
	slices.Sort(starts)
	widest := starts[0] + idset.CounterRange - starts[n-1]
	for k := 1; k < n; k++ {
		widest = max(widest, starts[k]-starts[k-1])
	}
	return float64(n-1)*(idset.CounterBits-log2(idset.CounterRange-widest)) - log2(int64(n))
}

// judgeSequences looks for clocks that were set backwards, and sets whether a cluster is whole
// or its lines overlap. Decreases in a sequence have three other causes: restarts at counters
// that are near by chance, late ids, and blocks. The evidence for a clock step is the least of
// the evidence against each of the three.
func (v *verdict) judgeSequences(ls *lineSet, clusters []cluster, value uint64) {
	for i := range clusters {
		c := &clusters[i]
		q := c.sequence
		if q == nil {
			c.whole = len(c.lines) == 1
			continue
		}
		restart, late, blocks := c.restartBits(ls), q.lateBits(), max(q.blocks, 0)
		c.overlaps = len(c.lines) > 1 && q.twins > 1
		if q.decreases == 0 || c.overlaps {
			c.whole = len(c.lines) == 1 || q.singles > 0 && !c.overlaps
			continue
		}
		c.whole = restart >= doubtBits
		bits := min(restart, late)
		if blocks < proofBits && bits >= doubtBits {
			v.doubt = cmp.Or(v.doubt, DoubtBlocks)
		}
		bits = min(bits, blocks)
		v.add(stepped, bits, value,
			fmt.Sprintf("%s the counter continues, by at most %s, while the clock goes back, by up to %s.",
				phrase.Count(q.decreases, "time", "times"), humanize.Comma(q.widest), phrase.Length(time.Duration(q.deepest)*time.Second)), q.examples...)
	}
}

// restartBits returns the evidence against restarts as the cause of the decreases in a
// cluster. Lines of restarts would begin near other lines only by chance. If they do begin
// near each other, turns between them are more evidence: a run ends before the next begins.
func (c *cluster) restartBits(ls *lineSet) float64 {
	if len(c.lines) == 1 {
		return maxBits
	}
	q, n := c.sequence, float64(len(ls.list))
	near := q.gaps.bits(n * (n - 1))
	if q.groups >= int64(len(c.lines)) {
		// The lines overlap but use few counters twice: the ids of one fit into the gaps of
		// the others.
		reach := q.length
		if q.twins == 0 && c.fewer*q.ids/q.length >= minTwins {
			reach = 2 * q.widest
		}
		var inside pool
		inside.add(idset.CounterBits-log2(reach), int64(len(c.lines)-1))
		near = inside.bits(n)
	}
	if near >= nearBits {
		return max(near, c.turns.bits(n))
	}
	return near
}

// judgeLandings looks for lines that begin at counters of earlier lines and use these counters
// again.
func (v *verdict) judgeLandings(ls *lineSet, clusters []cluster, value uint64) {
	var all pool
	var inside, covered int64
	first, last := uint32(0), uint32(0)
	var examples []linked
	for i, at := range ls.landings() {
		c := &clusters[ls.list[i].cluster]
		if i == c.lines[0] || !c.overlaps {
			continue
		}
		if inside == 0 {
			first = ls.list[i].first
		}
		inside, covered, last = inside+1, at.covered, max(last, ls.list[i].last)
		all.add(at.bits(len(ls.list)-1), 1)
		if len(examples) < maxExamples {
			examples = append(examples, ls.list[c.lines[0]].start, ls.list[i].start)
		}
	}
	restarts := float64(len(ls.list) - 1)
	if v.found[shared].bits < proofBits {
		v.add(resumed, all.bits(restarts), value,
			fmt.Sprintf("%s of %s of its counters begin at a value that was used before, or next to the beginning or end of another sequence, although only %s of 16,777,216 values were used before.",
				humanize.Comma(inside), phrase.Count(int64(len(ls.list)), "sequence", "sequences"), humanize.Comma(covered)), examples...)
		v.found[resumed].first, v.found[resumed].last = first, last
	}
}

// log2 returns the binary logarithm of a positive count; 0 counts as 1.
func log2(n int64) float64 { return math.Log2(float64(max(n, 1))) }
