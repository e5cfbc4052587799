package census

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/census/internal/source"
	"github.com/oidkit/oid/objectid"
)

// TestManyValuesInABatch adds ids of few process values, and of more than have a list of their
// own.
func TestManyValuesInABatch(t *testing.T) {
	const lists = 1024 // of single process values, in a set
	for _, values := range []uint64{1, 2, lists - 1, lists, lists + 1, 3 * lists} {
		random := rand.New(rand.NewPCG(values, 1))
		var items []source.Item
		want := map[idset.Record]bool{}
		for i := range uint32(5000) {
			r := idset.RecordOf(uint64(i)%values*random.Uint64()%idset.EndOfValues, 1_600_000_000+i, i, i)
			items = append(items, source.Item{ID: r.ID(), Place: i})
			r.Lo += 7
			want[r] = true
		}
		l := newCollection("", new(idset.Space))
		var g batchIDs
		for range 2 { // the second time with what the first has left
			l = newCollection("", new(idset.Space))
			g.prepare(items, objectid.Range{}, latestSecond(time.Unix(1_700_000_000, 0)))
			g.apply(&l.found[0], 7)
		}
		got, last := 0, uint64(0)
		if err := l.found[0].ids.Visit(1, func() idset.Visitor {
			return func(e idset.Extent) {
				if e.Len() == 0 {
					return
				}
				if v := e.Value(); got > 0 && v <= last {
					t.Errorf("%d values: %x comes after %x", values, v, last)
				}
				last = e.Value()
				for records := range e.Spans() {
					for _, r := range records {
						if got++; !want[r] || r.Value() != last {
							t.Errorf("%d values: %v is not among the ids", values, r)
						}
					}
				}
			}
		}); err != nil {
			t.Error(err)
		}
		if got != len(items) {
			t.Errorf("%d values: %d ids, want %d", values, got, len(items))
		}
	}
}
