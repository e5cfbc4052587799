package census

import (
	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/census/source"
	"github.com/oidkit/oid/objectid"
)

// prepared is what several goroutines work out about batches at once, so that taking
// a batch, which must be done in the order of the source, is short.
type prepared struct{ ids, strings batchIDs }

// batchIDs is the ids of a batch.
type batchIDs struct {
	outside int64          // ids outside the range, which are nowhere else
	records []idset.Record // in the order of the source; the places count from the start of the batch

	all, plausible secondRange
	days           []dayCount
	order          lateCheck
}

// dayCount is how many plausible ids of one day follow each other.
type dayCount struct {
	day uint32 // since 1970
	ids int64
}

// preparer returns a function that prepares batches.
func (c *Census) preparer(inOrder bool) func(*source.Batch) {
	latest := latestSecond(c.options.Now)
	return func(b *source.Batch) {
		p, _ := b.Prepared.(*prepared)
		if p == nil {
			p = new(prepared)
			b.Prepared = p
		}
		p.ids.prepare(b.IDs, c.options.Range, inOrder, latest)
		p.strings.prepare(b.Strings, c.options.Range, inOrder, latest)
	}
}

// prepare fills g with the ids of items that are in within.
func (g *batchIDs) prepare(items []source.Item, within objectid.Range, inOrder bool, latest uint32) {
	g.reset()
	filter := within != (objectid.Range{})
	for i := range items {
		if filter && !within.Contains(items[i].ID) {
			g.outside++
			continue
		}
		g.records = append(g.records, idset.NewRecord(&items[i].ID, items[i].Place))
	}
	g.measure(inOrder, latest)
}

// reset empties g, for another batch.
func (g *batchIDs) reset() {
	*g = batchIDs{records: g.records[:0], days: g.days[:0], all: noSeconds, plausible: noSeconds, order: newLateCheck()}
}

// measure finds out when the records of g were created and, where they are in the order of
// the source, which may be late.
func (g *batchIDs) measure(inOrder bool, latest uint32) {
	all, plausible := noSeconds, noSeconds
	var today dayCount // the last run
	for _, r := range g.records {
		s := r.Second()
		all.add(s)
		if s < earliest || s > latest || r.IsBound() {
			continue
		}
		plausible.add(s)
		if day := s / secondsPerDay; day != today.day {
			g.days = append(g.days, today)
			today = dayCount{day: day}
		}
		today.ids++
		if inOrder {
			g.order.add(s)
		}
	}
	g.all, g.plausible, g.days = all, plausible, append(g.days, today)
}

// apply adds g to l. base is the place at which its batch starts.
func (g *batchIDs) apply(l *collection, src *Source, base uint32) {
	l.outside += g.outside
	l.taken += int64(len(g.records))
	l.ids.Add(g.records, base)
	l.all.merge(g.all)
	l.plausible.merge(g.plausible)
	for _, d := range g.days {
		l.days[d.day] += d.ids
	}
	g.order.apply(g, l, src, base)
}

// lateCheck is what a batch shows about ids that are late.
type lateCheck struct {
	youngest youngest
	earliest uint32 // second
	mayBe    bool   // an id may be late after others of the batch
}

func newLateCheck() lateCheck { return lateCheck{earliest: noSeconds.first} }

// An id is late after the youngest of those before it, the last of minYoungerBefore.
// With those before the batch and those in it apart, it cannot be later than after the
// inBatch-th youngest in the batch or the before-th youngest before it, if these
// numbers are minYoungerBefore + 1 together.
const (
	youngestInBatch = 9
	youngestBefore  = 8
)

func (o *lateCheck) add(second uint32) {
	o.earliest = min(o.earliest, second)
	if int64(o.youngest[minYoungerBefore-youngestInBatch])-int64(second) > lateAfter {
		o.mayBe = true
	}
	o.youngest.add(second)
}

// apply looks for late ids in the batch of g if there may be some.
func (o *lateCheck) apply(g *batchIDs, l *collection, src *Source, base uint32) {
	if o.earliest == noSeconds.first {
		return // no ids whose order matters
	}
	if !o.mayBe && int64(src.youngest[minYoungerBefore-youngestBefore])-int64(o.earliest) <= lateAfter {
		for _, s := range o.youngest {
			src.youngest.add(s)
		}
		return
	}
	for _, r := range g.records {
		s := r.Second()
		if s < g.plausible.first || s > g.plausible.last || r.IsBound() {
			continue
		}
		if by := src.youngest.lateBy(s); by > lateAfter {
			r.Lo += uint64(base)
			l.late.add(r, by)
		} else {
			src.youngest.add(s)
		}
	}
}
