package storetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// watcher collects what Watch returns.
type watcher struct {
	t    testing.TB
	came chan store.Key
	stop func() // ends Watch and waits for it
}

func startWatch(t testing.TB, s store.Store, collection string, r store.Range) *watcher {
	ctx, cancel := context.WithCancel(t.Context())
	w := &watcher{t: t, came: make(chan store.Key, 100_000)}
	done := make(chan error, 1)
	go func() {
		var last error
		for doc, err := range s.Watch(ctx, collection, r) {
			if last = err; err != nil {
				break
			}
			key, err := store.KeyOf(doc)
			if err != nil {
				t.Errorf("Watch returned %v: %v", doc, err)
			}
			w.came <- key
		}
		done <- last
	}()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Watch ended with %v, want context.Canceled", err)
		}
	})
	t.Cleanup(w.stop)
	return w
}

// expect waits for these keys, in this order.
func (w *watcher) expect(keys ...store.Key) {
	w.t.Helper()
	for _, want := range keys {
		select {
		case got := <-w.came:
			if got != want {
				w.t.Fatalf("Watch returned %v, want %v", got, want)
			}
		case <-time.After(limit):
			w.t.Fatalf("Watch has not returned %v after %v", want, limit)
		}
	}
}

// nothing checks that Watch has returned no more than was expected.
func (w *watcher) nothing() {
	w.t.Helper()
	w.stop()
	select {
	case key := <-w.came:
		w.t.Errorf("Watch returned %v besides", key)
	default:
	}
}

func ids(n int) []store.Key {
	made := make([]objectid.ID, n)
	objectid.Fill(made)
	keys := make([]store.Key, n)
	for i, id := range made {
		keys[i] = store.ID(id)
	}
	return keys
}

func testWatchBeginsWithWhatIsThere(t testing.TB, s store.Store) {
	keys := ids(8)
	insert(t, s, "c", keys[:3]...)
	w := startWatch(t, s, "c", store.Range{})
	fromNothing := startWatch(t, s, "later", store.Range{})
	w.expect(keys[:3]...)
	insert(t, s, "other", keys[3])
	for _, key := range keys[4:] {
		insert(t, s, "c", key)
		w.expect(key)
	}
	insert(t, s, "later", keys...)
	fromNothing.expect(keys...)
	if err := s.Replace(t.Context(), "c", bson.D{{Key: "_id", Value: keys[0]}, {Key: "new", Value: true}}); err != nil {
		t.Fatal(err)
	}
	last := ids(1)
	insert(t, s, "c", last...)
	w.expect(last...)
	w.nothing()
	fromNothing.nothing()
}

// testWatchLateSmallerKeys commits documents whose ids are smaller than those
// that the watcher has seen: by an hour, and by one.
func testWatchLateSmallerKeys(t testing.TB, s store.Store) {
	now := objectid.New()
	w := startWatch(t, s, "c", store.Range{})
	insert(t, s, "c", store.ID(now))
	w.expect(store.ID(now))
	for i := range 5 {
		early := objectid.At(now.Time().Add(-time.Hour))
		early[objectid.Size-1] = byte(200 - i)
		insert(t, s, "c", store.ID(early))
		w.expect(store.ID(early))
		just := now
		just[4] -= byte(i + 1) // may wrap: then it is greater, which is as good
		insert(t, s, "c", store.ID(just))
		w.expect(store.ID(just))
	}
	insert(t, s, "c", text("late"), store.Int(5))
	w.expect(store.Int(5), text("late"))
	w.nothing()
}

func testWatchRange(t testing.TB, s store.Store) {
	w := startWatch(t, s, "c", store.Range{From: store.Int(10), To: store.Int(20)})
	insert(t, s, "c", store.Int(9), store.Int(10))
	w.expect(store.Int(10))
	insert(t, s, "c", store.Int(20), store.Int(12))
	insert(t, s, "c", text("x"), store.Int(19), store.Int(11))
	got := []store.Key{<-w.came, <-w.came, <-w.came}
	slices.SortFunc(got, store.Key.Compare)
	if want := []store.Key{store.Int(11), store.Int(12), store.Int(19)}; !slices.Equal(got, want) {
		t.Errorf("Watch returned %v, want %v", got, want)
	}
	w.nothing()
}

// testWatchManyWriters makes ids first and commits them later, from several
// goroutines at once, as it happens in production.
func testWatchManyWriters(t testing.TB, s store.Store) {
	const writers, each = 6, 60
	insert(t, s, "c", store.Int(0))
	w := startWatch(t, s, "c", store.Range{})
	keys := ids(writers * each)
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			for j := range each {
				key := keys[j*writers+(i*7+j)%writers]
				if _, err := s.Insert(t.Context(), "c", bson.D{{Key: "_id", Value: key}}); err != nil {
					t.Errorf("Insert: %v", err)
				}
			}
		})
	}
	seen := map[store.Key]int{}
	timeout := time.After(limit)
	for len(seen) < len(keys)+1 {
		select {
		case key := <-w.came:
			seen[key]++
		case <-timeout:
			t.Fatalf("Watch has returned %d of %d documents after %v", len(seen), len(keys)+1, limit)
		}
	}
	group.Wait()
	w.nothing()
	for key, n := range seen {
		if n != 1 {
			t.Errorf("Watch returned %v %d times", key, n)
		}
	}
}
