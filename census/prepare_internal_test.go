package census

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/census/source"
	"github.com/oidkit/oid/objectid"
)

// TestLateInBatches looks for late ids in batches of every size, and one id after the
// other: in ids that mostly rise, with some clocks around a minute ahead of others.
func TestLateInBatches(t *testing.T) {
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 1))
		now := uint32(1_600_000_000)
		ahead, left := uint32(0), 0
		var items []source.Item
		for i := range uint32(300) {
			now += random.Uint32N(2)
			if left--; left < 0 {
				ahead, left = 0, random.IntN(40)
				if random.IntN(3) == 0 {
					ahead, left = 50+random.Uint32N(30), 1+random.IntN(20)
				}
			}
			r := idset.RecordOf(random.Uint64()%3, now+ahead-random.Uint32N(4), random.Uint32()>>8, i)
			items = append(items, source.Item{ID: r.ID(), Place: i})
		}
		want := lateIDs{}
		var y youngest
		for _, item := range items {
			r := idset.NewRecord(&item.ID, item.Place)
			if by := y.lateBy(r.Second()); by > lateAfter {
				want.add(r, by)
			} else {
				y.add(r.Second())
			}
		}

		l, src := newCollection("", new(idset.Space)), &Source{}
		latest := latestSecond(time.Unix(1_700_000_000, 0))
		var g batchIDs
		for from := 0; from < len(items); {
			to := min(len(items), from+1+random.IntN(60))
			batch := make([]source.Item, to-from)
			for i, item := range items[from:to] {
				batch[i] = source.Item{ID: item.ID, Place: uint32(i)}
			}
			g.prepare(batch, objectid.Range{}, true, latest)
			g.apply(l, src, uint32(from))
			from = to
		}
		if !reflect.DeepEqual(l.late, want) || src.youngest != y {
			t.Fatalf("seed %d: %d late ids by %d at most, want %d by %d", seed, l.late.count, l.late.most, want.count, want.most)
		}
		if n := l.space.InMemory; n != len(items) || l.taken != int64(n) {
			t.Fatalf("seed %d: %d ids, %d taken, want %d", seed, n, l.taken, len(items))
		}
	}
}

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
			g.prepare(items, objectid.Range{}, true, latestSecond(time.Unix(1_700_000_000, 0)))
			g.apply(l, &Source{}, 7)
		}
		got, last := 0, uint64(0)
		if err := l.ids.Visit(1, func() idset.Visitor {
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
