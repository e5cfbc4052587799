package registry_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/registry"
)

// The store is away for ten minutes. A process whose heartbeats cannot arrive is late
// and not dead until it has had the time to send one, and its ids are not said to be
// another's; a process that does not come back is dead then.
func TestOutageKillsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		fail := none
		f := &faulty{Store: s, fail: func(int, string) fault { return fail }}
		r := registry.New(f, nil)
		const interval = 10 * time.Second
		p, err := r.RegisterRemote(t.Context(), remote(t, 7), &registry.RemoteOptions{Interval: interval, Clock: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		look := func() registry.Status { return statusOf(t, r, p.GPID) }
		look()
		fail = refused
		for range 60 {
			time.Sleep(10 * time.Second)
			_, _ = r.Sweep(t.Context())
		}
		fail = none
		id := idOf(t, p.Block)
		for wait := time.Duration(0); wait < 11*interval; wait += interval {
			if st := look(); st.State != registry.Late {
				t.Fatalf("%v after the outage: %s (%s), want late", wait, st.State, st.Reason)
			}
			if tr := trace(t, r, id); tr.Verdict != registry.Known || tr.Certain {
				t.Fatalf("%v after the outage: %s, certain %v (%s)", wait, tr.Verdict, tr.Certain, tr.Reason)
			}
			time.Sleep(interval)
		}
		if st := look(); fate(st) != "presumed dead" {
			t.Errorf("two minutes after the outage: %s (%s), want presumed dead", st.State, st.Reason)
		}
		if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: p.Key(), Load: registry.Load{}, Clock: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if tr := trace(t, r, id); tr.Verdict != registry.Known {
			t.Errorf("after its next heartbeat: %s (%s)", tr.Verdict, tr.Reason)
		}
		s.Close()
	})
}

// A Registry that asked nothing of the store for a time, in which the store was away,
// does not know that it was: it says that instead of presuming a process dead, and
// allows for the ids that the process created meanwhile.
func TestIdleDuringAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		r := registry.New(s, nil)
		const interval = 10 * time.Second
		p, err := r.RegisterRemote(t.Context(), remote(t, 7), &registry.RemoteOptions{Interval: interval, Clock: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		statusOf(t, r, p.GPID)
		time.Sleep(5 * time.Minute) // the store is away, r asks nothing
		during := idOf(t, p.Block)
		time.Sleep(5 * time.Minute)
		for wait := time.Duration(0); wait < 11*interval; wait += interval {
			st := statusOf(t, r, p.GPID)
			if st.State != registry.Late || !strings.Contains(st.Reason, "did not use the store for 10m0s") {
				t.Fatalf("%v later: %s (%s), want late", wait, st.State, st.Reason)
			}
			if tr := trace(t, r, during); tr.Verdict != registry.Known || tr.Certain {
				t.Fatalf("%v later: %s, certain %v (%s)", wait, tr.Verdict, tr.Certain, tr.Reason)
			}
			time.Sleep(interval)
		}
		if st := statusOf(t, r, p.GPID); fate(st) != "presumed dead" {
			t.Errorf("two minutes later: %s (%s), want presumed dead", st.State, st.Reason)
		}
		if tr := trace(t, r, during); tr.Verdict != registry.Known || tr.Certain || !strings.Contains(tr.Reason, "presumed dead") {
			t.Errorf("created meanwhile: %s, certain %v (%s)", tr.Verdict, tr.Certain, tr.Reason)
		}
		if done, err := r.Prune(t.Context(), &registry.PruneOptions{Records: time.Minute}); err != nil || done.Records != 1 {
			t.Fatalf("Prune = %+v, %v", done, err)
		}
		if tr := trace(t, r, during); tr.Verdict != registry.Known || tr.Certain || !strings.Contains(tr.Reason, "presumed dead") {
			t.Errorf("created meanwhile, and pruned: %s, certain %v (%s)", tr.Verdict, tr.Certain, tr.Reason)
		}
		s.Close()
	})
}

// A member that cannot send a heartbeat goes on: its ids are known and not certain,
// although it is presumed dead.
func TestIdsOfAProcessThatIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		r := registry.New(s, nil)
		const interval = 10 * time.Second
		p, err := r.RegisterRemote(t.Context(), remote(t, 7), &registry.RemoteOptions{Interval: interval, Clock: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		for age := time.Duration(0); age <= 200*time.Second; age += interval {
			statusOf(t, r, p.GPID)
			tr := trace(t, r, idOf(t, p.Block))
			if tr.Verdict != registry.Known || tr.Certain != (age <= 30*time.Second) {
				t.Errorf("%v after the last heartbeat: %s, certain %v (%s)", age, tr.Verdict, tr.Certain, tr.Reason)
			}
			time.Sleep(interval)
		}
		s.Close()
	})
}
