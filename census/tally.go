package census

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/oidkit/oid/census/internal/idset"
)

// tally is the result of one pass over the ids of a collection, or over a share of them, in the
// order of process value and time.
type tally struct {
	axis    *axis
	counts  []int64 // ids by bucket
	trimmed int     // how many empty buckets trim removed at the beginning
	off     int64   // ids outside all buckets

	ids        int64
	distinct   int64
	bounds     sighting
	timeless   sighting // ids that are left out because they hold no time
	left       leftOut
	elections  Elections
	future     sighting
	early      sighting // ids from before 2009
	duplicates sighting // counts the second and later occurrences of ids
	repeated   int64    // different ids that occur more than once

	latest    uint32 // the last second that is not the future
	processes int64
	gaps      int64
	top       []process      // the processes with the most ids; the first limit ones are sorted
	limit     int            // how many of top a report lists; 0 means all
	pending   process        // the last process, if it has ids: the next process value may continue it
	faulty    []process      // a few processes with a fault, some of which are also in top
	lone      []idset.Record // ids to be added to singles
	singles   *singles
	chained   chained
	history   *history
	missing   gapSpans // of the current process
	broken    int64    // number of judged process values, which have breaks
	suspects  suspects

	scanned    *scan       // nil if no id needed it
	isDoubtful bool        // it cannot be told whether ids hold a time
	plausible  secondRange // of the ids that hold a time
}

// sighting counts ids and keeps the first ones as examples.
type sighting struct {
	count    int64
	examples []idset.Record
}

func (s *sighting) add(n int64, examples ...idset.Record) {
	s.count += n
	s.examples = append(s.examples, examples[:min(len(examples), maxExamples-len(s.examples))]...)
}

func (s *sighting) merge(other sighting) { s.add(other.count, other.examples...) }

// compareProcesses orders processes by the number of their ids, the greatest first.
func compareProcesses(a, b *process) int {
	return cmp.Or(-cmp.Compare(a.ids, b.ids), cmp.Compare(a.value, b.value))
}

// flush adds the pending process to the tally.
func (t *tally) flush() {
	if p := &t.pending; p.ids > 0 {
		t.processes++
		// The gaps of a shared value, and of counters that do not count up, are unknown.
		if p.found[shared].bits < proofBits && p.found[noSequence].bits == 0 {
			t.gaps += p.gaps
		}
		if p.ids == 1 && p.first >= earliest && p.first <= t.latest {
			if t.lone = append(t.lone, p.begin); len(t.lone) == cap(t.lone) {
				t.addLone()
			}
		}
		if p.bits() >= proofBits && len(t.faulty) < maxSuspects {
			t.settle(p)
			t.faulty = append(t.faulty, *p)
		}
		t.suspects.add(p)
		t.list(p)
		p.ids = 0
	}
}

// addLone adds lone to singles.
func (t *tally) addLone() {
	t.singles.add(t.lone)
	t.lone = t.lone[:0]
}

// list adds p to the processes with the most ids, if it is one of them.
func (t *tally) list(p *process) {
	if t.isTop(p) {
		t.settle(p)
		t.top = append(t.top, *p)
		if t.limit > 0 && len(t.top)%t.limit == 0 { // at limit, which isTop needs, and at twice limit, to drop the others
			t.sortTop()
		}
	}
}

// sortTop sorts top and removes the processes beyond the limit.
func (t *tally) sortTop() {
	slices.SortFunc(t.top, func(a, b process) int { return compareProcesses(&a, &b) })
	if n := len(t.top); t.limit > 0 && n > t.limit {
		t.top = slices.Delete(t.top, t.limit, n)
	}
}

// isTop reports whether p may be one of the processes with the most ids so far.
func (t *tally) isTop(p *process) bool {
	return t.limit == 0 || len(t.top) < t.limit || compareProcesses(p, &t.top[t.limit-1]) < 0
}

// settle computes the timeline of p and releases its records.
func (t *tally) settle(p *process) {
	if p.timeline == nil {
		p.timeline = make([]int64, t.axis.buckets())
		for _, e := range append([]idset.Extent{p.Extent}, p.more...) {
			t.axis.countDistinct(p.timeline, e)
		}
	}
	p.Extent, p.more = idset.Extent{}, nil
}

// analyse makes the tally of l, on several goroutines. The timeline has the given interval and
// zone. limit is how many processes a report lists; 0 means all.
func (l *foundIDs) analyse(o *Options, interval Interval, tz *time.Location, limit int) (*tally, error) {
	scanned, err := l.scanIDs(o)
	if err != nil {
		return nil, err
	}
	left, isDoubtful, times := leaveNone, false, l.seconds
	if scanned != nil {
		if left, isDoubtful = scanned.judge(); left != leaveNone {
			times = scanned.times(left)
		}
	}
	shown := times.plausible
	switch {
	case shown.empty(): // no id is plausible: show the others
		if shown = times.all; shown.empty() {
			s := uint32(max(min(o.Now.Unix(), math.MaxUint32), 0))
			shown = secondRange{s, s}
		}
	case interval == IntervalAuto:
		shown = times.core()
	}
	timeline, err := newAxis(interval, shown.first, shown.last, tz)
	if err != nil {
		return nil, err
	}
	var parts []*tally
	past, lone := newHistory(times.plausible), new(singles)
	if err := l.ids.Visit(o.Workers, func() idset.Visitor {
		t := &tally{
			axis: timeline, counts: make([]int64, timeline.buckets()), limit: limit, left: left, latest: latestSecond(o.Now),
			history: past.fork(), singles: lone, lone: make([]idset.Record, 0, 1024),
		}
		parts = append(parts, t)
		return t.visit
	}); err != nil {
		return nil, err
	}
	all := parts[0]
	for _, t := range parts {
		t.flush()
		t.addLone()
		t.history.flush()
	}
	for _, t := range parts[1:] {
		all.merge(t)
	}
	all.chained, all.singles = lone.chains(), nil // releases memory
	all.sortTop()
	all.scanned, all.isDoubtful, all.plausible = scanned, isDoubtful, times.plausible
	return all, nil
}

// visit is an idset.Visitor. It counts the ids of one process value. At the end of a process
// block it settles the pending process, because its extents become invalid.
func (t *tally) visit(e idset.Extent) {
	switch p := &t.pending; {
	case e.Len() > 0:
		t.count(e)
	case p.ids > 0 && (t.isTop(p) || p.bits() >= proofBits):
		t.settle(p)
	}
}

// trim removes empty buckets from both ends of the timeline.
func (t *tally) trim() {
	for len(t.counts) > 1 && t.counts[0] == 0 {
		t.trimmed++
		t.counts, t.axis.starts = t.counts[1:], t.axis.starts[1:]
	}
	for n := len(t.counts); n > 1 && t.counts[n-1] == 0; n-- {
		t.counts, t.axis.starts = t.counts[:n-1], t.axis.starts[:n]
	}
}

// core returns the time for the timeline. That is the time of all plausible ids, unless it is
// more than farFactor times as long as without one in farShare ids at each end.
func (s *seconds) core() secondRange {
	from, to := s.plausible.first/secondsPerDay, s.plausible.last/secondsPerDay
	var total int64
	for _, n := range s.days {
		total += n
	}
	lo, hi := from, to
	for left := total/farShare - s.days[lo]; left >= 0 && lo < hi; left -= s.days[lo] {
		lo++
	}
	for left := total/farShare - s.days[hi]; left >= 0 && lo < hi; left -= s.days[hi] {
		hi--
	}
	if (hi-lo+1)*farFactor > to-from+1 {
		return s.plausible
	}
	return secondRange{
		max(s.plausible.first, lo*secondsPerDay),
		min(s.plausible.last, uint32(min(int64(hi+1)*secondsPerDay-1, math.MaxUint32))),
	}
}

func (t *tally) merge(other *tally) {
	for i, n := range other.counts {
		t.counts[i] += n
	}
	t.off += other.off
	t.ids += other.ids
	t.distinct += other.distinct
	t.repeated += other.repeated
	t.bounds.merge(other.bounds)
	t.timeless.merge(other.timeless)
	t.elections.add(other.elections)
	t.future.merge(other.future)
	t.early.merge(other.early)
	t.duplicates.merge(other.duplicates)
	t.faulty = append(t.faulty, other.faulty[:min(len(other.faulty), maxSuspects-len(t.faulty))]...)
	t.broken += other.broken
	t.suspects.merge(&other.suspects)
	t.processes += other.processes
	t.gaps += other.gaps
	for i := range other.top {
		t.list(&other.top[i])
	}
}
