package census

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"sync"
	"time"
)

// tally is what a walk through ids that are sorted finds.
type tally struct {
	axis   *axis
	counts []int64 // by bucket
	off    int64   // ids that no bucket holds

	ids        int64
	distinct   int64
	bounds     sighting
	future     sighting
	early      sighting
	duplicates sighting // counts the ids beyond the first of each
	repeated   int64    // ids that are there more than once

	latest  uint32 // second after which the future begins
	writers int64
	missing int64
	top     writerHeap
	limit   int     // of top; 0 is none
	pending writer  // the last one, which the next may be a part of; no ids: none
	faults  []fault // of the first writers that have some
	stepped int64   // writers whose clock stepped back
	shared  int64   // process values that several processes used
}

// sighting counts something and keeps the first examples.
type sighting struct {
	count    int64
	examples []record
}

// maxExamples is how many examples of a finding a report shows.
const maxExamples = 6

func (s *sighting) add(n int64, examples ...record) {
	s.count += n
	for _, r := range examples {
		if len(s.examples) < maxExamples {
			s.examples = append(s.examples, r)
		}
	}
}

func (s *sighting) merge(other sighting) { s.add(other.count, other.examples...) }

// writer is one process value and what is known of it.
type writer struct {
	process   uint64
	ids       int64 // distinct
	first     uint32
	last      uint32
	missing   int64
	jumps     int64
	kin       bool   // a neighbour has the same first three bytes
	far       bool   // see rows
	part             // its records
	more      []part // and those under further process values, see joins
	lastValue uint64 // process value of the last part
	start     int64  // first counter
	end       int64  // last counter

	java    bool // the counter goes on into the next process value
	stepped bool // the clock stepped back
	shared  bool // several processes used the value
}

// writerHeap keeps the writers with the most ids; the one with the fewest is on
// top.
type writerHeap []writer

func (h writerHeap) Len() int           { return len(h) }
func (h writerHeap) Less(i, j int) bool { return compareWriters(&h[i], &h[j]) > 0 }
func (h writerHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *writerHeap) Push(x any)        { *h = append(*h, x.(writer)) }

func (h *writerHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// compareWriters orders writers by how many ids they made, most first.
func compareWriters(a, b *writer) int {
	return cmp.Or(-cmp.Compare(a.ids, b.ids), cmp.Compare(a.process, b.process))
}

// next takes a writer, after the one with the process value before it.
func (t *tally) next(w writer) {
	if t.pending.ids > 0 && t.pending.process>>16 == w.process>>16 {
		t.pending.kin, w.kin = true, true
	}
	t.flush()
	t.pending = w
}

// flush counts the last writer.
func (t *tally) flush() {
	if w := &t.pending; w.ids > 0 {
		t.writers++
		t.missing += w.missing
		t.addWriter(w)
		w.ids = 0
	}
}

// addWriter lists w, if it has enough ids.
func (t *tally) addWriter(w *writer) {
	if t.limit > 0 && len(t.top) == t.limit {
		if compareWriters(w, &t.top[0]) < 0 {
			t.top[0] = *w
			heap.Fix(&t.top, 0)
		}
		return
	}
	heap.Push(&t.top, *w)
}

// analyse sorts the ids and walks through them, on several goroutines.
func (c *Census) analyse(step Step, tz *time.Location, limit int) (*tally, error) {
	c.ids.sort(c.options.Workers)
	first, last := c.first, c.last
	switch {
	case first > last: // no plausible id: show what there is
		first, last = c.secondRange()
	case step == AnyStep:
		first, last = c.core()
	}
	axis, err := newAxis(step, first, last, tz)
	if err != nil {
		return nil, err
	}
	shares := c.ids.shares(c.options.Workers)
	parts := make([]*tally, len(shares))
	var wg sync.WaitGroup
	for k, share := range shares {
		t := &tally{
			axis: axis, counts: make([]int64, axis.buckets()), limit: limit, latest: latestSecond(c.options.Now),
		}
		parts[k] = t
		wg.Go(func() {
			for _, p := range share {
				t.walk(p.list, p.i, p.j)
			}
			t.flush()
		})
	}
	wg.Wait()
	all := parts[0]
	for _, t := range parts[1:] {
		all.merge(t)
	}
	slices.SortFunc(all.top, func(a, b writer) int { return compareWriters(&a, &b) })
	return all, nil
}

// trim takes empty buckets off both ends of the timeline.
func (t *tally) trim() {
	for len(t.counts) > 1 && t.counts[0] == 0 {
		t.counts, t.axis.starts = t.counts[1:], t.axis.starts[1:]
	}
	for n := len(t.counts); n > 1 && t.counts[n-1] == 0; n-- {
		t.counts, t.axis.starts = t.counts[:n-1], t.axis.starts[:n]
	}
}

// core returns the stretch of time that a timeline is best for: that of all ids,
// unless the thousandth part of them at either end makes it more than four times
// as long.
func (c *Census) core() (first, last uint32) {
	var total int64
	for _, n := range c.days {
		total += n
	}
	from, to := int(c.first/secondsPerDay), int(c.last/secondsPerDay)
	lo, hi := from, to
	for left := total/1000 - c.days[lo]; left >= 0 && lo < hi; left -= c.days[lo] {
		lo++
	}
	for left := total/1000 - c.days[hi]; left >= 0 && lo < hi; left -= c.days[hi] {
		hi--
	}
	if (hi-lo+1)*4 > to-from+1 {
		return c.first, c.last
	}
	return max(c.first, uint32(lo*secondsPerDay)), min(c.last, uint32(min((hi+1)*secondsPerDay-1, math.MaxUint32)))
}

// secondRange returns the first and the last second of all ids, or the present
// one if there are no ids.
func (c *Census) secondRange() (first, last uint32) {
	first, last = math.MaxUint32, 0
	for p := range c.ids.writers() {
		// A writer's records are in order of their seconds.
		first, last = min(first, p.list.at(p.i).second()), max(last, p.list.at(p.j-1).second())
	}
	if first > last {
		s := uint32(max(min(c.options.Now.Unix(), math.MaxUint32), 0))
		return s, s
	}
	return first, last
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
	t.future.merge(other.future)
	t.early.merge(other.early)
	t.duplicates.merge(other.duplicates)
	t.stepped += other.stepped
	t.shared += other.shared
	for _, f := range other.faults {
		t.keep(f)
	}
	t.writers += other.writers
	t.missing += other.missing
	for i := range other.top {
		t.addWriter(&other.top[i])
	}
}
