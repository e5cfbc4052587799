package registry_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// pages reads all pages of a query and returns the names of the processes.
func pages(t *testing.T, r *registry.Registry, q registry.Query) (names []string) {
	t.Helper()
	for range 1000 {
		page, err := r.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Processes) > q.Limit {
			t.Fatalf("a page of %d processes, want %d at most", len(page.Processes), q.Limit)
		}
		for _, s := range page.Processes {
			names = append(names, s.Name)
		}
		if page.Next == "" {
			return names
		}
		q.After = page.Next
	}
	t.Fatal("the pages do not end")
	return nil
}

// populate registers processes of three hosts' worth of names: n are alive, n have
// ended and n are silent for ten minutes.
func populate(t *testing.T, s store.Store, n int) (now *moved) {
	t.Helper()
	now = &moved{}
	now.set(-10 * time.Minute)
	r := registry.New(s, &registry.Options{Now: now.Now})
	for i := range 3 * n {
		if i == n {
			now.set(0)
		} else if i >= 2*n {
			now.set(time.Duration(i-3*n) * time.Millisecond) // no two end in one millisecond
		}
		g, err := gpid.New(netip.MustParseAddrPort(fmt.Sprintf("10.0.0.%d:80", 1+i%5)), remoteStart.Add(time.Duration(i)*time.Second), 100+i)
		if err != nil {
			t.Fatal(err)
		}
		name := []string{"silent", "alive", "ended"}[i/n] + fmt.Sprint(i)
		o := &registry.RemoteOptions{Name: name, Labels: map[string]string{"zone": fmt.Sprint(i % 3), "all": "yes"}}
		if _, err := r.RegisterRemote(t.Context(), g, o); err != nil {
			t.Fatal(err)
		}
		if i >= 2*n {
			if _, err := r.End(t.Context(), keyOf(t, r, g), "done", 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	return now
}

// Pages of every size, of every state, with every filter, have the processes that
// reading all of them and comparing finds, each once.
func TestPagesHaveWhatTheyAreAskedFor(t *testing.T) {
	testenv.Long(t, "takes seconds")
	t.Parallel()
	s := newStore(t)
	const n = 12
	populate(t, s, n)
	now := time.Now() // no process falls silent while a slow machine reads the pages
	r := registry.New(s, &registry.Options{Now: func() time.Time { return now }})
	for _, states := range [][]registry.State{
		nil, {registry.Alive}, {registry.Late}, {registry.Ended}, {registry.Dead}, {registry.Alive, registry.Late}, {registry.Dead, registry.Ended}, {registry.Late, registry.Ended}, registry.States(),
	} {
		listed := all(t, r.All(t.Context(), registry.Query{}))
		for name, q := range map[string]registry.Query{
			"all": {}, "label": {Labels: map[string]string{"zone": "1", "all": "yes"}}, "no such label": {Labels: map[string]string{"zone": ""}},
			"name": {Name: "ended30"}, "host": {Host: "elsewhere"}, "address": {Addr: netip.MustParseAddrPort("10.0.0.2:80")},
		} {
			var want []string
			for _, st := range listed {
				fits := (states == nil || slices.Contains(states, st.State)) && (q.Name == "" || q.Name == st.Name) && (q.Host == "" || q.Host == st.Host)
				for k, v := range q.Labels {
					fits = fits && st.Labels[k] == v
				}
				if fits && (!q.Addr.IsValid() || q.Addr == st.GPID.Addr()) {
					want = append(want, st.Name)
				}
			}
			slices.Sort(want)
			for _, limit := range []int{1, 5, n, 100} {
				q.States, q.Limit = states, limit
				got := pages(t, r, q)
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Fatalf("%v, %s, pages of %d: %v, want %v", states, name, limit, got, want)
				}
			}
		}
	}
	for _, after := range []string{"x", "lzz\xff", "p1"} {
		if _, err := r.List(t.Context(), registry.Query{States: []registry.State{registry.Alive}, After: after}); !errors.Is(err, registry.ErrCursor) {
			t.Errorf("cursor %q: %v, want ErrCursor", after, err)
		}
	}
}

// The latest end is the first of a list of the ended.
func TestLatestEndIsFirst(t *testing.T) {
	s := newStore(t)
	populate(t, s, 9)
	got := pages(t, registry.New(s, nil), registry.Query{States: []registry.State{registry.Ended}, Limit: 4})
	if len(got) != 9 || got[0] != "ended26" || got[8] != "ended18" {
		t.Errorf("ended: %v, want the latest first", got)
	}
}

// A page of the living reads neither the ended processes nor all records.
func TestPageOfTheLivingIsARange(t *testing.T) {
	testenv.Long(t, "takes seconds")
	t.Parallel()
	s := newStore(t)
	m := join(t, s, options{Interval: time.Hour})
	ended := m.Process()
	ended.End = &registry.End{Time: ended.Last.Time, Reason: "done"}
	plant(t, s, ended, 3000, 0)
	r := registry.New(s, nil)
	if _, err := r.Sweep(t.Context()); err != nil { // moves what was planted
		t.Fatal(err)
	}
	c := &counted{Store: s}
	page, err := registry.New(c, nil).List(t.Context(), registry.Query{States: []registry.State{registry.Alive}, Limit: 10})
	if err != nil || len(page.Processes) != 1 || page.Next != "" {
		t.Fatalf("%d processes, %v, want the one that runs", len(page.Processes), err)
	}
	if c.read > 20 {
		t.Errorf("a page of 10 reads %d documents", c.read)
	}
}

// counted counts the documents that are read.
type counted struct {
	store.Store
	read int
}

func (c *counted) GetMany(ctx context.Context, name string, keys []store.Key) ([]bson.Raw, error) {
	c.read += len(keys)
	return c.Store.GetMany(ctx, name, keys)
}

// A process that was moved and comes back is living again, and not among the ended.
func TestMovedProcessComesBack(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	away := func(p *registry.Process) { p.Kernel.Boot = "" }
	m := join(t, elsewhere{s, away}, options{Interval: 300 * time.Millisecond})
	later := registry.New(s, &registry.Options{Now: func() time.Time { return time.Now().Add(48 * time.Hour) }})
	if done, err := later.Sweep(t.Context()); err != nil || done != 1 {
		t.Fatalf("Sweep = %+v, %v", done, err)
	}
	if n, _ := s.Count(t.Context(), "oid.ended", store.Range{}); n != 1 {
		t.Errorf("%d are ended, want 1", n)
	}
	r := registry.New(s, nil)
	eventually(t, "living again", func() bool {
		ended, err := s.Count(t.Context(), "oid.ended", store.Range{})
		page, pageErr := r.List(t.Context(), registry.Query{States: []registry.State{registry.Alive}})
		return err == nil && pageErr == nil && ended == 0 && len(page.Processes) == 1
	})
	if tr := trace(t, r, m.Generator().New()); tr.Verdict != registry.Known || tr.Processes[0].Last.Count < 2 {
		t.Errorf("trace: %+v", tr)
	}
}

// A process that a sweep has moved without an end is dead for each Registry, also for
// one that has not watched it, and is on the page of the dead. One that was not moved
// is only late.
func TestMovedProcessIsDeadForANewRegistry(t *testing.T) {
	s := newStore(t)
	now := populate(t, s, 2) // of each kind
	look := func(want registry.State) {
		t.Helper()
		for _, name := range []string{"silent0", "silent1"} {
			for _, state := range registry.States() {
				got := pages(t, registry.New(s, &registry.Options{Now: now.Now}), registry.Query{Name: name, States: []registry.State{state}, Limit: 10})
				if want := state == want; (len(got) == 1) != want {
					t.Errorf("the page of the %s ones has %s: %v, want %v", state, name, !want, want)
				}
			}
		}
	}
	look(registry.Late)
	now.set(25 * time.Hour)
	if done, err := registry.New(s, &registry.Options{Now: now.Now}).Sweep(t.Context()); err != nil || done != 4 {
		t.Fatalf("Sweep = %+v, %v, want the silent and the other living ones moved", done, err)
	}
	look(registry.Dead)
	r := registry.New(s, &registry.Options{Now: now.Now})
	st := all(t, r.All(t.Context(), registry.Query{}))[0]
	if fate(st) != "presumed dead" || !strings.Contains(st.Reason, "since a sweep removed it") {
		t.Errorf("%s: %s (%s), want presumed dead", st.Name, st.State, st.Reason)
	}
	id := idOf(t, st.Block)
	if tr := trace(t, r, id); tr.Verdict != registry.Known || tr.Certain || !strings.Contains(tr.Reason, "presumed dead") {
		t.Errorf("created after the last heartbeat: %s, certain %v (%s)", tr.Verdict, tr.Certain, tr.Reason)
	}
	if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: st.Key(), Load: registry.Load{}}); err != nil {
		t.Fatal(err)
	}
	if st := statusOf(t, registry.New(s, &registry.Options{Now: now.Now}), st.GPID); st.State != registry.Alive {
		t.Errorf("after a heartbeat: %s (%s), want alive", st.State, st.Reason)
	}
}

// Search finds a text in each of the fields that it promises, in either case, and in no
// other one.
func TestSearch(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	p, err := r.RegisterRemote(t.Context(), remote(t, 4711), &registry.RemoteOptions{Name: "Billing", Host: "Web-3", Version: "V9.1", Labels: map[string]string{"Zone": "East"}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"billing": 1, "ILL": 1, "web-3": 1, "v9.": 1, "zone=east": 1, "ONE=EA": 1, "10.9.8.7:8080": 1, ":4711": 1, strings.ToUpper(p.Value): 1,
		"billings": 0, "zone:east": 0, "alive": 0,
		"service.name=bill": 1, "service.version=v9": 1, "host.name=web": 1, p.GPID.InstanceID(): 1, strings.ToUpper(p.GPID.InstanceID()): 1, "service.instance.id=" + p.GPID.InstanceID(): 1,
		"service.name": 0, "service.name=web": 0, "service.namespace=bill": 0, p.GPID.InstanceID()[:8]: 0, // short hexadecimal texts would match many
	} {
		if page, err := r.List(t.Context(), registry.Query{Search: text}); err != nil || len(page.Processes) != want {
			t.Errorf("%q: %d processes, %v, want %d", text, len(page.Processes), err, want)
		}
	}
}

// A label of a query is a label of the process or, without one, a field that has the meaning of
// its name.
func TestQueryByAttributes(t *testing.T) {
	r := registry.New(newStore(t), nil)
	register := func(pid int, o registry.RemoteOptions) registry.Process {
		t.Helper()
		p, err := r.RegisterRemote(t.Context(), remote(t, pid), &o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	shop := register(1, registry.RemoteOptions{Name: "shop", Version: "1.4.2", Host: "vm-3", Labels: map[string]string{"k8s.pod.name": "shop-1", "zone": ""}})
	cart := register(2, registry.RemoteOptions{Name: "cart", Host: "cart-1", Labels: map[string]string{"host.name": "vm-3", "service.name": "other", "service.instance.id": "cart-1"}})
	for _, c := range []struct {
		labels map[string]string
		want   string // the names of the processes
	}{
		{map[string]string{"k8s.pod.name": "shop-1"}, "[shop]"},
		{map[string]string{"service.name": "shop"}, "[shop]"},
		{map[string]string{"service.name": "shop", "service.version": "1.4.2"}, "[shop]"},
		{map[string]string{"service.name": "shop", "service.version": "1.4.3"}, "[]"},
		{map[string]string{"service.name": "other"}, "[cart]"}, // its label wins
		{map[string]string{"service.name": "cart"}, "[]"},
		{map[string]string{"host.name": "vm-3"}, "[shop cart]"},
		{map[string]string{"host.name": "cart-1"}, "[]"},
		{map[string]string{"service.instance.id": shop.GPID.InstanceID()}, "[shop]"},
		{map[string]string{"service.instance.id": "cart-1"}, "[cart]"},
		{map[string]string{"service.instance.id": cart.GPID.InstanceID()}, "[]"},
		{map[string]string{"zone": ""}, "[shop]"},
		{map[string]string{"service.version": ""}, "[]"},
		{map[string]string{"Name": "shop"}, "[]"},
	} {
		if got := fmt.Sprint(pages(t, r, registry.Query{Labels: c.labels, Limit: 10})); got != c.want {
			t.Errorf("%q: %s, want %s", c.labels, got, c.want)
		}
	}
}

// A call that has read many records without finding a page of processes returns what it
// has, and where the next one goes on.
func TestPageReadsABoundedNumber(t *testing.T) {
	s := newStore(t)
	populate(t, s, 10)
	r := registry.New(s, nil)
	everything := len(pages(t, r, registry.Query{Limit: 5}))
	r.SetMaxRead(10)
	for _, q := range []registry.Query{{Search: "nobody", Limit: 5}, {Search: "nobody", Limit: 5, States: []registry.State{registry.Alive, registry.Ended}}} {
		calls := 0
		for more := true; more; calls++ {
			page, err := r.List(t.Context(), q)
			if err != nil || len(page.Processes) != 0 {
				t.Fatalf("%d processes, %v", len(page.Processes), err)
			}
			q.After, more = page.Next, page.Next != ""
		}
		if calls < 3 {
			t.Errorf("%+v takes %d calls", q, calls)
		}
	}
	if got := len(pages(t, r, registry.Query{Limit: 5})); got != everything {
		t.Errorf("%d processes on pages of few records, want %d", got, everything)
	}
}

// A label has a name; its value may be empty or contain the sign.
func TestParseLabels(t *testing.T) {
	for text, want := range map[string][2]string{"a=b": {"a", "b"}, "a=": {"a", ""}, "a=b=c": {"a", "b=c"}, "a": {}, "=b": {}, "": {}} {
		all, err := registry.ParseLabels([]string{text})
		value, ok := all[want[0]]
		if value != want[1] || ok != (want[0] != "") || (err == nil) != ok || len(all) > 1 {
			t.Errorf("%q: %q, %v, want %q", text, all, err, want)
		}
	}
	if all, err := registry.ParseLabels([]string{"a=b", "c=d"}); err != nil || !maps.Equal(all, map[string]string{"a": "b", "c": "d"}) {
		t.Errorf("two labels: %q, %v", all, err)
	}
}

// Entries of the ended that are not true, as of a process that came back, change no
// page, and a page of the living has their latest heartbeats.
func TestPageBesideUntrueEntries(t *testing.T) {
	s := newStore(t)
	populate(t, s, 1)
	r := registry.New(s, nil)
	for _, st := range all(t, r.All(t.Context(), registry.Query{})) {
		record := registry.RecordOf(st.Process)
		for _, at := range []time.Time{st.From, st.Last.Time} {
			id := fmt.Sprintf("%013d:%s", at.UnixMilli(), record.Key)
			if _, err := s.Insert(t.Context(), "oid.ended", bson.D{{Key: "_id", Value: id}, {Key: "v", Value: 1}}); err != nil && !errors.Is(err, store.ErrDuplicate) {
				t.Fatal(err)
			}
		}
		if st.State == registry.Alive {
			if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: st.Key(), Load: registry.Load{}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := pages(t, r, registry.Query{States: registry.States(), Limit: 2}); len(got) != 3 {
		t.Errorf("all states: %v, want each of the three once", got)
	}
	page, err := r.List(t.Context(), registry.Query{States: []registry.State{registry.Alive}})
	if err != nil || len(page.Processes) != 1 || page.Processes[0].Last.Count != 2 {
		t.Errorf("living: %+v, %v, want one with two heartbeats", page.Processes, err)
	}
}

// The address of a query is the one that processes were recorded with, also if each host
// has it; only without an ip it is that of this host.
func TestParseAddr(t *testing.T) {
	for text, want := range map[string]string{
		"0.0.0.0:8080": "0.0.0.0:8080", "[::]:9090": "[::]:9090", "127.0.0.1:1": "127.0.0.1:1", "[::ffff:10.0.0.7]:80": "10.0.0.7:80",
	} {
		if a, err := registry.ParseAddr(text); err != nil || a.String() != want {
			t.Errorf("%q: %v, %v, want %s", text, a, err, want)
		}
	}
	here, err := gpid.ParseAddr(":8080")
	if a, err2 := registry.ParseAddr(":8080"); err != nil || err2 != nil || a != here || a.Addr().IsUnspecified() {
		t.Errorf(":8080: %v, %v, want %v", a, err2, here)
	}
	if _, err := registry.ParseAddr("shop"); !errors.Is(err, gpid.ErrInvalid) {
		t.Errorf("shop: %v", err)
	}
}
