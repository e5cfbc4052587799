package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

func testInsert(t testing.TB, s store.Store) {
	before := time.Now().Truncate(time.Second)
	key := testenv.Must(s.Insert(t.Context(), "c", bson.D{{Key: "name", Value: "a"}}))(t)
	id, ok := key.ID()
	if !ok || id.Time().Before(before) || id.Time().After(time.Now()) {
		t.Errorf("key %v, want an ObjectId of now", key)
	}
	got := testenv.Must(s.Get(t.Context(), "c", key))(t)
	want := raw(t, bson.D{{Key: "_id", Value: id}, {Key: "name", Value: "a"}})
	if !bytes.Equal(got, want) {
		t.Errorf("Get = %v, want %v", got, want)
	}
	testenv.WantError(t, "Get of another key", testenv.ErrOf(s.Get(t.Context(), "c", store.IDKey(objectid.New()))), store.ErrNotFound)
	testenv.WantError(t, "Get of the zero key", testenv.ErrOf(s.Get(t.Context(), "c", store.Key{})), store.ErrNotFound)
	type person struct {
		Name string
		ID   objectid.ID `bson:"_id,omitempty"`
	}
	testenv.WantError(t, "Insert of a struct without an id", testenv.ErrOf(s.Insert(t.Context(), "c", person{Name: "b"})), nil)
}

func testInsertPutsIDInFront(t testing.TB, s store.Store) {
	id := objectid.New()
	given := raw(t, bson.D{{Key: "a", Value: int32(1)}, {Key: "_id", Value: id}, {Key: "b", Value: bson.D{{Key: "_id", Value: "inner"}}}})
	keep := slices.Clone(given)
	key := testenv.Must(s.Insert(t.Context(), "c", given))(t)
	want := raw(t, bson.D{{Key: "_id", Value: id}, {Key: "a", Value: int32(1)}, {Key: "b", Value: bson.D{{Key: "_id", Value: "inner"}}}})
	wantDocument(t, s, key, want)
	if !bytes.Equal(given, keep) {
		t.Error("Insert has changed the document that it was given")
	}
}

func testInsertDuplicate(t testing.TB, s store.Store) {
	for _, id := range []any{objectid.New(), "name", int32(7), 1.5} {
		testenv.Must(s.Insert(t.Context(), "c", bson.D{{Key: "_id", Value: id}, {Key: "v", Value: "first"}}))(t)
		key, err := s.Insert(t.Context(), "c", bson.D{{Key: "_id", Value: id}, {Key: "v", Value: "second"}})
		if !errors.Is(err, store.ErrDuplicate) || !key.IsZero() {
			t.Errorf("Insert of %v again = %v, %v, want ErrDuplicate", id, key, err)
		}
		if _, err := s.Insert(t.Context(), "other", bson.D{{Key: "_id", Value: id}}); err != nil {
			t.Errorf("Insert of %v into another collection: %v", id, err)
		}
	}
	for doc, err := range s.Find(t.Context(), "c", store.Query{}) {
		if err != nil || doc.Lookup("v").StringValue() != "first" {
			t.Errorf("found %v, %v, want the first documents", doc, err)
		}
	}
}

func testInsertMany(t testing.TB, s store.Store) {
	const n = 2500
	docs := repeat(n, func(i int) any { return bson.D{{Key: "n", Value: int32(i)}} })
	keys := testenv.Must(s.InsertMany(t.Context(), "c", docs, nil))(t)
	if len(keys) != n {
		t.Fatalf("%d keys, want %d", len(keys), n)
	}
	i := 0
	for doc, err := range s.Find(t.Context(), "c", store.Query{}) {
		testenv.NoError(t, err)
		if got := doc.Lookup("n").Int32(); got != int32(i) {
			t.Fatalf("document %d is number %d: ids are not in the order of the documents", i, got)
		}
		if key, err := store.KeyOf(doc); key != keys[i] || err != nil {
			t.Fatalf("key of document %d = %v, %v, want %v", i, key, err, keys[i])
		}
		i++
	}
	if i != n {
		t.Errorf("found %d documents, want %d", i, n)
	}
	if keys, err := s.InsertMany(t.Context(), "c", nil, nil); len(keys) != 0 || err != nil {
		t.Errorf("InsertMany of nothing = %v, %v", keys, err)
	}
}

// refusedBatch returns 350 documents and the indexes of those that must be refused.
func refusedBatch() (docs []any, duplicates []int, invalid []int) {
	docs = repeat(350, func(i int) any { return bson.D{{Key: "_id", Value: int32(i)}} })
	duplicates = []int{50, 51, 120, 349}
	for _, i := range duplicates {
		docs[i] = bson.D{{Key: "_id", Value: int32(i / 10)}, {Key: "again", Value: true}}
	}
	docs[33] = bson.D{{Key: "_id", Value: nil}}
	docs[121] = bson.Raw("no BSON")
	return docs, duplicates, []int{33, 121}
}

func testInsertManyRefused(t testing.TB, s store.Store) {
	docs, duplicates, invalid := refusedBatch()
	keys, err := s.InsertMany(t.Context(), "c", docs, nil)
	var refused *store.BulkError
	if !errors.As(err, &refused) || !errors.Is(err, store.ErrDuplicate) || !errors.Is(err, store.ErrKey) || !errors.Is(err, store.ErrDocument) {
		t.Fatalf("error %v, want an InsertError of all three kinds", err)
	}
	want := slices.Sorted(slices.Values(slices.Concat(duplicates, invalid)))
	var got []int
	for _, r := range refused.Refused {
		got = append(got, r.Index)
		if isDuplicate := errors.Is(r.Err, store.ErrDuplicate); isDuplicate != slices.Contains(duplicates, r.Index) {
			t.Errorf("document %d: %v", r.Index, r.Err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("refused %v, want %v", got, want)
	}
	for i, key := range keys {
		if key.IsZero() != slices.Contains(want, i) {
			t.Errorf("key %d is %v", i, key)
		}
	}
	wantCount(t, s, "c", len(docs)-len(want))
}

func testInsertManyOrdered(t testing.TB, s store.Store) {
	docs, _, _ := refusedBatch()
	for i, test := range []struct {
		docs  []any
		index int
	}{
		{docs, 33},
		{docs[34:], 50 - 34 + 0}, // 5 is not there: see below
		{docs[130:], -1},
	} {
		collection := fmt.Sprintf("c%d", i)
		if i == 1 {
			insert(t, s, collection, store.IntKey(5))
		}
		if i == 2 {
			test.docs = append(slices.Clone(test.docs[:200]), bson.D{{Key: "_id", Value: int32(200)}}, bson.D{})
			test.index = 200
		}
		keys, err := s.InsertMany(t.Context(), collection, test.docs, &store.InsertOptions{Ordered: true})
		var refused *store.BulkError
		if !errors.As(err, &refused) || len(refused.Refused) != 1 || refused.Refused[0].Index != test.index {
			t.Fatalf("error %v, want document %d alone to be refused", err, test.index)
		}
		for i, key := range keys {
			if key.IsZero() != (i >= test.index) {
				t.Errorf("key %d is %v", i, key)
			}
		}
		want := test.index
		if i == 1 {
			want++
		}
		wantCount(t, s, collection, want)
	}
}

// testInsertManyOrderedTaken: an ordered InsertMany stops at a document whose key is taken,
// whether the keys after it are smaller or greater.
func testInsertManyOrderedTaken(t testing.TB, s store.Store, o Options) {
	sizes := []int{9, 99, 301}
	if o.Common {
		sizes = sizes[:2]
	}
	for _, n := range sizes {
		for _, descending := range []bool{false, true} {
			collection := fmt.Sprintf("c%d%v", n, descending)
			insert(t, s, collection, store.IntKey(int64(n/2)))
			docs := repeat(n, func(i int) any { return bson.D{{Key: "_id", Value: int32(i)}} })
			if descending {
				slices.Reverse(docs)
			}
			_, err := s.InsertMany(t.Context(), collection, docs, &store.InsertOptions{Ordered: true})
			var refused *store.BulkError
			if !errors.As(err, &refused) || len(refused.Refused) != 1 || refused.Refused[0].Index != n/2 || !errors.Is(err, store.ErrDuplicate) {
				t.Errorf("%d documents, descending %v: %v, want document %d alone to be refused", n, descending, err, n/2)
			}
			wantCount(t, s, collection, n/2+1)
		}
	}
}

func testReplace(t testing.TB, s store.Store) {
	key := testenv.Must(s.Insert(t.Context(), "c", bson.D{{Key: "v", Value: "old"}}))(t)
	insert(t, s, "c", text("bystander"))
	testenv.NoError(t, s.Replace(t.Context(), "c", bson.D{{Key: "v", Value: "new"}, {Key: "_id", Value: key}}))
	want := raw(t, bson.D{{Key: "_id", Value: key}, {Key: "v", Value: "new"}})
	wantDocument(t, s, key, want)
	wantCount(t, s, "c", 2)
	for _, test := range []struct {
		collection string
		doc        any
		want       error
	}{
		{"c", bson.D{{Key: "_id", Value: objectid.New()}}, store.ErrNotFound},
		{"missing", bson.D{{Key: "_id", Value: key}}, store.ErrNotFound},
		{"c", bson.D{{Key: "v", Value: 1}}, store.ErrKey},
		{"c", bson.D{{Key: "_id", Value: true}}, store.ErrKey},
		{"c", bson.Raw("no BSON"), store.ErrDocument},
	} {
		if err := s.Replace(t.Context(), test.collection, test.doc); !errors.Is(err, test.want) {
			t.Errorf("Replace(%s, %v): %v, want %v", test.collection, test.doc, err, test.want)
		}
	}
	wantCount(t, s, "c", 2)
}

func testManyGoroutines(t testing.TB, s store.Store) {
	const writers, each = 8, 50
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				key, err := s.Insert(t.Context(), "c", bson.D{{Key: "w", Value: int32(w)}, {Key: "i", Value: int32(i)}})
				if err != nil {
					t.Errorf("Insert: %v", err)
					return
				}
				testenv.WantError(t, "Get of what was inserted", testenv.ErrOf(s.Get(t.Context(), "c", key)), nil)
				for _, err := range s.Find(t.Context(), "c", store.Query{Limit: 3, Descending: true}) {
					if err != nil {
						t.Errorf("Find: %v", err)
					}
				}
			}
		})
	}
	group.Wait()
	wantCount(t, s, "c", writers*each)
}
