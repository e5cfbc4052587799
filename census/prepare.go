package census

import (
	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/census/internal/source"
	"github.com/oidkit/oid/objectid"
)

// prepared is the result of preparing a batch. Several goroutines prepare batches, so that
// taking a batch, which happens in the order of the source, is short.
type prepared [2]batchIDs // ObjectIds, and strings

// batchIDs is the ids of one type in a batch.
type batchIDs struct {
	outside int64          // ids outside the range; the other fields are about ids inside
	records []idset.Record // in the order of the source; places count from the start of the batch
	seconds
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

// prepare fills g with the ids of items. Ids outside the range within are only counted. latest
// is the last second that is not the future.
func (g *batchIDs) prepare(items []source.Item, within objectid.Range, latest uint32) {
	*g = batchIDs{records: g.records[:0], seconds: noTimes()}
	filter := within != (objectid.Range{})
	all, plausible := noSeconds, noSeconds
	today, n := uint32(0), int64(0) // the day of the last ids, and their number
	for i := range items {
		if filter && !within.Contains(items[i].ID) {
			g.outside++
			continue
		}
		r := idset.NewRecord(&items[i].ID, items[i].Place)
		g.records = append(g.records, r)
		s := r.Second()
		if s < earliest || s > latest || r.IsBound() {
			if !lacksTime(r) {
				all.add(s)
			}
			continue
		}
		all.add(s)
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

// apply adds g to l. base is the place of the first document in the batch.
func (g *batchIDs) apply(l *foundIDs, base uint32) {
	l.outside += g.outside
	l.taken += int64(len(g.records))
	l.ids.Add(g.records, base)
	l.seconds.merge(&g.seconds)
}
