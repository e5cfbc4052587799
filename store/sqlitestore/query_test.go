package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

func insert(t *testing.T, s store.Store, collection string, value int32) store.Key {
	t.Helper()
	key, err := s.Insert(t.Context(), collection, bson.D{{Key: "n", Value: value}})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func checkGet(t *testing.T, s store.Store, collection string, key store.Key, want int32) {
	t.Helper()
	doc, err := s.Get(t.Context(), collection, key)
	if err != nil {
		t.Error(err)
	} else if got := doc.Lookup("n").Int32(); got != want {
		t.Errorf("Get in %s: n is %d, want %d", collection, got, want)
	}
}

// The number of prepared statements is bounded, also with many collections: the statements of the
// first collections are kept.
func TestManyCollections(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"), nil)
	const n = sqlitestore.MaxStatements + 20
	keys := make([]store.Key, n)
	for i := range keys {
		keys[i] = insert(t, s, fmt.Sprint("c", i), int32(i))
	}
	for range 2 {
		for i, key := range keys {
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() { checkGet(t, s, fmt.Sprint("c", i), key, int32(i)) })
			}
			all.Wait()
		}
	}
	if got := s.Statements(); got < sqlitestore.MaxStatements || got > sqlitestore.MaxStatements+3 {
		t.Errorf("%d statements are kept, want about %d", got, sqlitestore.MaxStatements)
	}
}

// A prepared statement must see the later changes of other stores, also of the schema.
func TestPreparedBeforeAChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, other := open(t, path, nil), open(t, path, nil)
	key := insert(t, s, "c", 1)
	checkGet(t, s, "c", key, 1)
	if err := other.Replace(t.Context(), "c", bson.D{{Key: "_id", Value: key.Value()}, {Key: "n", Value: int32(2)}}); err != nil {
		t.Fatal(err)
	}
	checkGet(t, s, "c", key, 2)
	insert(t, other, "d", 3)
	query(t, path, "VACUUM")
	checkGet(t, s, "c", key, 2)
	if err := other.Delete(t.Context(), "c", key); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "c", key); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get of a deleted document: %v", err)
	}
}

// A caller of Find who is slow inside the loop does not keep others from reading.
func TestFindWithinFind(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"), nil)
	insert(t, s, "c", 1)
	depth := 0
	var find func()
	find = func() {
		if depth++; depth == 50 {
			return
		}
		for _, err := range s.Find(t.Context(), "c", store.Query{}) {
			if err != nil {
				t.Fatal(err)
			}
			find()
		}
	}
	find()
	if depth != 50 {
		t.Errorf("%d sequences were open at once, want 50", depth)
	}
}

func TestWaitForATurnToRead(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"), nil)
	key := insert(t, s, "c", 1)
	release := s.OccupyReaders()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Get(ctx, "c", key); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Get with every reader at work: %v, want that its time is over", err)
	}
	release()
	checkGet(t, s, "c", key, 1)
}

// A query that may take long ends when its context is done.
func TestCountEndsWithItsContext(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"), nil)
	docs := make([]any, 50_000)
	for i := range docs {
		docs[i] = bson.D{}
	}
	if _, err := s.InsertMany(t.Context(), "c", docs, nil); err != nil {
		t.Fatal(err)
	}
	// On one processor no other goroutine runs in the millisecond that a Count takes.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))))
	// Some of the calls may end before their context is done, but not all.
	for range 1000 {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := s.Count(ctx, "c", store.Range{})
			ended <- err
		}()
		for s.Reading() == 0 && len(ended) == 0 {
			runtime.Gosched()
		}
		cancel()
		if err := <-ended; errors.Is(err, context.Canceled) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
	t.Error("no Count ended with its context")
}

// If the store is closed while Find is between two pages, the sequence ends with an error, so
// that its caller does not believe that it has seen all documents.
func TestFindEndsWhenTheStoreIsClosed(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"), nil)
	docs := make([]any, 3000)
	for i := range docs {
		docs[i] = bson.D{}
	}
	if _, err := s.InsertMany(t.Context(), "c", docs, nil); err != nil {
		t.Fatal(err)
	}
	n, last := 0, error(nil)
	for _, err := range s.Find(t.Context(), "c", store.Query{}) {
		n, last = n+1, err
		if n == 1 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !errors.Is(last, store.ErrClosed) || n > len(docs) {
		t.Errorf("Find ended with %v after %d documents, want ErrClosed", last, n)
	}
}
