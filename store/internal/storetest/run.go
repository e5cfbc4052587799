// Package storetest contains the tests that every engine of package store must pass. An engine
// calls [Run] in one of its tests.
package storetest

import (
	"bytes"
	"flag"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store"
)

// Options are the options of [Run]. A nil pointer means the zero value.
type Options struct {
	// Common leaves out what FerretDB 1 does not support: some BSON types, values and
	// names, and ordered inserts of many documents, which do not stop at a refused one.
	Common bool
}

// Run runs all tests, each as a subtest of t. For each subtest it calls open, which must return
// a store without collections, and closes that store afterwards. A nil o means the zero Options.
//
// If the flag -run is set and no subtest runs, because all are skipped or none has the name, Run
// fails: otherwise the test would pass without having tested anything.
func Run(t *testing.T, open func(t *testing.T) store.Store, o *Options) {
	var opts Options
	if o != nil {
		opts = *o
	}
	ran := false
	for _, c := range checks(opts) {
		t.Run(c.name, func(t *testing.T) {
			s := open(t) // skips the test if there is no server
			ran = true
			c.run(t, s)
		})
	}
	if selected := flag.Lookup("test.run").Value.String(); selected != "" && !ran {
		t.Errorf("-run %q runs no test of this suite: all are skipped, or none has this name; -v says why", selected)
	}
}

// check is one test of the suite. test fails t if s breaks a promise of [store.Store].
type check struct {
	name string
	test func(t testing.TB, s store.Store)
}

// run runs the test with s, which has no collections, and closes s.
func (c check) run(t testing.TB, s store.Store) {
	t.Cleanup(func() {
		for range 2 {
			testenv.WantError(t, "Close", s.Close(), nil)
		}
	})
	c.test(t, s)
}

// checks returns the tests of the suite.
func checks(o Options) []check {
	return []check{
		{"Insert", testInsert},
		{"InsertPutsIDInFront", testInsertPutsIDInFront},
		{"InsertDuplicate", testInsertDuplicate},
		{"InsertMany", testInsertMany},
		{"InsertManyRefused", testInsertManyRefused},
		{"InsertManyOrdered", testInsertManyOrdered},
		{"InsertManyOrderedTaken", func(t testing.TB, s store.Store) { testInsertManyOrderedTaken(t, s, o) }},
		{"Replace", testReplace},
		{"Swap", testSwap},
		{"SwapFirst", testSwapFirst},
		{"SwapNoticesEveryWrite", testSwapNoticesEveryWrite},
		{"SwapRefuses", testSwapRefuses},
		{"SwapMany", testSwapMany},
		{"SwapManyOfMany", func(t testing.TB, s store.Store) { testSwapManyOfMany(t, s, o) }},
		{"Revision", testRevision},
		{"Documents", func(t testing.TB, s store.Store) { testDocuments(t, s, o) }},
		{"LargestDocument", testLargestDocument},
		{"InvalidDocuments", testInvalidDocuments},
		{"InvalidKeys", testInvalidKeys},
		{"CollectionNames", func(t testing.TB, s store.Store) { testCollectionNames(t, s, o) }},
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
		{"EmptiedCollection", testEmptiedCollection},
		{"MissingCollection", testMissingCollection},
		{"GivenBytes", testGivenBytes},
		{"ReturnedBytes", testReturnedBytes},
		{"ManyGoroutines", testManyGoroutines},
		{"Cancelled", testCancelled},
		{"Closed", testClosed},
		{"SwapHistories", testSwapHistories},
		{"StateMachine", testStateMachine},
	}
}

// raw returns the BSON of doc.
func raw(t testing.TB, doc any) bson.Raw {
	t.Helper()
	return testenv.Must(bson.Marshal(doc))(t)
}

// insert inserts one document per key, with a field n.
func insert(t testing.TB, s store.Store, collection string, keys ...store.Key) {
	t.Helper()
	docs := make([]any, len(keys))
	for i, key := range keys {
		docs[i] = bson.D{{Key: "_id", Value: key}, {Key: "n", Value: int32(i)}}
	}
	testenv.Must(s.InsertMany(t.Context(), collection, docs, nil))(t)
}

// find returns the keys of the documents that q selects.
func find(t testing.TB, s store.Store, collection string, q store.Query) (keys []store.Key) {
	t.Helper()
	for doc, err := range s.Find(t.Context(), collection, q) {
		if err != nil {
			t.Fatalf("Find %+v: %v", q, err)
		}
		keys = append(keys, testenv.Must(store.KeyOf(doc))(t))
	}
	return keys
}

// wantDocument fails the test unless collection c has this document.
func wantDocument(t testing.TB, s store.Store, key store.Key, want bson.Raw) {
	t.Helper()
	if got := get(t, s, "c", key); !bytes.Equal(got, want) {
		t.Errorf("document %v of %d bytes:\n%.1000s, want %d bytes:\n%.1000s", key, len(got), got, len(want), want)
	}
}

// wantCount fails the test unless a collection has n documents.
func wantCount(t testing.TB, s store.Store, collection string, n int) {
	t.Helper()
	if got := testenv.Must(s.Count(t.Context(), collection, store.Range{}))(t); got != int64(n) {
		t.Errorf("collection %s has %d documents, want %d", collection, got, n)
	}
}

// repeat returns the n results of f.
func repeat[T any](n int, f func(i int) T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = f(i)
	}
	return all
}

// numbers returns the first n keys that are numbers, from 0.
func numbers(n int) []store.Key {
	return repeat(n, func(i int) store.Key { return store.IntKey(int64(i)) })
}

// text returns the key that is the string s.
func text(s string) store.Key {
	key, err := store.StringKey(s)
	if err != nil {
		panic(err)
	}
	return key
}

// float returns the key that is the number f.
func float(f float64) store.Key {
	key, err := store.FloatKey(f)
	if err != nil {
		panic(err)
	}
	return key
}
