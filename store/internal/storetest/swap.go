package storetest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// valued returns the document {_id: key, v: v}.
func valued(t testing.TB, key store.Key, v any) bson.Raw {
	t.Helper()
	return raw(t, bson.D{{Key: "_id", Value: key}, {Key: "v", Value: v}})
}

// get returns the stored document with the key.
func get(t testing.TB, s store.Store, collection string, key store.Key) bson.Raw {
	t.Helper()
	return testenv.Must(s.Get(t.Context(), collection, key))(t)
}

// revision returns the revision of a document, and ends the test if it has none.
func revision(t testing.TB, doc bson.Raw) objectid.ID {
	t.Helper()
	v, err := doc.LookupErr(store.Revision)
	if err != nil || v.Type != bson.TypeObjectID {
		t.Fatalf("%v has no revision", doc)
	}
	return objectid.ID(v.ObjectID())
}

// testSwap swaps a document several times, also with outdated versions of it.
func testSwap(t testing.TB, s store.Store) {
	key := text("shared")
	insert(t, s, "c", text("bystander"))
	testenv.Must(s.Insert(t.Context(), "c", valued(t, key, "first")))(t)
	first := get(t, s, "c", key)
	second := testenv.Must(s.Swap(t.Context(), "c", first, bson.D{{Key: "v", Value: "second"}, {Key: "_id", Value: key}}))(t)
	want := raw(t, bson.D{{Key: "_id", Value: key}, {Key: store.Revision, Value: revision(t, second)}, {Key: "v", Value: "second"}})
	if !bytes.Equal(second, want) || !bytes.Equal(get(t, s, "c", key), want) {
		t.Errorf("Swap returned %v and stored %v, want %v", second, get(t, s, "c", key), want)
	}
	if doc, err := s.Swap(t.Context(), "c", first, valued(t, key, "late")); !errors.Is(err, store.ErrConflict) || doc != nil {
		t.Errorf("Swap of what was swapped = %v, %v, want ErrConflict", doc, err)
	}
	third := testenv.Must(s.Swap(t.Context(), "c", second, second))(t)
	if revision(t, third) == revision(t, second) {
		t.Errorf("Swap kept the revision of %v", third)
	}
	testenv.WantError(t, "deletion of what was swapped", deleteOld(t.Context(), s, "c", second), store.ErrConflict)
	testenv.NoError(t, deleteOld(t.Context(), s, "c", third))
	testenv.WantError(t, "deletion again", deleteOld(t.Context(), s, "c", third), store.ErrNotFound)
	testenv.WantError(t, "Swap of what was deleted", testenv.ErrOf(s.Swap(t.Context(), "c", third, third)), store.ErrNotFound)
	if keys := find(t, s, "c", store.Query{}); !slices.Equal(keys, []store.Key{text("bystander")}) {
		t.Errorf("left: %v", keys)
	}
}

// deleteOld deletes the document old unless it has changed.
func deleteOld(ctx context.Context, s store.Store, collection string, old bson.Raw) error {
	_, err := s.SwapMany(ctx, collection, []store.Swap{{Old: old}})
	if refused := (*store.BulkError)(nil); errors.As(err, &refused) {
		return refused.Refused[0].Err
	}
	return err
}

// testSwapNoticesEveryWrite writes a document between a read and a swap, with each method,
// also so that the document is afterwards as it was before.
func testSwapNoticesEveryWrite(t testing.TB, s store.Store) {
	ctx := t.Context()
	for name, write := range map[string]func(old bson.Raw) error{
		"Replace": func(old bson.Raw) error { return s.Replace(ctx, "c", old) },
		"Swap": func(old bson.Raw) error {
			_, err := s.Swap(ctx, "c", old, old)
			return err
		},
		"SwapMany": func(old bson.Raw) error {
			_, err := s.SwapMany(ctx, "c", []store.Swap{{Old: old, New: old}})
			return err
		},
		"Delete and Insert": func(old bson.Raw) error {
			if err := s.Delete(ctx, "c", testenv.Must(store.KeyOf(old))(t)); err != nil {
				return err
			}
			_, err := s.Insert(ctx, "c", old)
			return err
		},
		"SwapMany and InsertMany": func(old bson.Raw) error {
			if err := deleteOld(ctx, s, "c", old); err != nil {
				return err
			}
			_, err := s.InsertMany(ctx, "c", []any{old}, nil)
			return err
		},
		"Replace without a revision": func(old bson.Raw) error {
			return s.Replace(ctx, "c", valued(t, testenv.Must(store.KeyOf(old))(t), 1))
		},
	} {
		key := text(name)
		testenv.Must(s.Insert(ctx, "c", valued(t, key, 1)))(t)
		old := testenv.Must(s.Swap(ctx, "c", get(t, s, "c", key), valued(t, key, 1)))(t)
		if err := write(old); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := s.Swap(ctx, "c", old, valued(t, key, 2)); !errors.Is(err, store.ErrConflict) {
			t.Errorf("Swap after %s: %v, want ErrConflict", name, err)
		}
		if err := deleteOld(ctx, s, "c", old); !errors.Is(err, store.ErrConflict) {
			t.Errorf("deletion after %s: %v, want ErrConflict", name, err)
		}
	}
}

func testSwapFirst(t testing.TB, s store.Store) {
	ctx := t.Context()
	key := store.IntKey(1)
	testenv.Must(s.Insert(ctx, "c", valued(t, key, "a")))(t)
	old := get(t, s, "c", key)
	testenv.NoError(t, s.Replace(ctx, "c", valued(t, key, "b")))
	testenv.WantError(t, "Swap of a document without a revision that was replaced", testenv.ErrOf(s.Swap(ctx, "c", old, valued(t, key, "c"))), store.ErrConflict)
	testenv.WantError(t, "deletion of a document without a revision that was replaced", deleteOld(ctx, s, "c", old), store.ErrConflict)
	if v := get(t, s, "c", key).Lookup("v").StringValue(); v != "b" {
		t.Errorf("after refused changes: %q, want b", v)
	}
	testenv.Must(s.Insert(ctx, "c", valued(t, store.IntKey(2), "a")))(t)
	testenv.WantError(t, "deletion of a document without a revision", deleteOld(ctx, s, "c", get(t, s, "c", store.IntKey(2))), nil)
}

// testSwapManyOfMany changes more documents than an engine sends at once, and then deletes every
// second one.
func testSwapManyOfMany(t testing.TB, s store.Store, o Options) {
	n := 1201
	if o.Common { // FerretDB takes long for each
		n = 31
	}
	docs := repeat(n, func(i int) any { return bson.D{{Key: "_id", Value: int32(i)}} })
	testenv.Must(s.InsertMany(t.Context(), "c", docs, nil))(t)
	var swaps []store.Swap
	for doc, err := range s.Find(t.Context(), "c", store.Query{Descending: true}) {
		testenv.NoError(t, err)
		id := doc.Lookup("_id").Int32()
		swaps = append(swaps, store.Swap{Old: doc, New: bson.D{{Key: "_id", Value: id}, {Key: "n", Value: 2 * id}}})
	}
	stored := testenv.Must(s.SwapMany(t.Context(), "c", swaps))(t)
	swaps = swaps[:0]
	for i, doc := range stored {
		id := int32(n - 1 - i)
		if got := testenv.Must(s.Get(t.Context(), "c", store.IntKey(int64(id))))(t); !bytes.Equal(got, doc) || got.Lookup("n").Int32() != 2*id {
			t.Fatalf("document %d is %v, SwapMany returned %v", id, got, doc)
		}
		if i%2 == 0 {
			swaps = append(swaps, store.Swap{Old: doc})
		}
	}
	testenv.Must(s.SwapMany(t.Context(), "c", swaps))(t)
	wantCount(t, s, "c", n/2)
}

// testRevision tests what Insert and Replace do to the field _rev.
func testRevision(t testing.TB, s store.Store) {
	ctx := t.Context()
	given := objectid.New()
	doc := raw(t, bson.D{{Key: "_id", Value: "k"}, {Key: "a", Value: int32(1)}, {Key: store.Revision, Value: given}, {Key: "b", Value: bson.D{{Key: store.Revision, Value: given}}}})
	keep := slices.Clone(doc)
	testenv.Must(s.Insert(ctx, "c", doc))(t)
	inserted := get(t, s, "c", text("k"))
	if !bytes.Equal(doc, keep) {
		t.Error("Insert has changed the document that it was given")
	}
	if rev := revision(t, inserted); rev == given || inserted.Lookup("b", store.Revision).ObjectID() != bson.ObjectID(given) {
		t.Errorf("inserted %v, want a new revision and the same field b", inserted)
	}
	testenv.NoError(t, s.Replace(ctx, "c", inserted))
	replaced := get(t, s, "c", text("k"))
	if len(replaced) != len(inserted) || revision(t, replaced) == revision(t, inserted) {
		t.Errorf("replaced by %v, want %v with a new revision", replaced, inserted)
	}
	own := raw(t, bson.D{{Key: "_id", Value: "own"}, {Key: store.Revision, Value: "17"}})
	testenv.Must(s.Insert(ctx, "c", own))(t)
	wantDocument(t, s, text("own"), own)
	testenv.WantError(t, "Swap of a document with a field of the same name", testenv.ErrOf(s.Swap(ctx, "c", own, valued(t, text("own"), 1))), store.ErrDocument)
}

func testSwapRefuses(t testing.TB, s store.Store) {
	key := text("k")
	insert(t, s, "c", key)
	old := get(t, s, "c", key)
	for name, test := range map[string]struct {
		old  bson.Raw
		new  any
		want error
	}{
		"no old":       {nil, old, store.ErrDocument},
		"bad old":      {old[:len(old)-1], old, store.ErrDocument},
		"old, no _id":  {raw(t, bson.D{}), old, store.ErrKey},
		"nil":          {old, nil, store.ErrDocument},
		"no BSON":      {old, bson.Raw("no BSON"), store.ErrDocument},
		"no _id":       {old, bson.D{{Key: "v", Value: 1}}, store.ErrKey},
		"another _id":  {old, bson.D{{Key: "_id", Value: "other"}}, store.ErrKey},
		"own revision": {old, bson.D{{Key: "_id", Value: key}, {Key: store.Revision, Value: 1}}, store.ErrDocument},
		"too large":    {old, ofSize(t, key, store.MaxSize), store.ErrDocument},
	} {
		if doc, err := s.Swap(t.Context(), "c", test.old, test.new); !errors.Is(err, test.want) || doc != nil {
			t.Errorf("%s: %v, %v, want %v", name, doc, err, test.want)
		}
	}
	wantDocument(t, s, key, old)
	testenv.WantError(t, "in a collection that does not exist", testenv.ErrOf(s.Swap(t.Context(), "missing", old, old)), store.ErrNotFound)
	testenv.WantError(t, "deletion in a collection that does not exist", deleteOld(t.Context(), s, "missing", old), store.ErrNotFound)
}

// testSwapMany passes swaps of every kind to one call, not sorted by key.
func testSwapMany(t testing.TB, s store.Store) {
	const n = 250
	docs := repeat(n, func(i int) any { return valued(t, store.IntKey(int64(i)), "old") })
	testenv.Must(s.InsertMany(t.Context(), "c", docs, nil))(t)
	stale := docs[7].(bson.Raw)
	testenv.NoError(t, s.Replace(t.Context(), "c", valued(t, store.IntKey(7), "newer")))
	var swaps []store.Swap
	for i := n - 1; i >= 0; i-- {
		swap := store.Swap{Old: docs[i].(bson.Raw)}
		if i%5 != 0 {
			swap.New = valued(t, store.IntKey(int64(i)), "new")
		}
		swaps = append(swaps, swap)
	}
	want := map[int]error{
		n - 1 - 7: store.ErrConflict,
		n:         store.ErrConflict, // twice
		n + 1:     store.ErrNotFound,
		n + 2:     store.ErrDocument,
		n + 3:     store.ErrKey,
	}
	swaps = append(swaps,
		store.Swap{Old: docs[9].(bson.Raw), New: valued(t, store.IntKey(9), "twice")},
		store.Swap{Old: valued(t, text("missing"), 1)},
		store.Swap{Old: stale, New: bson.Raw("no BSON")},
		store.Swap{Old: stale, New: bson.D{}})
	got, err := s.SwapMany(t.Context(), "c", swaps)
	var refused *store.BulkError
	if !errors.As(err, &refused) || len(refused.Refused) != len(want) {
		t.Fatalf("error %v, want %d refused", err, len(want))
	}
	for i, r := range refused.Refused {
		if !errors.Is(r.Err, want[r.Index]) || want[r.Index] == nil {
			t.Errorf("refused %d: %v, want %v", r.Index, r.Err, want[r.Index])
		}
		if i > 0 && r.Index <= refused.Refused[i-1].Index {
			t.Errorf("%d is refused after %d", r.Index, refused.Refused[i-1].Index)
		}
	}
	for i, swap := range swaps {
		switch {
		case want[i] != nil:
			if got[i] != nil {
				t.Errorf("refused swap %d has the result %v", i, got[i])
			}
		case swap.New == nil:
			if !bytes.Equal(got[i], swap.Old) {
				t.Errorf("deleted %v, result %v", swap.Old, got[i])
			}
			testenv.WantError(t, "Get of what was deleted", testenv.ErrOf(s.Get(t.Context(), "c", testenv.Must(store.KeyOf(swap.Old))(t))), store.ErrNotFound)
		default:
			if doc := get(t, s, "c", testenv.Must(store.KeyOf(swap.Old))(t)); !bytes.Equal(doc, got[i]) || doc.Lookup("v").StringValue() != "new" {
				t.Errorf("stored %v, result %v", doc, got[i])
			}
		}
	}
	if docs, err := s.SwapMany(t.Context(), "c", nil); len(docs) != 0 || err != nil {
		t.Errorf("SwapMany of nothing = %v, %v", docs, err)
	}
}
