package store_test

import (
	"testing"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

func TestRange(t *testing.T) {
	for _, test := range []struct {
		name string
		r    store.Range
		in   []int64
		out  []int64
	}{
		{"no bounds", store.Range{}, []int64{-1, 0, 1}, nil},
		{"two bounds", store.Range{From: store.IntKey(3), To: store.IntKey(5)}, []int64{3, 4}, []int64{2, 5}},
		{"a lower bound", store.Range{From: store.IntKey(3)}, []int64{3, 9}, []int64{2}},
		{"an upper bound", store.Range{To: store.IntKey(5)}, []int64{-9, 4}, []int64{5}},
		{"equal bounds", store.Range{From: store.IntKey(3), To: store.IntKey(3)}, nil, []int64{2, 3, 4}},
		{"bounds in the wrong order", store.Range{From: store.IntKey(5), To: store.IntKey(3)}, nil, []int64{3, 4, 5}},
	} {
		for _, n := range test.in {
			if !test.r.Contains(store.IntKey(n)) {
				t.Errorf("%s: %d is not in it", test.name, n)
			}
		}
		for _, n := range test.out {
			if test.r.Contains(store.IntKey(n)) {
				t.Errorf("%s: %d is in it", test.name, n)
			}
		}
		if test.r.Contains(store.Key{}) {
			t.Errorf("%s: the zero Key is in it", test.name)
		}
		if got, want := test.r.IsEmpty(), len(test.in) == 0; got != want {
			t.Errorf("%s: IsEmpty is %v, want %v", test.name, got, want)
		}
	}
}

// IDRange contains the ids of the time range and nothing else.
func TestIDs(t *testing.T) {
	all := store.IDRange(objectid.Range{})
	if !all.Contains(store.IDKey(objectid.ID{})) || !all.Contains(store.IDKey(objectid.New())) || all.Contains(store.IntKey(1)) {
		t.Errorf("%v, want every id and no number", all)
	}
	first, second := objectid.New(), objectid.New()
	one := store.IDRange(objectid.Range{From: first, To: second})
	if !one.Contains(store.IDKey(first)) || one.Contains(store.IDKey(second)) {
		t.Errorf("%v, want %v and not %v in it", one, first, second)
	}
}
