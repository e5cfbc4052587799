package idset

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

func TestRecordHoldsAnID(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var id objectid.ID
		for i := range id {
			id[i] = byte(random.Uint32())
		}
		place := random.Uint32()
		r := NewRecord(&id, place)
		if got := r.ID(); got != id {
			t.Fatalf("newRecord(%v).id() = %v", id, got)
		}
		if r.Place() != place || int64(r.Second()) != id.Time().Unix() {
			t.Fatalf("newRecord(%v, %d): place %d, second %d", id, place, r.Place(), r.Second())
		}
	}
}

func TestSort(t *testing.T) {
	testenv.Long(t, "counts a million ids")
	random := rand.New(rand.NewPCG(3, 4))
	const segment = 1 << largeSegments
	shapes := map[string]func(i int) Record{
		"random":      func(int) Record { return Record{random.Uint64(), random.Uint64()} },
		"few writers": func(i int) Record { return Record{random.Uint64() % 8 << 24, uint64(i)<<32 | uint64(i)} },
		"one bit":     func(int) Record { return Record{1 << 63, random.Uint64() & 1} },
		"all equal":   func(int) Record { return Record{7, 7} },
		"falling":     func(i int) Record { return Record{5, uint64(1 << 30 * (1<<20 - i))} },
		"almost":      func(i int) Record { return Record{9, uint64(i+random.IntN(20)) << 32} },
		"both words":  func(int) Record { return Record{random.Uint64() & 3, random.Uint64() & 7 << 61} },
	}
	for name, shape := range shapes {
		for _, n := range []int{0, 1, 2, insertionMax + 1, 5000, segment - 1, segment + 1, 2*segment + 77} {
			list := segmented{shift: largeSegments, slab: new(slab)}
			var want []Record
			for i := range n {
				want = append(want, shape(i))
			}
			for _, r := range want {
				list.add(r)
			}
			from, to := n/10, n-n/7
			slices.SortFunc(want[from:to], func(a, b Record) int {
				switch {
				case a.less(b):
					return -1
				case b.less(a):
					return 1
				}
				return 0
			})
			s := newSorter(2)
			s.sort(&list, from, to)
			s.wait()
			var got []Record
			for span := range list.all().Spans() {
				got = append(got, span...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d records from %d to %d are not sorted as they should be", name, n, from, to)
			}
		}
	}
}
