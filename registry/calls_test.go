package registry_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// noting returns a store that notes its calls, and a function that returns those
// since it was last called.
func noting(s store.Store) (*faulty, func() []string) {
	f := &faulty{Store: s, fail: func(int, string) fault { return none }}
	return f, func() []string {
		f.mu.Lock()
		defer f.mu.Unlock()
		ops := f.ops
		f.ops = nil
		return ops
	}
}

// An agent that has just started passes on the heartbeats of processes that it does not
// know, with fewer calls of the store than processes, and says which ones are not there.
func TestFirstHeartbeatsOfAgent(t *testing.T) {
	s := newStore(t)
	before := registry.New(s, nil)
	const n = 60
	var beats []registry.RemoteHeartbeat
	want := map[registry.MemberKey]error{}
	add := func(k registry.MemberKey, err error) {
		beats, want[k] = append(beats, registry.RemoteHeartbeat{Member: k}), err
	}
	register := func(pid int) registry.MemberKey {
		t.Helper()
		p, err := before.RegisterRemote(t.Context(), remote(t, pid), nil)
		if err != nil {
			t.Fatal(err)
		}
		return p.Key()
	}
	for i := range n {
		add(register(100+i), nil)
	}
	f, calls := noting(s)
	agent := registry.New(f, nil)
	check := func() {
		t.Helper()
		for i, err := range agent.Heartbeats(t.Context(), beats) {
			if k := beats[i].Member; !errors.Is(err, want[k]) || want[k] == nil && err != nil {
				t.Errorf("heartbeat of %v: %v, want %v", k, err, want[k])
			}
		}
	}
	check()
	if ops := calls(); len(ops) >= n { // 4, and as many for each process whose turn it is to be checked
		t.Errorf("%d calls of the store for %d processes: %q, want fewer", len(ops), n, ops)
	}
	for i := range n {
		if st := statusOf(t, before, remote(t, 100+i)); st.Last.Count != 2 {
			t.Errorf("%v: %d heartbeats, want that of its registration and another", st.GPID, st.Last.Count)
		}
	}

	agent = registry.New(f, nil)
	member := join(t, s, options{})
	add(member.Key(), registry.ErrSelfManaged)
	add(nobody, store.ErrNotFound)
	add("no key", store.ErrNotFound)
	add(register(99), registry.ErrEnded)
	if _, err := before.End(t.Context(), keyOf(t, before, remote(t, 99)), "done", 0); err != nil {
		t.Fatal(err)
	}
	for range 3 { // others with its GPID
		register(100)
	}
	check()
	var counts []int64
	for _, st := range all(t, before.All(t.Context(), registry.Query{GPID: remote(t, 100)})) {
		counts = append(counts, st.Last.Count)
	}
	if slices.Sort(counts); !slices.Equal(counts, []int64{1, 1, 1, 3}) {
		t.Errorf("heartbeats of four processes: %v, want another of the first one alone", counts)
	}
}

// An end that was recorded while the living record could not be deleted is an end for a
// new agent, too.
func TestFirstHeartbeatAfterUnfinishedEnd(t *testing.T) {
	s := newStore(t)
	swaps := 0 // of the living record: the last heartbeat, and the deletion
	f := &faulty{Store: s, fail: func(_ int, op string) fault {
		if op == "SwapMany oid.living" {
			swaps++
		}
		if swaps == 2 {
			return refused
		}
		return none
	}}
	g := remote(t, 7)
	p, err := registry.New(s, nil).RegisterRemote(t.Context(), g, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := registry.New(f, nil).End(t.Context(), p.Key(), "done", 0); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Count(t.Context(), "oid.living", store.Range{}); n != 1 || err != nil {
		t.Fatalf("%d living records, %v, want that of the process still", n, err)
	}
	errs := registry.New(s, nil).Heartbeats(t.Context(), []registry.RemoteHeartbeat{{Member: p.Key()}})
	if !errors.Is(errs[0], registry.ErrEnded) {
		t.Errorf("heartbeat: %v, want ErrEnded", errs[0])
	}
}

// A page takes as many calls of the store for many processes as for few, with the rivals
// of the living ones and the successors of those that were killed.
func TestPageTakesFewCalls(t *testing.T) {
	s := newStore(t)
	populate(t, s, 40)
	f, calls := noting(s)
	r := registry.New(f, nil)
	for _, states := range [][]registry.State{{registry.Alive, registry.Late}, {registry.Dead, registry.Ended}} {
		page, err := r.List(t.Context(), registry.Query{States: states, Limit: 30})
		if err != nil || len(page.Processes) != 30 {
			t.Fatalf("page of %v: %d processes, %v", states, len(page.Processes), err)
		}
		if ops := calls(); len(ops) > 6 {
			t.Errorf("page of %v: %d calls of the store, want 6 at most: %q", states, len(ops), ops)
		}
	}
}

// A page shows of each living process the others that have its value.
func TestPageShowsRivals(t *testing.T) {
	s := newStore(t)
	populate(t, s, 10)
	r := registry.New(s, nil)
	id := sample(t)
	a, b := remote(t, 901), remote(t, 902)
	for _, g := range []gpid.GPID{a, b} {
		if _, err := r.AdoptRemote(t.Context(), g, []objectid.ID{id}, objectid.Modern, nil); err != nil && !isCollision(err) {
			t.Fatal(err)
		}
	}
	page, err := r.List(t.Context(), registry.Query{States: []registry.State{registry.Alive}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[gpid.GPID][]gpid.GPID{a: {b}, b: {a}}
	seen := 0
	for _, p := range page.Processes {
		if !slices.Equal(p.Rivals, want[p.GPID]) {
			t.Errorf("%v has rivals %v, want %v", p.GPID, p.Rivals, want[p.GPID])
		}
		if want[p.GPID] != nil {
			seen++
		}
	}
	if seen != 2 || len(page.Processes) < 5 {
		t.Errorf("%d of the two rivals among %d processes", seen, len(page.Processes))
	}
}

// A process with more documents of samples than are read with those of others loses all
// of them.
func TestPruneManySamples(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	p, err := r.RegisterRemote(t.Context(), remote(t, 7), nil)
	if err != nil {
		t.Fatal(err)
	}
	const n = 50
	var docs []any
	for i := range n {
		docs = append(docs, registry.SamplesOf(p.Block, registry.Sample{Time: p.From.Add(-time.Duration(i+1) * time.Hour)}))
	}
	if _, err := s.InsertMany(t.Context(), "oid.samples", docs, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.End(t.Context(), p.Key(), "done", 0); err != nil {
		t.Fatal(err)
	}
	later := registry.New(s, &registry.Options{Now: func() time.Time { return time.Now().AddDate(2, 0, 0) }})
	if done, err := later.Prune(t.Context(), nil); err != nil || done.Samples != n+1 {
		t.Errorf("Prune = %+v, %v, want %d samples", done, err, n+1)
	}
}

// Records are pruned in the order of their keys, some after others.
func TestPruneInParts(t *testing.T) {
	s := newStore(t)
	const n = 40
	populate(t, s, n)
	var reads []string
	f, calls := noting(s)
	r := registry.New(f, &registry.Options{Now: func() time.Time { return time.Now().AddDate(2, 0, 0) }})
	r.SetPruneSizes(50, 20)
	done, err := r.Prune(t.Context(), nil)
	if err != nil || done.Records != 3*n || done.Samples != 3*n {
		t.Fatalf("Prune = %+v, %v, want %d records and samples", done, err, 3*n)
	}
	for _, op := range calls() {
		if op == "GetMany oid.values" {
			reads = append(reads, op)
		}
	}
	if len(reads) != 7 { // of 20, 20, 10, 20, 20, 10 and 20 records
		t.Errorf("claims are read %d times, want 7", len(reads))
	}
	for _, c := range []string{"oid.processes", "oid.samples", "oid.living", "oid.ended", "oid.hosts"} {
		if n, err := s.Count(t.Context(), c, store.Range{}); err != nil || n != 0 {
			t.Errorf("%s: %d documents, %v, want none", c, n, err)
		}
	}
	if n, err := s.Count(t.Context(), "oid.values", store.Range{}); err != nil || n != 3*40 {
		t.Errorf("%d claims, %v, want all for ever", n, err)
	}
}

// Pruning takes as many calls of the store for many processes as for few.
func TestPruneTakesFewCalls(t *testing.T) {
	s := newStore(t)
	populate(t, s, 40)
	f, calls := noting(s)
	r := registry.New(f, &registry.Options{Now: func() time.Time { return time.Now().AddDate(2, 0, 0) }})
	done, err := r.Prune(t.Context(), nil)
	if err != nil || done.Records != 120 || done.Samples != 120 {
		t.Fatalf("Prune = %+v, %v, want 120 records and samples", done, err)
	}
	if ops := calls(); len(ops) > 30 {
		t.Errorf("%d calls of the store, want 30 at most: %q", len(ops), ops)
	}
}
