package engine_test

import (
	"testing"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

func TestBounds(t *testing.T) {
	all := store.Range{From: store.IntKey(10), To: store.IntKey(20)}
	for _, test := range []struct {
		q    store.Query
		want store.Range
		open bool
	}{
		{store.Query{Range: all}, all, false},
		{store.Query{Range: all, After: store.IntKey(5)}, all, false},
		{store.Query{Range: all, After: store.IntKey(10)}, all, true},
		{store.Query{Range: all, After: store.IntKey(12)}, store.Range{From: store.IntKey(12), To: store.IntKey(20)}, true},
		{store.Query{Range: all, After: store.IntKey(12), Descending: true}, store.Range{From: store.IntKey(10), To: store.IntKey(12)}, false},
		{store.Query{Range: all, After: store.IntKey(25), Descending: true}, all, false},
		{store.Query{After: store.IntKey(1)}, store.Range{From: store.IntKey(1)}, true},
		{store.Query{After: store.IntKey(1), Descending: true}, store.Range{To: store.IntKey(1)}, false},
	} {
		if got, open := engine.Bounds(test.q); got != test.want || open != test.open {
			t.Errorf("Bounds(%+v) = %v, %v, want %v, %v", test.q, got, open, test.want, test.open)
		}
	}
}
