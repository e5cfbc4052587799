package census

import (
	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/census/internal/source"
	"github.com/oidkit/oid/objectid"
)

// prepared is what several goroutines work out about batches at once, so that taking
// a batch, which must be done in the order of the source, is short.
type prepared [2]batchIDs // ObjectIds, and strings

// batchIDs is the ids of a batch.
type batchIDs struct {
	outside int64          // ids outside the range, which are nowhere else
	records []idset.Record // in the order of the source; the places count from the start of the batch

	all, plausible secondRange
	days           map[uint32]int64 // plausible ids by day since 1970
}

// preparer returns a function that prepares batches.
func (c *Census) preparer() func(*source.Batch) {
	latest := latestSecond(c.options.Now)
	return func(b *source.Batch) {
		p, _ := b.Prepared.(*prepared)
		if p == nil {
			p = new(prepared)
			b.Prepared = p
		}
		p[0].prepare(b.IDs, c.options.Range, latest)
		p[hexStrings].prepare(b.Strings, c.options.Range, latest)
	}
}

// prepare fills g with the ids of items that are in within, and when they were created.
func (g *batchIDs) prepare(items []source.Item, within objectid.Range, latest uint32) {
	*g = batchIDs{records: g.records[:0], days: map[uint32]int64{}}
	filter := within != (objectid.Range{})
	all, plausible := noSeconds, noSeconds
	today, n := uint32(0), int64(0) // the last run
	for i := range items {
		if filter && !within.Contains(items[i].ID) {
			g.outside++
			continue
		}
		r := idset.NewRecord(&items[i].ID, items[i].Place)
		g.records = append(g.records, r)
		s := r.Second()
		all.add(s)
		if s < earliest || s > latest || r.IsBound() {
			continue
		}
		plausible.add(s)
		if day := s / secondsPerDay; day != today {
			g.days[today] += n
			today, n = day, 0
		}
		n++
	}
	g.days[today] += n
	g.all, g.plausible = all, plausible
}

// apply adds g to l. base is the place at which its batch starts.
func (g *batchIDs) apply(l *foundIDs, base uint32) {
	l.outside += g.outside
	l.taken += int64(len(g.records))
	l.ids.Add(g.records, base)
	l.all.merge(g.all)
	l.plausible.merge(g.plausible)
	for day, n := range g.days {
		l.days[day] += n
	}
}
