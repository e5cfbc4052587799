package storetest

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// testGetMany gives GetMany existing and missing keys, more than an engine puts into one
// statement. Each document must be at the index of its key, and nil at the index of a missing
// key.
func testGetMany(t testing.TB, s store.Store) {
	if docs, err := s.GetMany(t.Context(), "c", []store.Key{store.IntKey(1), store.IntKey(2)}); err != nil || len(docs) != 2 || docs[0] != nil || docs[1] != nil {
		t.Errorf("of a missing collection: %v, %v, want two times nil", docs, err)
	}
	const n = 1234
	docs := repeat(n, func(i int) any { return bson.D{{Key: "_id", Value: int64(i)}, {Key: "text", Value: i}} })
	testenv.Must(s.InsertMany(t.Context(), "c", docs, nil))(t)
	text := testenv.Must(store.StringKey("a"))(t)
	testenv.Must(s.Insert(t.Context(), "c", bson.D{{Key: "_id", Value: "a"}}))(t)
	var keys []store.Key
	for i := n + 10; i >= 0; i -= 2 {
		keys = append(keys, store.IntKey(int64(i)))
	}
	keys = append(keys, text, store.Key{}, store.IntKey(1), store.IntKey(1), store.IDKey(objectid.New()))
	got := testenv.Must(s.GetMany(t.Context(), "c", keys))(t)
	if len(got) != len(keys) {
		t.Fatalf("%d documents for %d keys", len(got), len(keys))
	}
	for i, key := range keys {
		number, isNumber := key.Value().(int64)
		if there := isNumber && number < n || key == text; there != (got[i] != nil) {
			t.Errorf("key %v: %v", key, got[i])
		} else if there && testenv.Must(store.KeyOf(got[i]))(t) != key {
			t.Errorf("key %v has the document %v", key, got[i])
		}
	}
	large := make([]store.Key, 5) // more than an engine holds at once
	for i := range large {
		large[i] = testenv.Must(s.Insert(t.Context(), "large", bson.D{{Key: "data", Value: make([]byte, 4<<20)}}))(t)
	}
	for i, doc := range testenv.Must(s.GetMany(t.Context(), "large", large))(t) {
		if len(doc) < 4<<20 {
			t.Errorf("large document %d has %d bytes", i, len(doc))
		}
	}
	if got, err := s.GetMany(t.Context(), "c", nil); err != nil || len(got) != 0 {
		t.Errorf("of no keys: %v, %v", got, err)
	}
}

// testFindMany gives FindMany more ranges than an engine puts into one statement. For each
// range, it must return the documents that Find returns.
func testFindMany(t testing.TB, s store.Store) {
	if docs, err := s.FindMany(t.Context(), "c", make([]store.Range, 2), 0); err != nil || len(docs) != 2 || docs[0] != nil || docs[1] != nil {
		t.Errorf("of a missing collection: %v, %v, want two times nil", docs, err)
	}
	keys := ordered()
	insert(t, s, "c", keys...)
	bounds := append([]store.Key{{}, store.IntKey(3), text("Z"), text(string(make([]byte, 4000)))}, keys...)
	var ranges []store.Range
	for _, from := range bounds {
		for _, to := range bounds {
			ranges = append(ranges, store.Range{From: from, To: to})
		}
	}
	for _, limit := range []int{0, 2} {
		got := testenv.Must(s.FindMany(t.Context(), "c", ranges, limit))(t)
		if len(got) != len(ranges) {
			t.Fatalf("documents of %d ranges, want %d", len(got), len(ranges))
		}
		for i, r := range ranges {
			var want, found []store.Key
			for _, key := range keys {
				if r.Contains(key) && (limit == 0 || len(want) < limit) {
					want = append(want, key)
				}
			}
			for _, doc := range got[i] {
				found = append(found, testenv.Must(store.KeyOf(doc))(t))
				clear(doc) // it is the caller's
			}
			if !slices.Equal(found, want) {
				t.Errorf("FindMany %v, limit %d: %v, want %v", r, limit, found, want)
			}
		}
	}
	if got, err := s.FindMany(t.Context(), "c", nil, 0); err != nil || len(got) != 0 {
		t.Errorf("of no ranges: %v, %v", got, err)
	}
}
