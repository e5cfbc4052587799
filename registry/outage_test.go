package registry_test

import (
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
		if _, err := r.Heartbeat(t.Context(), p.GPID, registry.Load{}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if tr := trace(t, r, id); tr.Verdict != registry.Known {
			t.Errorf("after its next heartbeat: %s (%s)", tr.Verdict, tr.Reason)
		}
		s.Close()
	})
}
