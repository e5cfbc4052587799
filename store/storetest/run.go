// Package storetest is the test suite that every engine of package store
// passes. An engine's own test calls [Run].
package storetest

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// Options tune the suite. The zero value, like a nil pointer, is ready to use.
type Options struct {
	// Common leaves out what FerretDB 1 does not take: some BSON types, values and
	// names, and an ordered call of many documents, which goes on after a refusal.
	Common bool
}

// Run runs the suite. It calls open, which returns a store without collections,
// once for each subtest; the suite closes what open returns. A nil o means
// the zero Options.
func Run(t *testing.T, open func(t *testing.T) store.Store, o *Options) {
	var opts Options
	if o != nil {
		opts = *o
	}
	for _, sub := range []struct {
		name  string
		check func(*testing.T, store.Store)
	}{
		{"Insert", testInsert},
		{"InsertPutsIDInFront", testInsertPutsIDInFront},
		{"InsertDuplicate", testInsertDuplicate},
		{"InsertMany", testInsertMany},
		{"InsertManyRefused", testInsertManyRefused},
		{"InsertManyOrdered", testInsertManyOrdered},
		{"InsertManyOrderedTaken", func(t *testing.T, s store.Store) { testInsertManyOrderedTaken(t, s, opts) }},
		{"Replace", testReplace},
		{"Swap", testSwap},
		{"SwapFirst", testSwapFirst},
		{"SwapNoticesEveryWrite", testSwapNoticesEveryWrite},
		{"SwapRefuses", testSwapRefuses},
		{"SwapMany", testSwapMany},
		{"SwapManyOfMany", func(t *testing.T, s store.Store) { testSwapManyOfMany(t, s, opts) }},
		{"Revision", testRevision},
		{"Documents", func(t *testing.T, s store.Store) { testDocuments(t, s, opts) }},
		{"LargestDocument", testLargestDocument},
		{"InvalidDocuments", testInvalidDocuments},
		{"InvalidKeys", testInvalidKeys},
		{"CollectionNames", func(t *testing.T, s store.Store) { testCollectionNames(t, s, opts) }},
		{"KeyOrder", testKeyOrder},
		{"NumbersAreEqualByValue", testNumbersAreEqualByValue},
		{"GetMany", testGetMany},
		{"Find", testFind},
		{"FindOfMany", testFindOfMany},
		{"FindMany", testFindMany},
		{"FindInsideFind", testFindInsideFind},
		{"FindByTime", testFindByTime},
		{"Delete", testDelete},
		{"DeleteRange", testDeleteRange},
		{"Drop", testDrop},
		{"MissingCollection", testMissingCollection},
		{"WatchBeginsWithWhatIsThere", testWatchBeginsWithWhatIsThere},
		{"WatchLateSmallerKeys", testWatchLateSmallerKeys},
		{"WatchRange", testWatchRange},
		{"WatchManyWriters", testWatchManyWriters},
		{"ManyGoroutines", testManyGoroutines},
		{"Cancelled", testCancelled},
		{"Closed", testClosed},
		{"SwapHistories", testSwapHistories},
		{"StateMachine", testStateMachine},
	} {
		t.Run(sub.name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
				if err := s.Close(); err != nil {
					t.Errorf("Close again: %v", err)
				}
			})
			sub.check(t, s)
		})
	}
}

// limit is how long a test waits for what must come.
const limit = 60 * time.Second

// must returns a function that ends the test if err is not nil.
func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// raw returns the BSON of doc.
func raw(t *testing.T, doc any) bson.Raw {
	t.Helper()
	return must[[]byte](t)(bson.Marshal(doc))
}

// insert stores documents of one field n with these keys.
func insert(t *testing.T, s store.Store, collection string, keys ...store.Key) {
	t.Helper()
	docs := make([]any, len(keys))
	for i, key := range keys {
		docs[i] = bson.D{{Key: "_id", Value: key}, {Key: "n", Value: int32(i)}}
	}
	must[[]store.Key](t)(s.InsertMany(t.Context(), collection, docs, nil))
}

// find returns the keys of what q finds.
func find(t *testing.T, s store.Store, collection string, q store.Query) (keys []store.Key) {
	t.Helper()
	for doc, err := range s.Find(t.Context(), collection, q) {
		if err != nil {
			t.Fatalf("Find %+v: %v", q, err)
		}
		keys = append(keys, must[store.Key](t)(store.KeyOf(doc)))
	}
	return keys
}

// text returns the key that is the string s.
func text(s string) store.Key {
	key, err := store.String(s)
	if err != nil {
		panic(err)
	}
	return key
}

// float returns the key that is the number f.
func float(f float64) store.Key {
	key, err := store.Float(f)
	if err != nil {
		panic(err)
	}
	return key
}
