package registry_test

import (
	"bytes"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// shared is the GPID of a process with pid 1, as each container has one.
func shared(t *testing.T, addr string) gpid.GPID {
	t.Helper()
	g, err := gpid.New(netip.MustParseAddrPort(addr), remoteStart, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Two processes with one GPID, as two containers have them, are two members: each has
// its block, its heartbeats, its samples and its end, also after they are pruned.
func TestTwoProcessesWithOneGPID(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:8080", "127.0.0.1:8080", "10.0.0.7:0"} {
		for name, adopt := range map[string]bool{"registered": false, "adopted": true} {
			t.Run(name+" at "+addr, func(t *testing.T) { testOneGPID(t, shared(t, addr), adopt) })
		}
	}
}

func testOneGPID(t *testing.T, g gpid.GPID, adopt bool) {
	s := newStore(t)
	var clock moved
	r := registry.New(s, &registry.Options{Now: clock.Now})
	hosts := [2]string{"podA", "podB"}
	var pods [2]registry.Process
	var ids [2]objectid.ID
	for i, host := range hosts {
		o, err := &registry.RemoteOptions{Name: "shop", Host: host, Clock: time.Now()}, error(nil)
		if adopt {
			ids[i] = sample(t)
			pods[i], err = r.AdoptRemote(t.Context(), g, ids[i:i+1], objectid.Modern, o)
		} else {
			pods[i], err = r.RegisterRemote(t.Context(), g, o)
			ids[i] = idOf(t, pods[i].Block)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	a, b := pods[0].Key(), pods[1].Key()
	if a == b {
		t.Fatalf("both are member %s", a)
	}
	want := registry.Known
	if adopt {
		want = registry.Claimed
	}
	check := func(when string, loads bool) {
		t.Helper()
		for i, id := range ids {
			tr := trace(t, r, id)
			if tr.Verdict != want || tr.Certain == adopt || len(tr.Processes) != 1 || tr.Processes[0].GPID != g {
				t.Errorf("%s: id of %s: %s, certain %v (%s)", when, hosts[i], tr.Verdict, tr.Certain, tr.Reason)
			} else if p := &tr.Processes[0]; loads && (p.Host != hosts[i] || p.Key() != pods[i].Key()) {
				t.Errorf("%s: id of %s is traced to %s %s", when, hosts[i], p.Host, p.Key())
			} else if loads {
				own := all(t, r.History(t.Context(), pods[i].Key(), time.Time{}, time.Time{}))
				next := slices.IndexFunc(own, func(s registry.Sample) bool { return !s.Time.Before(id.Time().Add(time.Second)) })
				if next < 0 || !same(tr.After, &own[next]) {
					t.Errorf("%s: the sample after the id of %s is %+v, want one of %+v", when, hosts[i], tr.After, own)
				}
			}
		}
	}
	find := func() map[registry.MemberKey]registry.Status {
		t.Helper()
		found := map[registry.MemberKey]registry.Status{}
		for _, st := range all(t, r.All(t.Context(), registry.Query{GPID: g})) {
			found[st.Key()] = st
		}
		if len(found) != 2 {
			t.Fatalf("%d members are found, want 2", len(found))
		}
		return found
	}
	clock.set(2 * time.Second)
	for i, p := range pods { // one on its own, the other with a batch
		load := registry.Load{RSS: int64(i+1) << 20}
		errs := []error{nil}
		if i == 0 {
			_, errs[0] = registry.New(s, &registry.Options{Now: clock.Now}).Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: p.Key(), Load: load, Clock: clock.Now()})
		} else {
			errs = r.Heartbeats(t.Context(), []registry.RemoteHeartbeat{{Member: p.Key(), Load: load, Clock: clock.Now()}})
		}
		if errs[0] != nil {
			t.Fatal(errs[0])
		}
	}
	check("after heartbeats", true)
	for i, p := range pods {
		h := all(t, r.History(t.Context(), p.Key(), time.Time{}, time.Time{}))
		if len(h) != 2 || h[1].RSS != int64(i+1)<<20 {
			t.Errorf("history of %s: %+v, want its own two samples", hosts[i], h)
		}
	}
	for k, st := range find() {
		if st.State != registry.Alive || st.Last.Count != 2 || len(st.Rivals) != 0 {
			t.Errorf("%s: %s after %d heartbeats, rivals %v", k, st.State, st.Last.Count, st.Rivals)
		}
	}
	if got, err := r.End(t.Context(), a, "done", 0); err != nil || got.Host != "podA" {
		t.Errorf("End = %s, %v", got.Host, err)
	}
	if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: a, Load: registry.Load{}}); !errors.Is(err, registry.ErrEnded) {
		t.Errorf("heartbeat after the end: %v, want ErrEnded", err)
	}
	if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: b, Load: registry.Load{RSS: 2 << 20}, Clock: clock.Now()}); err != nil {
		t.Errorf("heartbeat of the other: %v", err)
	}
	if found := find(); found[a].State != registry.Ended || found[b].State != registry.Alive {
		t.Errorf("%s and %s, want the first one ended", found[a].State, found[b].State)
	}
	for _, list := range [][]registry.Status{
		all(t, r.All(t.Context(), registry.Query{})), all(t, r.All(t.Context(), registry.Query{Addr: g.Addr()})), onePage(t, r, registry.Query{}),
		onePage(t, r, registry.Query{Addr: g.Addr()}),
	} {
		if len(list) != 2 {
			t.Errorf("a list has %d processes, want 2", len(list))
		}
	}
	for host, state := range map[string]registry.State{"podA": registry.Ended, "podB": registry.Alive} {
		if list := onePage(t, r, registry.Query{States: []registry.State{state}}); len(list) != 1 || list[0].Host != host {
			t.Errorf("%s: %d processes, want %s", state, len(list), host)
		}
	}
	check("after an end", true)

	if adopt { // an id of podA is none of podB's
		if _, err := r.AddEvidence(t.Context(), b, ids[:1], objectid.Modern); err != nil {
			t.Fatal(err)
		}
		if tr := trace(t, r, ids[0]); tr.Verdict != registry.Collision || len(tr.Processes) != 2 {
			t.Errorf("an id of both: %s of %d processes, want a collision", tr.Verdict, len(tr.Processes))
		}
		return
	}
	clock.set(400 * 24 * time.Hour)
	if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: b, Load: registry.Load{RSS: 2 << 20}, Clock: clock.Now()}); err != nil {
		t.Fatal(err)
	}
	if done, err := r.Prune(t.Context(), nil); err != nil || done.Records != 1 {
		t.Errorf("Prune = %+v, %v, want the record of podA alone", done, err)
	}
	check("after Prune", false)
	if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: a, Load: registry.Load{}}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("heartbeat of one that was pruned: %v, want ErrNotFound", err)
	}
}

func onePage(t *testing.T, r *registry.Registry, q registry.Query) []registry.Status {
	t.Helper()
	page, err := r.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return page.Processes
}

// A block whose claim was lost goes to another process. The first one is not recorded
// with the key of the second.
func TestMemberOfALostClaim(t *testing.T) {
	for _, lost := range [][]string{{"oid.values", "oid.living"}, {"oid.values"}} {
		testLostClaim(t, lost)
	}
}

func testLostClaim(t *testing.T, lost []string) {
	s := newStore(t)
	r := registry.New(s, nil)
	p, err := r.RegisterRemote(t.Context(), remote(t, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range lost {
		if _, err := s.DeleteRange(t.Context(), c, store.Range{}); err != nil {
			t.Fatal(err)
		}
	}
	second := registry.New(s, nil)
	block := idOf(t, p.Block)
	second.SetRandom(bytes.NewReader(block[4:8]))
	q, err := second.RegisterRemote(t.Context(), remote(t, 1), nil)
	if err != nil || q.Block != p.Block {
		t.Fatalf("the second has block %s, %v, want %s", q.Block, err, p.Block)
	}
	if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: p.Key(), Load: registry.Load{}}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("heartbeat of the first: %v, want ErrNotFound", err)
	}
	if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: q.Key(), Load: registry.Load{}}); err != nil {
		t.Errorf("heartbeat of the second: %v", err)
	}
}

// A registration with a key is one member, however often and by however many it is
// sent, also if a call was interrupted anywhere.
func TestRegistrationWithAKey(t *testing.T) {
	for name, adopt := range map[string]bool{"registered": false, "adopted": true} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			own := []objectid.ID{sample(t)}
			enter := func(s store.Store, o registry.RemoteOptions) (registry.MemberKey, error) {
				r := registry.New(s, nil)
				var p registry.Process
				var err error
				if adopt {
					p, err = r.AdoptRemote(t.Context(), remote(t, 7), own, objectid.Modern, &o)
				} else {
					p, err = r.RegisterRemote(t.Context(), remote(t, 7), &o)
				}
				return p.Key(), err
			}
			members := func() int {
				return len(all(t, registry.New(s, nil).All(t.Context(), registry.Query{GPID: remote(t, 7)})))
			}
			o := registry.RemoteOptions{Name: "shop", Host: "podA", Key: "7d6b2c1e-first"}
			first, err := enter(s, o)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if again, err := enter(s, o); again != first || err != nil {
					t.Errorf("sent again: %s, %v, want %s", again, err, first)
				}
			}
			o.Key = "7d6b2c1e-second"
			var wg sync.WaitGroup
			var keys [8]registry.MemberKey
			for i := range keys {
				wg.Go(func() {
					var err error
					if keys[i], err = enter(s, o); err != nil && !isCollision(err) {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			for _, k := range keys {
				if k != keys[0] || k == first {
					t.Errorf("sent 8 times at once: %v, want one other member", keys)
				}
			}
			if n := members(); n != 2 {
				t.Errorf("%d members with two keys, want 2", n)
			}
			for range 2 {
				if _, err := enter(s, registry.RemoteOptions{Name: "shop", Host: "podA"}); err != nil && !isCollision(err) {
					t.Fatal(err)
				}
			}
			if n := members(); n != 4 {
				t.Errorf("%d members after two calls without a key, want 4", n)
			}
			o.Name = "another"
			if _, err := enter(s, o); !errors.Is(err, registry.ErrKey) {
				t.Errorf("another process with the key: %v, want ErrKey", err)
			}
			r := registry.New(s, nil)
			if _, err := r.End(t.Context(), first, "done", 0); err != nil {
				t.Fatal(err)
			}
			if _, err := enter(s, registry.RemoteOptions{Name: "shop", Host: "podA", Key: "7d6b2c1e-first"}); !errors.Is(err, registry.ErrEnded) {
				t.Errorf("sent again after the end: %v, want ErrEnded", err)
			}
		})
	}
}

// A call that was cut off at any call of the store is completed by the next one.
func TestRegistrationWithAKeyThatIsInterrupted(t *testing.T) {
	o := &registry.RemoteOptions{Key: "7d6b2c1e-first"}
	for _, kind := range []fault{refused, lostAnswer} {
		for at, more := 0, true; more; at++ {
			s := newStore(t)
			more = false
			f := &faulty{Store: s, fail: func(call int, _ string) fault {
				if call < at {
					return none
				}
				more = true
				return kind
			}}
			_, failed := registry.New(f, nil).RegisterRemote(t.Context(), remote(t, 7), o)
			if more && failed == nil && at < 4 {
				t.Errorf("call %d failed, and the registration did not", at)
			}
			r := registry.New(s, nil)
			p, err := r.RegisterRemote(t.Context(), remote(t, 7), o)
			if err != nil {
				t.Fatalf("call %d, sent again: %v", at, err)
			}
			if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: p.Key(), Load: registry.Load{}}); err != nil {
				t.Errorf("call %d, heartbeat: %v", at, err)
			}
			if n := len(all(t, r.All(t.Context(), registry.Query{GPID: remote(t, 7)}))); n != 1 {
				t.Errorf("call %d: %d members, want 1", at, n)
			}
			if tr := trace(t, r, idOf(t, p.Block)); tr.Verdict != registry.Known || !tr.Certain {
				t.Errorf("call %d: %s, certain %v (%s)", at, tr.Verdict, tr.Certain, tr.Reason)
			}
		}
	}
}

// A program that does not know when it started sends the time of each call.
func TestKeyOfAnUnknownStart(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	own := []objectid.ID{sample(t)}
	enter := func(after time.Duration, known bool) (registry.Process, error) {
		g, err := gpid.New(netip.MustParseAddrPort("10.0.0.7:80"), own[0].Time().Add(after), 1)
		if err != nil {
			t.Fatal(err)
		}
		return r.AdoptRemote(t.Context(), g, own, objectid.Modern, &registry.RemoteOptions{Key: "7d6b2c1e-first", StartUnknown: !known})
	}
	first, err := enter(0, false)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := enter(30*time.Second, false); err != nil || again.Key() != first.Key() {
		t.Errorf("sent again later: %s, %v, want %s", again.Key(), err, first.Key())
	}
	if _, err := enter(-time.Second, true); !errors.Is(err, registry.ErrKey) {
		t.Errorf("another start: %v, want ErrKey", err)
	}
}
