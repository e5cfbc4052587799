package registry_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// errStore is what a store says that cannot be reached.
var errStore = errors.New("the store went away")

type fault int

const (
	none       fault = iota
	refused          // nothing is done
	lostAnswer       // it is done, and an error returned
	hangs            // until the context ends
)

// faulty is a real store behind a connection that fails when it is told to.
type faulty struct {
	store.Store
	fail func(call int, op string) fault

	mu    sync.Mutex
	calls int
	ops   []string
}

func (f *faulty) next(op string) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	call := f.calls
	f.calls++
	f.ops = append(f.ops, op)
	return f.fail(call, op)
}

// through calls do as the fault of this call says.
func through[T any](ctx context.Context, f *faulty, op string, do func() (T, error)) (out T, err error) {
	switch f.next(op) {
	case refused:
		return out, fmt.Errorf("%s: %w", op, errStore)
	case lostAnswer:
		_, _ = do()
		return out, fmt.Errorf("%s: %w", op, errStore)
	case hangs:
		<-ctx.Done()
		return out, fmt.Errorf("%s: %w", op, ctx.Err())
	}
	return do()
}

func (f *faulty) InsertMany(ctx context.Context, c string, docs []any, o *store.InsertOptions) ([]store.Key, error) {
	return through(ctx, f, "InsertMany "+c, func() ([]store.Key, error) { return f.Store.InsertMany(ctx, c, docs, o) })
}

func (f *faulty) Replace(ctx context.Context, c string, doc any) error {
	_, err := through(ctx, f, "Replace "+c, func() (int, error) { return 0, f.Store.Replace(ctx, c, doc) })
	return err
}

func (f *faulty) SwapMany(ctx context.Context, c string, swaps []store.Swap) ([]bson.Raw, error) {
	return through(ctx, f, "SwapMany "+c, func() ([]bson.Raw, error) { return f.Store.SwapMany(ctx, c, swaps) })
}

func (f *faulty) GetMany(ctx context.Context, c string, keys []store.Key) ([]bson.Raw, error) {
	return through(ctx, f, "GetMany "+c, func() ([]bson.Raw, error) { return f.Store.GetMany(ctx, c, keys) })
}

func (f *faulty) FindMany(ctx context.Context, c string, ranges []store.Range, limit int) ([][]bson.Raw, error) {
	return through(ctx, f, "FindMany "+c, func() ([][]bson.Raw, error) { return f.Store.FindMany(ctx, c, ranges, limit) })
}

func (f *faulty) Get(ctx context.Context, c string, k store.Key) (bson.Raw, error) {
	return through(ctx, f, "Get "+c, func() (bson.Raw, error) { return f.Store.Get(ctx, c, k) })
}

func (f *faulty) Count(ctx context.Context, c string, r store.Range) (int64, error) {
	return through(ctx, f, "Count "+c, func() (int64, error) { return f.Store.Count(ctx, c, r) })
}

func (f *faulty) Delete(ctx context.Context, c string, k store.Key) error {
	_, err := through(ctx, f, "Delete "+c, func() (int, error) { return 0, f.Store.Delete(ctx, c, k) })
	return err
}

func (f *faulty) DeleteRange(ctx context.Context, c string, r store.Range) (int64, error) {
	return through(ctx, f, "DeleteRange "+c, func() (int64, error) { return f.Store.DeleteRange(ctx, c, r) })
}

func (f *faulty) Find(ctx context.Context, c string, q store.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		seq, err := through(ctx, f, "Find "+c, func() (iter.Seq2[bson.Raw, error], error) { return f.Store.Find(ctx, c, q), nil })
		if err != nil {
			yield(nil, err)
			return
		}
		seq(yield)
	}
}

// The store fails at each call in turn, in three ways, while a member registers,
// sends heartbeats and ends. Whatever happens, the error says which call it was, no block
// is given twice, the ids that were made are traced to the member or to nobody,
// and once the store works again the member is complete.
func TestStoreFailsAtEveryCall(t *testing.T) {
	t.Parallel()
	for _, kind := range []fault{refused, lostAnswer, hangs} {
		for _, offline := range []bool{false, true} {
			for at := range 10 {
				t.Run(fmt.Sprintf("fault %d offline %v call %d", kind, offline, at), func(t *testing.T) {
					t.Parallel()
					failAt(t, kind, offline, at)
				})
			}
		}
	}
}

func failAt(t *testing.T, kind fault, offline bool, at int) {
	inner := newStore(t)
	f := &faulty{Store: inner, fail: func(call int, _ string) fault {
		if call == at {
			return kind
		}
		return none
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	m, err := register(ctx, f, options{Offline: offline, Interval: 100 * time.Millisecond})
	r := registry.New(inner, nil)
	if err != nil {
		if offline {
			t.Fatalf("Register: %v, want a member that goes on", err)
		}
		if !errors.Is(err, errStore) && !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "registry: ") {
			t.Errorf("Register: %q does not say what failed", err)
		}
		return
	}
	defer finish(t, m)
	id := m.Generator().New()
	f.mu.Lock()
	done := f.calls
	f.mu.Unlock()
	eventually(t, "two more heartbeats", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.calls >= max(at, done)+8
	})
	eventually(t, "the member is complete", func() bool {
		tr := trace(t, r, id)
		return m.Err() == nil && tr.Verdict == registry.Known && tr.Processes[0].GPID == m.GPID()
	})
	if v, b := m.Process().Value, m.Process().Block; v != b {
		t.Errorf("value %s, block %s", v, b)
	}
	if err := m.End(context.Background(), "done"); err != nil {
		t.Error(err)
	}
	h := all(t, r.History(context.Background(), m.Key(), time.Time{}, time.Time{}))
	if got := m.Process().Last.Count; int64(len(h)) != got {
		t.Errorf("%d samples are stored of %d heartbeats", len(h), got)
	}
}

// A member that is cut off goes on, keeps its samples, and is complete again when
// it is back. Meanwhile nobody else is given its block.
func TestCutOffFromTheStore(t *testing.T) {
	t.Parallel()
	inner := newStore(t)
	var mu sync.Mutex
	cut := false
	f := &faulty{Store: inner, fail: func(int, string) fault {
		mu.Lock()
		defer mu.Unlock()
		if cut {
			return refused
		}
		return none
	}}
	set := func(v bool) {
		mu.Lock()
		defer mu.Unlock()
		cut = v
	}
	m := join(t, f, options{Interval: 100 * time.Millisecond})
	r := registry.New(inner, nil)
	set(true)
	eventually(t, "Err says it", func() bool { return errors.Is(m.Err(), errStore) })
	count := m.Process().Last.Count
	eventually(t, "ten missed heartbeats", func() bool { return m.Process().Last.Count >= count+10 })
	id := m.Generator().New()
	if s := statusOf(t, r, m.GPID()); s.State != registry.Alive {
		t.Errorf("cut off, and %s (%s)", s.State, s.Reason)
	}
	if tr := trace(t, r, id); tr.Verdict != registry.Known {
		t.Errorf("an id made while cut off: %+v", tr)
	}
	source := strings.NewReader(string(id[4:8]) + "abcd")
	if other := join(t, inner, options{Random: source}); other.Process().Block == m.Process().Block {
		t.Errorf("block %s was given away", m.Process().Block)
	}
	set(false)
	eventually(t, "Err is nil again", func() bool { return m.Err() == nil })
	finish(t, m)
	h := all(t, r.History(t.Context(), m.Key(), time.Time{}, time.Time{}))
	if int64(len(h)) < m.Process().Last.Count {
		t.Errorf("%d samples are stored of %d heartbeats", len(h), m.Process().Last.Count)
	}
}

// A process that registers while the store is away goes on with a random value. What
// it made before it is registered is known, but not for certain.
func TestRegisterOffline(t *testing.T) {
	t.Parallel()
	inner := newStore(t)
	var mu sync.Mutex
	away := true
	f := &faulty{Store: inner, fail: func(int, string) fault {
		mu.Lock()
		defer mu.Unlock()
		if away {
			return refused
		}
		return none
	}}
	if _, err := register(t.Context(), f, options{}); !errors.Is(err, errStore) {
		t.Errorf("Register without Offline: %v, want the store's error", err)
	}
	m := join(t, f, options{Offline: true, Interval: 100 * time.Millisecond})
	if !errors.Is(m.Err(), errStore) || !strings.Contains(m.Err().Error(), m.Process().Block) {
		t.Errorf("Err = %v, want the store's error, with block %s", m.Err(), m.Process().Block)
	}
	before := m.Generator().New()
	r := registry.New(inner, nil)
	if tr := trace(t, r, before); tr.Verdict != registry.Unknown {
		t.Errorf("not yet registered: %+v", tr)
	}
	time.Sleep(1100 * time.Millisecond) // ids know whole seconds
	mu.Lock()
	away = false
	mu.Unlock()
	eventually(t, "registered", func() bool { return m.Err() == nil })
	time.Sleep(1100 * time.Millisecond)
	after := m.Generator().New()
	if tr := trace(t, r, before); tr.Verdict != registry.Known || tr.Certain || !strings.Contains(tr.Reason, "the process was recorded only at") {
		t.Errorf("made before it was registered: %s, certain %v, %q", tr.Verdict, tr.Certain, tr.Reason)
	}
	eventually(t, "the next id is certain", func() bool { tr := trace(t, r, after); return tr.Verdict == registry.Known && tr.Certain })
}

// If the random block of a process that went on offline turns out to be another
// member's, both are told and both ids show as a collision.
func TestRegisterOfflineIntoATakenBlock(t *testing.T) {
	t.Parallel()
	inner := newStore(t)
	first := join(t, inner, options{Random: strings.NewReader("same"), Interval: 100 * time.Millisecond, Addr: "127.0.0.1:1"})
	f := &faulty{Store: inner, fail: func(call int, _ string) fault {
		if call < 3 {
			return refused
		}
		return none
	}}
	second := join(t, f, options{Offline: true, Random: strings.NewReader("same" + "other"), Interval: 100 * time.Millisecond, Addr: "127.0.0.1:2"})
	mine, theirs := first.Generator().New(), second.Generator().New()
	if [4]byte(mine[4:8]) != [4]byte(theirs[4:8]) {
		t.Fatalf("the plant failed: %v and %v", mine, theirs)
	}
	eventually(t, "both are told", func() bool {
		return errors.Is(second.Err(), registry.ErrCollision) && errors.Is(first.Err(), registry.ErrCollision)
	})
	r := registry.New(inner, nil)
	for _, id := range []objectid.ID{mine, theirs} {
		if tr := trace(t, r, id); tr.Verdict != registry.Collision || len(tr.Processes) != 2 {
			t.Errorf("trace of %v: %s with %d processes, want a collision of 2", id, tr.Verdict, len(tr.Processes))
		}
	}
	for _, s := range all(t, r.All(t.Context(), registry.Query{})) {
		if len(s.Rivals) != 1 {
			t.Errorf("%v has %d rivals, want 1", s.GPID, len(s.Rivals))
		}
	}
}

// Whoever asks while the store fails, at any of the calls, gets an error that says
// so and where, and never an answer that is made of less than is stored.
func TestReadersOfAStoreThatFails(t *testing.T) {
	inner := newStore(t)
	m := join(t, inner, options{Addr: "127.0.0.1:8080"})
	id := m.Generator().New()
	join(t, inner, options{Addr: "127.0.0.1:8080"})
	for name, ask := range map[string]func(r *registry.Registry) error{
		"trace": func(r *registry.Registry) error {
			tr, err := r.Trace(t.Context(), id)
			if err == nil && (tr.Verdict != registry.Known || tr.Before == nil) {
				return fmt.Errorf("incomplete: %+v", tr)
			}
			return err
		},
		"list": func(r *registry.Registry) error { return drain(r.All(t.Context(), registry.Query{}), 2) },
		"at": func(r *registry.Registry) error {
			return drain(r.All(t.Context(), registry.Query{Addr: m.GPID().Addr()}), 2)
		},
		"find": func(r *registry.Registry) error { return drain(r.All(t.Context(), registry.Query{GPID: m.GPID()}), 2) },
		"history": func(r *registry.Registry) error {
			return drain(r.History(t.Context(), m.Key(), time.Time{}, time.Time{}), 1)
		},
		"prune": func(r *registry.Registry) error { _, err := r.Prune(t.Context(), nil); return err },
	} {
		failing(t, name, func() store.Store { return inner }, nil, ask)
	}
}

// drain reads a sequence to its end, which must have n values.
func drain[T any](seq iter.Seq2[T, error], n int) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
		n--
	}
	if n != 0 {
		return fmt.Errorf("%d values are missing", n)
	}
	return nil
}
