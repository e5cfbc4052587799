package storetest

import (
	"context"
	"errors"
	"iter"
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
	t          testing.TB
	s          store.Store
	collection string
	came       chan store.Key
	done       chan error // the error that ended Watch
	ended      sync.Once  // whether ends was called
	cancel     context.CancelFunc
}

func startWatch(t testing.TB, s store.Store, collection string, r store.Range) *watcher {
	ctx, cancel := context.WithCancel(t.Context())
	w := &watcher{t: t, s: s, collection: collection, came: make(chan store.Key, 100_000), done: make(chan error, 1), cancel: cancel}
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
		w.done <- last
	}()
	t.Cleanup(func() { w.ends(cancel, context.Canceled) })
	return w
}

// ends checks that act ends Watch with the error want. Further calls do nothing.
func (w *watcher) ends(act func(), want error) {
	w.t.Helper()
	w.ended.Do(func() {
		act()
		select {
		case err := <-w.done:
			if !errors.Is(err, want) {
				w.t.Errorf("Watch ended with %v, want %v", err, want)
			}
		case <-time.After(limit):
			w.t.Errorf("Watch has not ended after %v, want it to end with %v", limit, want)
		}
	})
}

// receive returns the next key.
func (w *watcher) receive() store.Key {
	w.t.Helper()
	select {
	case key := <-w.came:
		return key
	case <-time.After(limit):
		w.t.Fatalf("Watch has not returned another document after %v", limit)
	}
	return store.Key{}
}

// expect waits for these keys, in this order.
func (w *watcher) expect(keys ...store.Key) {
	w.t.Helper()
	for _, want := range keys {
		if got := w.receive(); got != want {
			w.t.Fatalf("Watch returned %v, want %v", got, want)
		}
	}
}

// nothing checks that Watch has returned no more than was expected: it inserts a document
// with the key last, and that must be the next.
func (w *watcher) nothing(last store.Key) {
	w.t.Helper()
	insert(w.t, w.s, w.collection, last)
	w.expect(last)
	w.ends(w.cancel, context.Canceled)
}

func ids(n int) []store.Key {
	made := make([]objectid.ID, n)
	objectid.Fill(made)
	keys := make([]store.Key, n)
	for i, id := range made {
		keys[i] = store.IDKey(id)
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
	must[bson.Raw](t)(s.Swap(t.Context(), "c", get(t, s, "c", keys[1]), valued(t, keys[1], 1)))
	w.nothing(text("last"))
	fromNothing.nothing(text("last"))
}

// testWatchLateSmallerKeys commits documents whose ids are smaller than those
// that the watcher has seen: by an hour, and by one.
func testWatchLateSmallerKeys(t testing.TB, s store.Store) {
	now := objectid.New()
	w := startWatch(t, s, "c", store.Range{})
	insert(t, s, "c", store.IDKey(now))
	w.expect(store.IDKey(now))
	for i := range 5 {
		early := objectid.MinAt(now.Time().Add(-time.Hour))
		early[objectid.Size-1] = byte(200 - i)
		insert(t, s, "c", store.IDKey(early))
		w.expect(store.IDKey(early))
		just := now
		just[4] -= byte(i + 1) // may wrap: then it is greater, which is as good
		insert(t, s, "c", store.IDKey(just))
		w.expect(store.IDKey(just))
	}
	insert(t, s, "c", text("late"), store.IntKey(5))
	w.expect(store.IntKey(5), text("late"))
	w.nothing(store.IntKey(6))
}

func testWatchRange(t testing.TB, s store.Store) {
	w := startWatch(t, s, "c", store.Range{From: store.IntKey(10), To: store.IntKey(20)})
	insert(t, s, "c", store.IntKey(9), store.IntKey(10))
	w.expect(store.IntKey(10))
	insert(t, s, "c", store.IntKey(20), store.IntKey(12))
	insert(t, s, "c", text("x"), store.IntKey(19), store.IntKey(11))
	got := []store.Key{w.receive(), w.receive(), w.receive()}
	slices.SortFunc(got, store.Key.Compare)
	if want := []store.Key{store.IntKey(11), store.IntKey(12), store.IntKey(19)}; !slices.Equal(got, want) {
		t.Errorf("Watch returned %v, want %v", got, want)
	}
	w.nothing(store.IntKey(13))
}

// testWatchManyWriters makes ids first and commits them later, from several
// goroutines at once, as it happens in production.
func testWatchManyWriters(t testing.TB, s store.Store) {
	const writers, each = 6, 60
	insert(t, s, "c", store.IntKey(0))
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
	for len(seen) < len(keys)+1 {
		seen[w.receive()]++
	}
	group.Wait()
	w.nothing(store.IntKey(1))
	for key, n := range seen {
		if n != 1 {
			t.Errorf("Watch returned %v %d times", key, n)
		}
	}
}

// testWatchWhileReading writes at every place of a collection while Watch still reads what
// was there when it began.
func testWatchWhileReading(t testing.TB, s store.Store) {
	const n = 3000
	there := make([]store.Key, n)
	for i := range there {
		there[i] = store.IntKey(int64(10 * i))
	}
	insert(t, s, "c", there...)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	next, stop := iter.Pull2(s.Watch(ctx, "c", store.Range{}))
	defer stop()
	seen, want := map[store.Key]int{}, n
	last := text("last")
	for i, ending := 0, false; seen[last] == 0; i++ {
		doc, err, _ := next()
		if err != nil {
			t.Fatalf("Watch has returned %d of %d documents: %v", len(seen), want, err)
		}
		seen[must[store.Key](t)(store.KeyOf(doc))]++
		if i%700 == 350 && i < n {
			for _, at := range []int64{0, int64(i), n - 1} {
				insert(t, s, "c", store.IntKey(10*at+1+int64(i/700)))
				want++
			}
			for _, changed := range []store.Key{there[i], there[n-1]} {
				if err := s.Replace(ctx, "c", valued(t, changed, i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(seen) == want && !ending { // a document that comes again comes before the last
			insert(t, s, "c", last)
			ending = true
		}
	}
	for key, times := range seen {
		if times != 1 {
			t.Errorf("Watch returned %v %d times", key, times)
		}
	}
}

// testWatchReinsertion: a document that is deleted and inserted again comes again.
func testWatchReinsertion(t testing.TB, s store.Store, o Options) {
	if o.Polling {
		return
	}
	ctx, key := t.Context(), store.IntKey(1)
	w := startWatch(t, s, "c", store.Range{})
	insert(t, s, "c", key)
	w.expect(key)
	for name, remove := range map[string]func() error{
		"Delete":      func() error { return s.Delete(ctx, "c", key) },
		"SwapMany":    func() error { return deleteOld(ctx, s, "c", get(t, s, "c", key)) },
		"DeleteRange": func() error { _, err := s.DeleteRange(ctx, "c", store.Range{To: store.IntKey(2)}); return err },
	} {
		if err := remove(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		insert(t, s, "c", key)
		w.expect(key)
	}
	w.nothing(store.IntKey(2))
}

func testWatchEndsWithClose(t testing.TB, s store.Store) {
	insert(t, s, "c", store.IntKey(1))
	w := startWatch(t, s, "c", store.Range{})
	waiting := startWatch(t, s, "missing", store.Range{})
	w.expect(store.IntKey(1))
	closing := func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	w.ends(closing, store.ErrClosed)
	waiting.ends(closing, store.ErrClosed)
}
