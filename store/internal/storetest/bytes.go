package storetest

import (
	"bytes"
	"iter"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store"
)

// testGivenBytes: a store neither changes nor keeps the bytes that it is given.
func testGivenBytes(t testing.TB, s store.Store) {
	ctx := t.Context()
	for name, write := range map[string]func(key store.Key, doc bson.Raw) error{
		"Insert":     func(_ store.Key, doc bson.Raw) error { _, err := s.Insert(ctx, "new", doc); return err },
		"InsertMany": func(_ store.Key, doc bson.Raw) error { _, err := s.InsertMany(ctx, "new", []any{doc}, nil); return err },
		"Replace":    func(_ store.Key, doc bson.Raw) error { return s.Replace(ctx, "c", doc) },
		"Swap": func(key store.Key, doc bson.Raw) error {
			_, err := s.Swap(ctx, "c", get(t, s, "c", key), doc)
			return err
		},
		"SwapMany": func(key store.Key, doc bson.Raw) error {
			_, err := s.SwapMany(ctx, "c", []store.Swap{{Old: get(t, s, "c", key), New: doc}})
			return err
		},
	} {
		key := text(name)
		insert(t, s, "c", key)
		collection := "c"
		if name == "Insert" || name == "InsertMany" {
			collection = "new"
		}
		for kind, given := range map[string]bson.Raw{
			"without a revision": valued(t, key, name),
			"with a revision":    testenv.Must(s.Swap(ctx, "c", get(t, s, "c", key), valued(t, key, 1)))(t),
		} {
			keep := slices.Clone(given)
			if err := write(key, given); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !bytes.Equal(given, keep) {
				t.Errorf("%s has changed the document %s that it was given", name, kind)
			}
			want := slices.Clone(get(t, s, collection, key))
			clear(given)
			if got := get(t, s, collection, key); !bytes.Equal(got, want) {
				t.Errorf("after %s of a document %s the store has %v, want %v: it keeps the caller's bytes, not a copy", name, kind, got, want)
			}
			if collection == "new" {
				testenv.NoError(t, s.Delete(ctx, "new", key))
			}
		}
	}
}

// testReturnedBytes: a returned document belongs to the caller, including its slice's spare
// capacity. It shares no bytes with the store or with another document of the same call.
func testReturnedBytes(t testing.TB, s store.Store) {
	ctx := t.Context()
	a, b := text("a"), text("b")
	insert(t, s, "c", a, b)
	swaps := func() []store.Swap {
		return []store.Swap{{Old: get(t, s, "c", a), New: valued(t, a, 1)}, {Old: get(t, s, "c", b), New: valued(t, b, 2)}}
	}
	for name, read := range map[string]func() ([]bson.Raw, error){
		"Get":     func() ([]bson.Raw, error) { doc, err := s.Get(ctx, "c", a); return []bson.Raw{doc}, err },
		"GetMany": func() ([]bson.Raw, error) { return s.GetMany(ctx, "c", []store.Key{a, b, a, a}) },
		"Find":    func() ([]bson.Raw, error) { return first(2, s.Find(ctx, "c", store.Query{})) },
		"FindMany": func() ([]bson.Raw, error) {
			docs, err := s.FindMany(ctx, "c", make([]store.Range, 2), 0)
			return slices.Concat(docs...), err
		},
		"Swap": func() ([]bson.Raw, error) {
			doc, err := s.Swap(ctx, "c", swaps()[0].Old, swaps()[0].New)
			return []bson.Raw{doc}, err
		},
		"SwapMany": func() ([]bson.Raw, error) { return s.SwapMany(ctx, "c", swaps()) },
	} {
		docs := testenv.Must(read())(t)
		var returned []bson.Raw
		for _, doc := range docs {
			returned = append(returned, slices.Clone(doc))
		}
		wantA, wantB := slices.Clone(get(t, s, "c", a)), slices.Clone(get(t, s, "c", b))
		for i, doc := range docs {
			if !bytes.Equal(doc, returned[i]) {
				t.Errorf("%s returned documents that share bytes: a change of one changes document %d too", name, i)
				break
			}
			clear(doc[:cap(doc)])
		}
		if !bytes.Equal(get(t, s, "c", a), wantA) || !bytes.Equal(get(t, s, "c", b), wantB) {
			t.Errorf("%s returned the store's own bytes, not a copy: a change of them changes the store", name)
		}
	}
}

// first returns the first n documents of a sequence.
func first(n int, seq iter.Seq2[bson.Raw, error]) (docs []bson.Raw, err error) {
	for doc, err := range seq {
		if docs = append(docs, doc); err != nil || len(docs) == n {
			return docs, err
		}
	}
	return docs, nil
}
