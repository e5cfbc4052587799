package registry_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// failing calls ask again and again, each time with the store that before returns. Of
// that, another call fails each time, in turn, and none in the end. The failure must be
// the error of ask.
func failing(t *testing.T, name string, before func() store.Store, o *registry.Options, ask func(*registry.Registry) error) {
	t.Helper()
	for at := 0; ; at++ {
		inner := before()
		f := &faulty{Store: inner, fail: func(call int, _ string) fault {
			if call == at {
				return refused
			}
			return none
		}}
		err := ask(registry.New(f, o))
		if f.calls <= at {
			if err != nil || at == 0 {
				t.Errorf("%s without a failure: %v after %d calls", name, err, at)
			}
			return
		}
		if !errors.Is(err, errStore) || !strings.HasPrefix(err.Error(), "registry: ") || strings.Contains(err.Error(), ": registry: ") {
			t.Errorf("%s, call %d, %s: %v, want the store's error and where it was", name, at, f.ops[at], err)
		}
	}
}

// pageOf asks for a page, which must have n processes and be the last one.
func pageOf(t *testing.T, q registry.Query, n int) func(*registry.Registry) error {
	return func(r *registry.Registry) error {
		page, err := r.List(t.Context(), q)
		if err == nil && (len(page.Processes) != n || page.Next != "") {
			t.Errorf("page of %v: %d processes, %q, want %d", q.States, len(page.Processes), page.Next, n)
		}
		return err
	}
}

// The store fails at each call in turn while a page is read: the error is returned, and
// not a page with less.
func TestPageOfAStoreThatFails(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	populate(t, s, 3)
	for i := range 2 { // one value, so that each is the other's rival
		_, err := registry.New(s, nil).AdoptRemote(t.Context(), remote(t, 900+i), []objectid.ID{idOf(t, "a1b2c3d4")}, objectid.Modern, nil)
		if err != nil && !isCollision(err) {
			t.Fatal(err)
		}
	}
	same := func() store.Store { return s }
	living, over := []registry.State{registry.Alive, registry.Late}, []registry.State{registry.Dead, registry.Ended}
	failing(t, "page of the living", same, nil, pageOf(t, registry.Query{States: living}, 8))
	failing(t, "page of the ended", same, nil, pageOf(t, registry.Query{States: over}, 3))
	failing(t, "page of all", same, nil, pageOf(t, registry.Query{}, 11))
	failing(t, "count", same, nil, func(r *registry.Registry) error {
		n, err := r.CountLiving(t.Context())
		if err == nil && n != 8 {
			t.Errorf("%d are living, want 8", n)
		}
		return err
	})
}

// A sweep that fails at any of its calls is completed by the next one.
func TestSweepIsCompletedAfterEachFailure(t *testing.T) {
	t.Parallel()
	var s store.Store
	later := &registry.Options{Now: func() time.Time { return time.Now().Add(25 * time.Hour) }}
	failing(t, "sweep", func() store.Store {
		s = newStore(t)
		populate(t, s, 1)
		return s
	}, later, func(r *registry.Registry) error {
		_, err := r.Sweep(t.Context())
		again := registry.New(s, later)
		_, failed := again.Sweep(t.Context())
		if n, err := again.CountLiving(t.Context()); failed != nil || err != nil || n != 0 {
			t.Errorf("the next sweep: %v, %d processes are living, %v", failed, n, err)
		}
		if err := pageOf(t, registry.Query{States: []registry.State{registry.Dead, registry.Ended}}, 3)(again); err != nil {
			t.Error(err)
		}
		return err
	})
}

// A document that this version cannot read is an error of each page that needs it:
// nothing is left out.
func TestPageOfUnreadableDocuments(t *testing.T) {
	t.Parallel()
	ended, alive := []registry.State{registry.Ended}, []registry.State{registry.Alive}
	for _, c := range []struct {
		collection string
		states     []registry.State
	}{{"oid.ended", ended}, {"oid.processes", ended}, {"oid.living", alive}, {"oid.processes", alive}, {"oid.processes", nil}, {"oid.living", nil}, {"oid.values", alive}} {
		s := newStore(t)
		populate(t, s, 1)
		setFormat(t, s, c.collection, 3)
		if _, err := registry.New(s, nil).List(t.Context(), registry.Query{States: c.states}); !errors.Is(err, registry.ErrFormat) {
			t.Errorf("%s, page of %v: %v, want ErrFormat", c.collection, c.states, err)
		}
	}
	for _, id := range []string{"x:y", "1795287182277", ":10.0.0.1:80:1795287179875584:11/01020304"} { // no milliseconds:process
		s := newStore(t)
		populate(t, s, 1)
		if _, err := s.Insert(t.Context(), "oid.ended", bson.D{{Key: "_id", Value: id}, {Key: "v", Value: 1}}); err != nil {
			t.Fatal(err)
		}
		if _, err := registry.New(s, nil).List(t.Context(), registry.Query{States: ended}); err == nil || !strings.Contains(err.Error(), "want milliseconds:process") {
			t.Errorf("entry %q: %v", id, err)
		}
	}
}

// The store fails at each call in turn while a remote process is written: the error is
// returned.
func TestRemoteWithAStoreThatFails(t *testing.T) {
	t.Parallel()
	var k registry.MemberKey
	var more objectid.ID
	before := func() store.Store {
		s := newStore(t)
		p, err := registry.New(s, nil).RegisterRemote(t.Context(), remote(t, 7), nil)
		if err != nil {
			t.Fatal(err)
		}
		k, more = p.Key(), sample(t)
		return s
	}
	for name, ask := range map[string]func(r *registry.Registry) error{
		"heartbeat": func(r *registry.Registry) error {
			_, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: k, Load: registry.Load{}})
			return err
		},
		"heartbeats": func(r *registry.Registry) error {
			return r.Heartbeats(t.Context(), []registry.RemoteHeartbeat{{Member: k}})[0]
		},
		"add evidence": func(r *registry.Registry) error {
			p, err := r.AddEvidence(t.Context(), k, []objectid.ID{more}, objectid.Modern)
			if err == nil && len(p.Adopted) != 1 {
				t.Errorf("the evidence was not added once: %+v", p.Adopted)
			}
			return err
		},
	} {
		failing(t, name, before, nil, ask)
	}
}

// An agent's heartbeats fail together when the store does, each with the error, and
// those that the agent sends then are recorded.
func TestHeartbeatsThatAreNotStored(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	fail := none
	f := &faulty{Store: s, fail: func(_ int, op string) fault {
		if op == "SwapMany oid.living" {
			return fail
		}
		return none
	}}
	agent := registry.New(f, nil)
	var beats []registry.RemoteHeartbeat
	for i := range 2 {
		p, err := agent.RegisterRemote(t.Context(), remote(t, 1+i), nil)
		if err != nil {
			t.Fatal(err)
		}
		beats = append(beats, registry.RemoteHeartbeat{Member: p.Key()})
	}
	fail = refused
	for i, err := range agent.Heartbeats(t.Context(), beats) {
		if !errors.Is(err, errStore) || !strings.Contains(err.Error(), remote(t, 1+i).String()) {
			t.Errorf("heartbeat %d: %v, want the store's error and the process", i, err)
		}
	}
	fail = none
	for i, err := range agent.Heartbeats(t.Context(), beats) {
		if err != nil || statusOf(t, agent, remote(t, 1+i)).Last.Count != 2 {
			t.Errorf("heartbeat %d afterwards: %v", i, err)
		}
	}
}

// Load samples that cannot be stored fail the heartbeats that bring them: the error names the
// registry once, and the samples.
func TestSamplesThatAreNotStored(t *testing.T) {
	t.Parallel()
	f := &faulty{Store: newStore(t), fail: func(_ int, op string) fault {
		if op == "InsertMany oid.samples" {
			return refused
		}
		return none
	}}
	agent := registry.New(f, nil)
	p, err := agent.RegisterRemote(t.Context(), remote(t, 7), nil)
	for range 1000 { // the samples of several heartbeats are stored together
		if err == nil {
			err = agent.Heartbeats(t.Context(), []registry.RemoteHeartbeat{{Member: p.Key()}})[0]
		}
	}
	if !errors.Is(err, errStore) || !strings.HasPrefix(err.Error(), "registry: write samples: ") || strings.Count(err.Error(), "registry: ") != 1 {
		t.Errorf("%v, want the store's error about samples", err)
	}
}

// The store is closed before the end: the error says that the end is missing.
func TestEndAfterTheStoreIsClosed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m := join(t, s, options{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	err := m.End(t.Context(), "done")
	if !errors.Is(err, store.ErrClosed) || strings.Count(err.Error(), "registry: ") != 1 || !strings.HasSuffix(err.Error(), "; the end of the process is not recorded") {
		t.Errorf("End: %v", err)
	}
}
