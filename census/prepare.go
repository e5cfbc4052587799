package census

import (
	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/census/source"
	"github.com/oidkit/oid/objectid"
)

// prepared is what several goroutines work out about batches at once, so that taking
// a batch, which must be done in the order of the source, is short.
type prepared struct{ ids, strings group }

// group is the ids of a batch.
type group struct {
	outside int64          // ids outside the range, which are nowhere else
	records []idset.Record // in the order of the source; the places count from the start of the batch

	all, plausible secondRange
	days           []dayCount
	order          order
}

// dayCount is a run of plausible ids of one day.
type dayCount struct {
	second uint32 // of the first
	ids    int64
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
func (g *group) prepare(items []source.Item, within objectid.Range, inOrder bool, latest uint32) {
	*g = group{records: g.records[:0], days: g.days[:0], all: noSeconds, plausible: noSeconds, order: newOrder()}
	filter := within != (objectid.Range{})
	var today, ids uint32 // today is the day of the last run, and ids how many it has
	for i := range items {
		if filter && !within.Contains(items[i].ID) {
			g.outside++
			continue
		}
		r := idset.NewRecord(&items[i].ID, items[i].Place)
		g.records = append(g.records, r)
		s := r.Second()
		g.all.add(s)
		if s < earliest || s > latest || r.IsBound() {
			continue
		}
		g.plausible.add(s)
		if day := s / secondsPerDay; day != today || ids == 0 {
			g.days = append(g.days, dayCount{second: s})
			today = day
		}
		ids++
		g.days[len(g.days)-1].ids++
		if inOrder {
			g.order.add(s)
		}
	}
}

// apply adds g to l. base is the place at which its batch starts.
func (g *group) apply(l *collection, src *Source, base uint32) {
	l.outside += g.outside
	l.taken += int64(len(g.records))
	l.ids.Add(g.records, base)
	l.all.merge(g.all)
	l.plausible.merge(g.plausible)
	for _, d := range g.days {
		l.days.addN(d.second, d.ids)
	}
	g.order.apply(g, l, src, base)
}

// order is what a batch shows about ids that are late.
type order struct {
	youngest youngest
	earliest uint32 // second
	mayBe    bool   // an id may be late after others of the batch
}

func newOrder() order { return order{earliest: noSeconds.first} }

// An id is late after the youngest of those before it, the last of minYoungerBefore.
// With those before the batch and those in it apart, it cannot be later than after the
// inBatch-th youngest in the batch or the before-th youngest before it, if these
// numbers are minYoungerBefore + 1 together.
const (
	inBatch = 9
	before  = 8
)

func (o *order) add(second uint32) {
	o.earliest = min(o.earliest, second)
	if int64(o.youngest[minYoungerBefore-inBatch])-int64(second) > lateAfter {
		o.mayBe = true
	}
	o.youngest.add(second)
}

// apply looks for late ids in the batch of g if there may be some.
func (o *order) apply(g *group, l *collection, src *Source, base uint32) {
	if o.earliest == noSeconds.first {
		return // no ids whose order matters
	}
	if !o.mayBe && int64(src.youngest[minYoungerBefore-before])-int64(o.earliest) <= lateAfter {
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
