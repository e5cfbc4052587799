package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

func document(t *testing.T, key int, size int) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(bson.D{{Key: "_id", Value: int32(key)}, {Key: "text", Value: strings.Repeat("x", size)}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// refusing returns a function for the parameter put. It appends the size of each batch to
// batches, and refuses the rows with these keys.
func refusing(ordered bool, batches *[]int, keys ...int64) func(*engine.Batch) ([]store.RefusedItem, error) {
	return func(b *engine.Batch) (refused []store.RefusedItem, err error) {
		rows := b.Rows()
		*batches = append(*batches, len(rows))
		for _, r := range rows {
			if n, _ := r.Key.Value().(int64); slices.Contains(keys, n) {
				refused = append(refused, r.Duplicate())
				if ordered {
					break
				}
			}
		}
		slices.Reverse(refused)
		return refused, nil
	}
}

func TestInsertManyInBatches(t *testing.T) {
	for _, test := range []struct {
		docs, size int
		want       []int
	}{
		{0, 1, nil},
		{9_999, 1, []int{9_999}},
		{10_000, 1, []int{10_000}},
		{10_001, 1, []int{10_000, 1}},
		{17, 1 << 20, []int{16, 1}},
	} {
		docs := make([]any, test.docs)
		for i := range docs {
			docs[i] = document(t, i, test.size)
		}
		var batches []int
		keys, err := engine.InsertMany(docs, nil, refusing(false, &batches))
		if err != nil || !slices.Equal(batches, test.want) || len(keys) != test.docs || slices.Contains(keys, store.Key{}) {
			t.Errorf("%d documents: batches %v, %v, want %v", test.docs, batches, err, test.want)
		}
	}
}

// TestInsertManyRefuses inserts documents in two batches. Some are refused by put, and others
// because they are not valid documents.
func TestInsertManyRefuses(t *testing.T) {
	docs := make([]any, 10_010)
	for i := range docs {
		docs[i] = document(t, i, 1)
	}
	docs[7], docs[10_005] = bson.Raw("no BSON"), bson.Raw("no BSON")
	for _, test := range []struct {
		ordered bool
		refuse  []int64
		want    []int
		batches []int
	}{
		{false, []int64{3, 10_004, 10_006}, []int{3, 7, 10_004, 10_005, 10_006}, []int{10_000, 8}},
		{true, []int64{3, 10_004}, []int{3}, []int{7}},
		{true, []int64{8}, []int{7}, []int{7}},
	} {
		var batches []int
		keys, err := engine.InsertMany(docs, &store.InsertOptions{Ordered: test.ordered}, refusing(test.ordered, &batches, test.refuse...))
		var e *store.BulkError
		if !errors.As(err, &e) {
			t.Fatalf("%+v: %v", test, err)
		}
		var got []int
		for _, r := range e.Refused {
			got = append(got, r.Index)
		}
		if !slices.Equal(got, test.want) || !slices.Equal(batches, test.batches) {
			t.Errorf("%+v: refused %v in batches %v", test, got, batches)
		}
		for i, key := range keys {
			if stored := !slices.Contains(test.want, i) && (!test.ordered || i < test.want[0]); stored == key.IsZero() {
				t.Fatalf("%+v: key %d is %v", test, i, key)
			}
		}
	}
}

// TestFailureLeavesRestUndone: if the second batch fails, the first one is reported as stored,
// and the third one is not tried.
func TestFailureLeavesRestUndone(t *testing.T) {
	gone := errors.New("the server is gone")
	docs, swaps := make([]any, 25_000), make([]store.Swap, 25_000)
	for i := range docs {
		doc := document(t, i, 1)
		docs[i], swaps[i] = doc, store.Swap{Old: doc}
	}
	calls := 0
	fail := func() ([]store.RefusedItem, error) {
		if calls++; calls == 2 {
			return nil, gone
		}
		return nil, nil
	}
	keys, err := engine.InsertMany(docs, nil, func(b *engine.Batch) ([]store.RefusedItem, error) {
		b.Rows()
		return fail()
	})
	if !errors.Is(err, gone) || calls != 2 || keys[9_999].IsZero() || !keys[10_000].IsZero() {
		t.Errorf("InsertMany: %v after %d calls, keys %v and %v", err, calls, keys[9_999], keys[10_000])
	}
	calls = 0
	done, err := engine.SwapMany(swaps, func([]engine.Change) ([]store.RefusedItem, error) { return fail() })
	if !errors.Is(err, gone) || calls != 2 || done[9_999] == nil || done[10_000] != nil {
		t.Errorf("SwapMany: %v after %d calls, results %v and %v", err, calls, done[9_999], done[10_000])
	}
}

// TestSwapManyInBatches passes swaps with descending keys. put must get them with ascending
// keys, in batches that are not too large.
func TestSwapManyInBatches(t *testing.T) {
	for _, test := range []struct {
		swaps, size int
		want        []int
	}{
		{0, 1, nil},
		{10_000, 1, []int{10_000}},
		{10_001, 1, []int{10_000, 1}},
		{9, 1 << 20, []int{7, 2}}, // old and new together
		{2, 15 << 20, []int{1, 1}},
	} {
		swaps := make([]store.Swap, test.swaps)
		for i := range swaps {
			doc := document(t, test.swaps-i, test.size)
			swaps[i] = store.Swap{Old: doc, New: doc}
		}
		var batches []int
		last := store.Key{}
		done, err := engine.SwapMany(swaps, func(changes []engine.Change) ([]store.RefusedItem, error) {
			batches = append(batches, len(changes))
			for _, c := range changes {
				if c.Key.Compare(last) <= 0 {
					return nil, fmt.Errorf("%v after %v", c.Key, last)
				}
				last = c.Key
			}
			return nil, nil
		})
		if err != nil || !slices.Equal(batches, test.want) {
			t.Errorf("%d swaps: batches %v, %v, want %v", test.swaps, batches, err, test.want)
		}
		for i := range done {
			want, _ := store.KeyOf(swaps[i].Old)
			if got, err := store.KeyOf(done[i]); got != want || err != nil {
				t.Fatalf("result %d is that of %v, %v, want %v", i, got, err, want)
			}
			if _, ok := engine.RevisionOf(done[i]); !ok {
				t.Fatalf("result %d has no revision", i)
			}
		}
	}
}

// TestStamped: adding a revision gives a valid document and does not change the rest of it.
func TestStamped(t *testing.T) {
	doc := document(t, 1, 5)
	rev, _ := store.IDKey([12]byte{1}).ID()
	got := engine.Stamped(doc, rev)
	if found, ok := engine.RevisionOf(got); found != rev || !ok || got.Validate() != nil {
		t.Errorf("stamped %v with %v: %v", doc, rev, got)
	}
	if without := got[:len(doc)-1]; !slices.Equal(without[4:], doc[4:len(doc)-1]) {
		t.Errorf("stamped %x: %x", doc, got)
	}
}
