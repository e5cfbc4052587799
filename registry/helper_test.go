package registry_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/memstore"
	"github.com/oidkit/oid/store/sqlitestore"
)

// newStore returns a store in memory for one test.
func newStore(t testing.TB) *memstore.Store {
	s := memstore.New()
	t.Cleanup(func() { s.Close() })
	return s
}

// openStore opens a SQLite file, for tests with several processes, or of what is on disk.
func openStore(t testing.TB, path string) *sqlitestore.Store {
	t.Helper()
	s, err := sqlitestore.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// quiet keeps expected warnings out of the test's output.
var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// options are all that tests set for a member and for the registry that it is in.
type options struct {
	Addr, Name, Version string
	Labels              map[string]string
	Interval            time.Duration
	Offline             bool
	PID                 int
	Layout              objectid.Layout

	OneHost     bool
	Now         func() time.Time
	Random      io.Reader
	KeepSamples time.Duration
}

// registry returns the registry in s, as a process of its own would open it.
func (o options) registry(s store.Store) *registry.Registry {
	r := registry.New(s, &registry.Options{OneHost: o.OneHost, Now: o.Now, Log: quiet})
	if o.Random != nil {
		r.SetRandom(o.Random)
	}
	if o.KeepSamples != 0 {
		r.SetKeepSamples(o.KeepSamples)
	}
	return r
}

func register(ctx context.Context, s store.Store, o options) (*registry.Member, error) {
	return o.registry(s).Register(ctx, o.member())
}

func (o options) member() *registry.RegisterOptions {
	return &registry.RegisterOptions{Addr: o.Addr, Name: o.Name, Version: o.Version, Labels: o.Labels, Interval: o.Interval, Offline: o.Offline}
}

func adopt(ctx context.Context, s store.Store, sample objectid.ID, o options) (*registry.Member, error) {
	return o.registry(s).Adopt(ctx, []objectid.ID{sample}, &registry.AdoptOptions{RegisterOptions: *o.member(), PID: o.PID, Layout: o.Layout})
}

// join registers this process, and ends it at the end of the test unless the test
// does.
func join(t testing.TB, s store.Store, o options) *registry.Member {
	t.Helper()
	m, err := register(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { finish(t, m) })
	return m
}

func finish(t testing.TB, m *registry.Member) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := m.End(ctx, "test ends"); err != nil && !errors.Is(err, registry.ErrEnded) && !errors.Is(err, store.ErrClosed) {
		t.Errorf("End: %v", err)
	}
}

// all collects a sequence.
func all[T any](t testing.TB, seq func(func(T, error) bool)) []T {
	t.Helper()
	var out []T
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// trace traces id, which must work.
func trace(t testing.TB, r *registry.Registry, id objectid.ID) registry.Trace {
	t.Helper()
	tr, err := r.Trace(context.Background(), id)
	if err != nil {
		t.Fatalf("trace %v: %v", id, err)
	}
	return tr
}

// statusOf returns the status of a run that is recorded once.
func statusOf(t testing.TB, r *registry.Registry, g gpid.GPID) registry.Status {
	t.Helper()
	found := all(t, r.All(context.Background(), registry.Query{GPID: g}))
	if len(found) != 1 {
		t.Fatalf("%v is recorded %d times, want once", g, len(found))
	}
	return found[0]
}

// keyOf is the key of the one member that has the GPID.
func keyOf(t testing.TB, r *registry.Registry, g gpid.GPID) registry.MemberKey {
	t.Helper()
	s := statusOf(t, r, g)
	return s.Key()
}

// fate is the state of a process, with the kinds of evidence for Dead told apart.
func fate(s registry.Status) string {
	switch {
	case s.State == registry.Dead && s.Presumed:
		return "presumed dead"
	case s.State == registry.Dead && !s.Successor.IsZero():
		return "replaced"
	}
	return string(s.State)
}

// eventually waits until ok, for things that take a heartbeat or two.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
	}
}

// moved is a wall clock that can be set.
type moved struct{ by atomic.Int64 }

func (c *moved) Now() time.Time      { return time.Now().Add(time.Duration(c.by.Load())) }
func (c *moved) set(d time.Duration) { c.by.Store(int64(d)) }

// beat is the shortest interval.
const beat = 100 * time.Millisecond

// elsewhere is a store as a process of another place writes to it: what it
// records of its kernel is changed.
type elsewhere struct {
	store.Store
	change func(*registry.Process)
}

func (e elsewhere) InsertMany(ctx context.Context, c string, docs []any, o *store.InsertOptions) ([]store.Key, error) {
	docs = slices.Clone(docs)
	for i := range docs {
		docs[i] = e.changed(docs[i])
	}
	return e.Store.InsertMany(ctx, c, docs, o)
}

func (e elsewhere) Replace(ctx context.Context, c string, doc any) error {
	return e.Store.Replace(ctx, c, e.changed(doc))
}

func (e elsewhere) SwapMany(ctx context.Context, c string, swaps []store.Swap) ([]bson.Raw, error) {
	swaps = slices.Clone(swaps)
	for i := range swaps {
		swaps[i].New = e.changed(swaps[i].New)
	}
	return e.Store.SwapMany(ctx, c, swaps)
}

func (e elsewhere) changed(doc any) any {
	switch d := doc.(type) {
	case registry.Record:
		e.change(&d.Process)
		return d
	case registry.LivingRecord:
		return d.Changed(e.change)
	}
	return doc
}

// sample is an id as another driver makes it: with a random value of its own.
func sample(t *testing.T) objectid.ID {
	t.Helper()
	g, err := objectid.NewGenerator(nil)
	if err != nil {
		t.Fatal(err)
	}
	return g.New()
}

// later is an id of the candidate of id, some seconds on.
func later(id objectid.ID, seconds int) objectid.ID {
	moved := objectid.MinAt(id.Time().Add(time.Duration(seconds) * time.Second))
	copy(moved[4:], id[4:])
	moved[11]++
	return moved
}

// ago is a wall clock that is behind by d.
func ago(d time.Duration) func() time.Time { return func() time.Time { return time.Now().Add(-d) } }

func isCollision(err error) bool { return errors.Is(err, registry.ErrCollision) }

// before returns an id with the process value of id that was created d earlier.
func before(id objectid.ID, d time.Duration) objectid.ID {
	early := objectid.MinAt(id.Time().Add(-d))
	copy(early[4:], id[4:])
	return early
}

// stray returns an id from two minutes ago, with a process value that is not recorded.
func stray() objectid.ID {
	id := objectid.MinAt(time.Now().Add(-2 * time.Minute))
	rand.Read(id[4:])
	return id
}
