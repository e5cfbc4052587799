package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store"
)

func testDocuments(t testing.TB, s store.Store, o Options) {
	for i, doc := range testenv.Documents(o.Common) {
		key, err := s.Insert(t.Context(), "c", doc)
		if err != nil {
			t.Errorf("Insert of document %d, %v: %v", i, doc, err)
			continue
		}
		wantDocument(t, s, key, doc)
	}
}

// ofSize returns a document of the given size in bytes.
func ofSize(t testing.TB, key store.Key, size int) bson.Raw {
	t.Helper()
	empty := len(raw(t, bson.D{{Key: "_id", Value: key}, {Key: "s", Value: ""}}))
	doc := raw(t, bson.D{{Key: "_id", Value: key}, {Key: "s", Value: strings.Repeat("x", size-empty)}})
	if len(doc) != size {
		t.Fatalf("document of %d bytes, want %d", len(doc), size)
	}
	return doc
}

func testLargestDocument(t testing.TB, s store.Store) {
	const most = store.MaxSize - store.RevisionSize
	key := text("large")
	doc := ofSize(t, key, most)
	testenv.Must(s.Insert(t.Context(), "c", doc))(t)
	wantDocument(t, s, key, doc)
	larger := func(name string, doc any, write func(doc any) error) {
		t.Helper()
		if err := write(doc); !errors.Is(err, store.ErrDocument) || !strings.Contains(err.Error(), fmt.Sprintf("want at most %d, or %d (16 MiB) with a revision", most, store.MaxSize)) {
			t.Errorf("%s: %v, want ErrDocument with the limits", name, err)
		}
	}
	into := func(doc any) error { _, err := s.Insert(t.Context(), "c", doc); return err }
	replace := func(doc any) error { return s.Replace(t.Context(), "c", doc) }
	larger("insert one byte more", ofSize(t, text("larger"), most+1), into)
	larger("insert more than 16 MiB", ofSize(t, text("larger"), store.MaxSize+1), into)
	larger("replace by one byte more", ofSize(t, key, most+1), replace)
	// Adding the _id makes this document too large.
	larger("too large with its _id", raw(t, bson.D{{Key: "s", Value: strings.Repeat("x", most-20)}}), into)

	// A swap makes the largest document without a revision as large as MaxSize.
	if doc = testenv.Must(s.Swap(t.Context(), "c", doc, doc))(t); len(doc) != store.MaxSize {
		t.Errorf("after a swap it has %d bytes, want %d", len(doc), store.MaxSize)
	}
	testenv.WantError(t, "replaced with its revision", replace(doc), nil)
	larger("swap for one byte more", ofSize(t, key, most+1), func(new any) error {
		_, err := s.Swap(t.Context(), "c", doc, new)
		return err
	})
	wantCount(t, s, "c", 1)
}

func testInvalidDocuments(t testing.TB, s store.Store) {
	good := raw(t, bson.D{{Key: "_id", Value: int32(1)}, {Key: "s", Value: "text"}, {Key: "b", Value: true}})
	bad := func(at int, b byte) bson.Raw {
		doc := slices.Clone(good)
		doc[at] = b
		return doc
	}
	var nested []byte
	for range 200 {
		size := len(nested) + 8
		nested = slices.Concat([]byte{byte(size), byte(size >> 8), 0, 0, 3, 'd', 0}, nested, []byte{0})
		if len(nested) == 8 {
			nested = []byte{5, 0, 0, 0, 0}
		}
	}
	docs := map[string]any{
		"nil":             nil,
		"a number":        7,
		"17 MiB":          ofSize(t, text("k"), 17<<20),
		"200 deep":        bson.Raw(nested),
		"empty":           bson.Raw{},
		"short":           good[:len(good)-1],
		"long":            append(slices.Clone(good), 0),
		"no end":          bad(len(good)-1, 1),
		"unknown type":    bad(4, 0x20),
		"string too long": bad(16, 0xFF),
		"not UTF-8":       bad(20, 0xFF),
		"boolean of 2":    bad(len(good)-2, 2),
		"two _id":         raw(t, bson.D{{Key: "_id", Value: 1}, {Key: "_id", Value: 2}}),
	}
	for name, doc := range docs {
		key, err := s.Insert(t.Context(), "c", doc)
		if !errors.Is(err, store.ErrDocument) || !key.IsZero() {
			t.Errorf("%s: %v, %v, want ErrDocument", name, key, err)
		}
	}
	wantCount(t, s, "c", 0)
}

func testInvalidKeys(t testing.TB, s store.Store) {
	for _, id := range []any{nil, true, time.Now(), bson.D{}, bson.A{1}, bson.Regex{}, math.NaN(), bson.Binary{Data: make([]byte, 12)}, bson.Decimal128{}, bson.MinKey{}, bson.Timestamp{}, bson.Symbol("s")} {
		key, err := s.Insert(t.Context(), "c", bson.D{{Key: "_id", Value: id}})
		if !errors.Is(err, store.ErrKey) || !key.IsZero() {
			t.Errorf("_id %v: %v, %v, want ErrKey", id, key, err)
		}
	}
}

func testCollectionNames(t testing.TB, s store.Store, o Options) {
	for _, name := range []string{"", "a\x00b", "a$b", "$cmd", strings.Repeat("x", 300), strings.Repeat("x", store.MaxName+1), "\xff", ".a", "a.", "a..b", "system.users"} {
		errs := calls(t.Context(), s, name)
		delete(errs, "Collections")
		for call, err := range errs {
			if !errors.Is(err, store.ErrCollection) {
				t.Errorf("%s with the collection name %.99q: %v, want ErrCollection", call, name, err)
			}
		}
	}
	names := []string{"a.b", "events", "Events", "EVENTS", "^events", "sqlite_x", "SQLite_x", "^0sqlite_x", "with space", "quo'te", "Ärger", "ärger", "a;drop", "1", "z", "Z", strings.Repeat("x", 150)}
	if !o.Common {
		names = append(names, `quo"te`)
	}
	for i, name := range names {
		insert(t, s, name, store.IntKey(int64(i)))
	}
	slices.Sort(names)
	if got := testenv.Must(s.Collections(t.Context()))(t); !slices.Equal(got, names) {
		t.Errorf("Collections = %q, want %q", got, names)
	}
	for _, name := range names {
		if keys := find(t, s, name, store.Query{}); len(keys) != 1 {
			t.Errorf("collection %q has keys %v, want one", name, keys)
		}
	}
}

func testMissingCollection(t testing.TB, s store.Store) {
	insert(t, s, "other", store.IntKey(1))
	if keys := find(t, s, "missing", store.Query{}); keys != nil {
		t.Errorf("Find = %v, want nothing", keys)
	}
	if n, err := s.Count(t.Context(), "missing", store.Range{}); n != 0 || err != nil {
		t.Errorf("Count = %d, %v", n, err)
	}
	if n, err := s.DeleteRange(t.Context(), "missing", store.Range{}); n != 0 || err != nil {
		t.Errorf("DeleteRange = %d, %v", n, err)
	}
	testenv.WantError(t, "Delete", s.Delete(t.Context(), "missing", store.IntKey(1)), store.ErrNotFound)
	testenv.WantError(t, "Get", testenv.ErrOf(s.Get(t.Context(), "missing", store.IntKey(1))), store.ErrNotFound)
}

// calls calls every method except Close, and returns their errors by the name of the method.
func calls(ctx context.Context, s store.Store, collection string) map[string]error {
	errs := map[string]error{}
	doc := bson.D{{Key: "_id", Value: int32(1)}}
	_, errs["Insert"] = s.Insert(ctx, collection, doc)
	_, errs["InsertMany"] = s.InsertMany(ctx, collection, []any{doc}, nil)
	errs["Replace"] = s.Replace(ctx, collection, doc)
	old, err := bson.Marshal(doc)
	if err != nil {
		panic(err)
	}
	_, errs["Swap"] = s.Swap(ctx, collection, old, doc)
	_, errs["SwapMany"] = s.SwapMany(ctx, collection, []store.Swap{{Old: old}})
	_, errs["Get"] = s.Get(ctx, collection, store.IntKey(1))
	_, errs["GetMany"] = s.GetMany(ctx, collection, []store.Key{store.IntKey(1)})
	_, errs["FindMany"] = s.FindMany(ctx, collection, []store.Range{{}}, 1)
	_, errs["Count"] = s.Count(ctx, collection, store.Range{})
	errs["Delete"] = s.Delete(ctx, collection, store.IntKey(1))
	_, errs["DeleteRange"] = s.DeleteRange(ctx, collection, store.Range{})
	_, errs["Collections"] = s.Collections(ctx)
	errs["Find"] = nil // unless it yields
	for _, err := range s.Find(ctx, collection, store.Query{}) {
		errs["Find"] = err
	}
	return errs
}

func testCancelled(t testing.TB, s store.Store) {
	insert(t, s, "c", store.IntKey(7))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range calls(ctx, s, "c") {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", name, err)
		}
	}
	if keys := find(t, s, "c", store.Query{}); len(keys) != 1 {
		t.Errorf("afterwards keys %v, want the one of before", keys)
	}
}

func testClosed(t testing.TB, s store.Store) {
	insert(t, s, "c", store.IntKey(7))
	testenv.NoError(t, s.Close())
	for name, err := range calls(t.Context(), s, "c") {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s: %v, want ErrClosed", name, err)
		}
	}
}
