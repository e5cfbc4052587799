package registry_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/registry"
)

func TestAtShowsRestarts(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/registry.db"
	s := openStore(t, file)
	r := registry.New(s, nil)
	var want []gpid.GPID
	for range 3 {
		p := start(t, file, "127.0.0.1:8080", time.Minute, false)
		p.join()
		want = append(want, p.gpid)
		p.kill()
	}
	elsewhere := start(t, file, "127.0.0.1:80", time.Minute, false)
	elsewhere.join()
	runs := all(t, r.All(t.Context(), registry.Query{Addr: netip.MustParseAddrPort("127.0.0.1:8080")}))
	if len(runs) != len(want) {
		t.Fatalf("%d runs, want %d", len(runs), len(want))
	}
	for i, run := range runs {
		state := "replaced"
		if i == len(runs)-1 {
			state = "dead"
		}
		if run.GPID != want[i] || fate(run) != state {
			t.Errorf("run %d: %v, %s (%s), want %v, %s", i, run.GPID, run.State, run.Reason, want[i], state)
		}
		if one := statusOf(t, r, want[i]); fate(one) != state {
			t.Errorf("run %d alone: %s, want %s", i, one.State, state)
		}
	}
	if n := len(all(t, r.All(t.Context(), registry.Query{}))); n != 4 {
		t.Errorf("List has %d processes, want 4", n)
	}
}

func TestKilledProcessKeepsItsLastSamples(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/registry.db"
	s := openStore(t, file)
	r := registry.New(s, nil)
	const interval = 200 * time.Millisecond
	p := start(t, file, "", interval, false)
	p.join()
	eventually(t, "ten heartbeats", func() bool { return statusOf(t, r, p.gpid).Last.Count >= 10 })
	p.make(1)
	before := statusOf(t, r, p.gpid)
	p.kill()
	after := statusOf(t, r, p.gpid)
	if fate(after) != "dead" || after.Last.Count < before.Last.Count {
		t.Errorf("after kill -9: %s, heartbeat %d, had %d", after.State, after.Last.Count, before.Last.Count)
	}
	h := all(t, r.History(t.Context(), keyOf(t, r, p.gpid), time.Time{}, time.Time{}))
	last := h[len(h)-1]
	if last.Time.Before(before.Last.Time) || last.RSS <= 0 || last.Threads <= 0 || last.Files <= 0 {
		t.Errorf("last sample, after the one of %v: %+v", before.Last.Time, last)
	}
	if int64(len(h)) != after.Last.Count {
		t.Errorf("%d samples of %d heartbeats", len(h), after.Last.Count)
	}
	if tr := trace(t, r, p.ids[0]); tr.Verdict != registry.Known || tr.Before == nil {
		t.Errorf("trace of its id: %+v", tr)
	}
}

// At one address a later run of the same boot takes the place of the one before,
// unless that one still beats.
func TestReplaced(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/registry.db"
	s := openStore(t, file)
	r := registry.New(s, nil)
	first := join(t, elsewhere{s, otherNamespace}, options{Addr: "10.0.0.7:80", Interval: time.Hour})
	run := start(t, file, "10.0.0.7:80", time.Hour, false)
	run.join()
	st := statusOf(t, r, first.GPID())
	if fate(st) != "replaced" {
		t.Errorf("with a later run at its address: %s (%s), want replaced", st.State, st.Reason)
	}
	listener := join(t, elsewhere{s, otherNamespace}, options{Addr: "10.0.0.8:80", Interval: time.Second})
	other := start(t, file, "10.0.0.8:80", time.Hour, false)
	other.join()
	count := listener.Process().Last.Count
	eventually(t, "two heartbeats", func() bool { return listener.Process().Last.Count >= count+2 })
	if st := statusOf(t, r, listener.GPID()); st.State != registry.Alive {
		t.Errorf("two processes share a port, and the first is %s (%s), want alive", st.State, st.Reason)
	}
}

// A process that has ended made no ids later than now, however long its heartbeats
// were to be waited for.
func TestIdOfADeadProcessFromTheFuture(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/registry.db"
	s := openStore(t, file)
	p := start(t, file, "127.0.0.1:9100", time.Hour, false)
	p.join()
	p.make(1)
	p.kill()
	r := registry.New(s, nil)
	if tr := trace(t, r, p.ids[0]); tr.Verdict != registry.Known {
		t.Errorf("its id: %s (%s)", tr.Verdict, tr.Reason)
	}
	if tr := trace(t, r, later(p.ids[0], 1800)); tr.Verdict != registry.Conflict {
		t.Errorf("an id of its own from in half an hour: %s (%s), want conflict", tr.Verdict, tr.Reason)
	}
}

// The run that replaced another is found next to it, and behind several others at the
// address, for one process and on a page.
func TestSuccessorBehindOthers(t *testing.T) {
	for _, behind := range []int{0, 5} {
		s := newStore(t)
		base := join(t, s, options{Addr: "10.0.0.7:8080", Interval: time.Hour}).Process()
		runs := make([]registry.Process, 2+behind)
		for i := range runs {
			p := base
			var err error
			if p.GPID, err = gpid.New(base.GPID.Addr(), base.GPID.Start().Add(time.Duration(i)*time.Second), 4711); err != nil {
				t.Fatal(err)
			}
			switch {
			case i == 0:
				p.Kernel.Ticks--
			case i < len(runs)-1:
				p.Kernel.Boot = "another"
			default:
				p.Kernel.Ticks -= 2
				p.Registered = base.Last.Monotonic + time.Second
			}
			runs[i] = p
			if _, err := s.Insert(t.Context(), "oid.processes", registry.RecordOf(p)); err != nil {
				t.Fatal(err)
			}
		}
		r, want := registry.New(s, nil), runs[len(runs)-1].GPID
		if st := statusOf(t, r, runs[0].GPID); st.State != registry.Dead || st.Successor != want {
			t.Errorf("behind %d: %s (%s), successor %v, want %v", behind, st.State, st.Reason, st.Successor, want)
		}
		page, err := r.List(t.Context(), registry.Query{})
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range page.Processes {
			if st.GPID == runs[0].GPID && (st.State != registry.Dead || st.Successor != want) {
				t.Errorf("behind %d, on a page: %s (%s), successor %v, want %v", behind, st.State, st.Reason, st.Successor, want)
			}
		}
	}
}
