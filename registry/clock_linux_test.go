package registry_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

func otherBoot(p *registry.Process)      { p.Kernel.Boot = "11111111-2222-3333-4444-555555555555" }
func otherNamespace(p *registry.Process) { p.Kernel.Namespace++ }
func earlierRun(p *registry.Process)     { p.Kernel.Ticks-- }

// The clocks of a member and of its reader are set back and forth. The member is
// alive throughout, and every id is traced to it.
func TestMovedClocksKillNobody(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*registry.Process){
		"same container": func(*registry.Process) {}, "other container": otherNamespace,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			var member, reader moved
			r := registry.New(s, &registry.Options{Now: reader.Now})
			m := join(t, elsewhere{s, change}, options{Interval: 2 * time.Second, Now: member.Now})
			random := rand.New(rand.NewPCG(1, 2))
			hour := int64(time.Hour)
			for i := range 20 {
				member.set(time.Duration(random.Int64N(2*hour) - hour))
				if i%2 == 0 {
					reader.set(time.Duration(random.Int64N(2*hour) - hour))
				}
				id := m.Generator().New()
				count := m.Process().Last.Count
				if i%10 == 9 {
					eventually(t, "a heartbeat", func() bool { return m.Process().Last.Count > count })
				}
				if st := statusOf(t, r, m.GPID()); st.State != registry.Alive {
					t.Errorf("member's clock off by %v, reader's by %v: %s (%s)", time.Duration(member.by.Load()), time.Duration(reader.by.Load()), st.State, st.Reason)
				}
				if i%10 == 9 {
					// The heartbeat has seen the clock that made the id.
					if tr := trace(t, r, id); tr.Verdict != registry.Known {
						t.Errorf("member's clock off by %v: id %v of %v: %s (%s), last heartbeat %v", time.Duration(member.by.Load()), id, id.Time(), tr.Verdict, tr.Reason, m.Process().Last.Time)
					}
				}
			}
		})
	}
}

// In another container of the same boot, three missed heartbeats on the clock of
// the boot are what tells.
func TestPresumedDeadByTheClockOfTheBoot(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	const interval = time.Second
	m := join(t, elsewhere{s, otherNamespace}, options{Interval: interval})
	r := registry.New(s, nil)
	if st := statusOf(t, r, m.GPID()); st.State != registry.Alive {
		t.Errorf("while it beats: %s (%s)", st.State, st.Reason)
	}
	if err := m.Detach(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "presumed dead", func() bool { return fate(statusOf(t, r, m.GPID())) == "presumed dead" })
	if idle := registry.Monotonic() - m.Process().Last.Monotonic; idle < 3*interval {
		t.Errorf("presumed dead after %v, want 3 intervals of %v at least", idle, interval)
	}
}

// Of a process of another host whose clock is an hour off, one look cannot tell
// whether it is alive. Looking again can.
func TestOtherHostsClockIsOff(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-time.Hour, time.Hour} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			watchOtherHost(t, off)
		})
	}
}

func watchOtherHost(t *testing.T, off time.Duration) {
	s := newStore(t)
	var clock moved
	clock.set(off)
	r := registry.New(s, nil)
	m := join(t, elsewhere{s, otherBoot}, options{Interval: 2 * time.Second, Now: clock.Now})
	if st := statusOf(t, r, m.GPID()); st.State != registry.Late {
		t.Errorf("clock off by %v, first look: %s (%s), want silent", off, st.State, st.Reason)
	}
	count := m.Process().Last.Count
	eventually(t, "a heartbeat", func() bool { return statusOf(t, r, m.GPID()).Last.Count > count })
	if st := statusOf(t, r, m.GPID()); st.State != registry.Alive {
		t.Errorf("clock off by %v, second look: %s (%s), want alive", off, st.State, st.Reason)
	}
	id := m.Generator().New()
	if tr := trace(t, r, id); tr.Verdict != registry.Known {
		t.Errorf("clock off by %v: trace %s (%s)", off, tr.Verdict, tr.Reason)
	}
	if err := m.Detach(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "presumed dead", func() bool { return fate(statusOf(t, r, m.GPID())) == "presumed dead" })
	// Somebody else who looks for the first time knows no more than before,
	// and says so of ids that are later than all that is known.
	fresh := registry.New(s, nil)
	if st := statusOf(t, fresh, m.GPID()); st.State != registry.Late {
		t.Errorf("fresh look: %s, want silent", st.State)
	}
	if tr := trace(t, fresh, later(id, 600)); tr.Verdict != registry.Known || tr.Certain {
		t.Errorf("later id of a silent process: %s, certain %v", tr.Verdict, tr.Certain)
	}
	if tr := trace(t, r, later(id, 600)); tr.Verdict != registry.Known || tr.Certain {
		t.Errorf("later id of a process that is presumed dead: %s, certain %v", tr.Verdict, tr.Certain)
	}
}

func TestOneHostWasStartedAgain(t *testing.T) {
	s := newStore(t)
	m := join(t, elsewhere{s, otherBoot}, options{})
	if st := statusOf(t, registry.New(s, &registry.Options{OneHost: true}), m.GPID()); fate(st) != "dead" {
		t.Errorf("a process of another boot on the only host: %s (%s), want dead", st.State, st.Reason)
	}
}

// A process with the same pid that began at another time is another process.
func TestReusedPID(t *testing.T) {
	s := newStore(t)
	m := join(t, elsewhere{s, earlierRun}, options{})
	if st := statusOf(t, registry.New(s, nil), m.GPID()); fate(st) != "dead" {
		t.Errorf("the pid now belongs to a later process: %s (%s), want dead", st.State, st.Reason)
	}
}

// A process that is only presumed dead may be alive after all. Another one that
// holds the same value is then the candidate of new ids, but not for certain.
func TestPresumedDeadMayBeAlive(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	r := registry.New(s, nil)
	pid1, _ := sleeper(t)
	pid2, _ := sleeper(t)
	id := sample(t)
	first, err := adopt(t.Context(), elsewhere{s, otherNamespace}, id, options{PID: pid1, Interval: beat})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Detach(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "presumed dead", func() bool { return fate(statusOf(t, r, first.GPID())) == "presumed dead" })
	second, err := adopt(t.Context(), s, id, options{PID: pid2, Interval: beat})
	if err != nil {
		t.Fatal(err)
	}
	defer finish(t, second)
	eventually(t, "an id of the second", func() bool {
		fresh := objectid.MinAt(time.Now())
		copy(fresh[4:], id[4:])
		tr := trace(t, r, fresh)
		if tr.Verdict == registry.Claimed && (tr.Certain || tr.Processes[0].GPID != second.GPID()) {
			t.Errorf("%s, certain %v, %v", tr.Reason, tr.Certain, tr.Processes[0].GPID)
		}
		return tr.Verdict == registry.Claimed && strings.Contains(tr.Reason, first.GPID().String())
	})
}

// A Registry that is new does not know whether the store was away before: ids that a
// process created after its last heartbeat, which is presumed dead, are not a conflict.
func TestNewAfterAnOutage(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m := join(t, elsewhere{s, otherNamespace}, options{Interval: 500 * time.Millisecond})
	if err := m.Detach(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second)
	id := m.Generator().New()
	r := registry.New(s, nil)
	if st := statusOf(t, r, m.GPID()); fate(st) != "presumed dead" {
		t.Errorf("%s (%s)", st.State, st.Reason)
	}
	if tr := trace(t, r, id); tr.Verdict != registry.Known || tr.Certain {
		t.Errorf("%s, certain %v (%s), want known and not certain", tr.Verdict, tr.Certain, tr.Reason)
	}
}

// A clock is set back before a member creates its first id, or before it finds out that
// it was copied: its ids are not from before its registration.
func TestClockSetBackBeforeTheFirstID(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var clock moved
	m := join(t, s, options{Interval: beat, Now: clock.Now})
	clock.set(-time.Hour)
	r := registry.New(s, nil)
	if tr := trace(t, r, m.Generator().New()); tr.Verdict != registry.Known {
		t.Errorf("the first id: %s (%s)", tr.Verdict, tr.Reason)
	}
	block := m.Process().Block
	twin := m.Clone()
	defer finish(t, twin)
	eventually(t, "the copies part", func() bool { return m.Process().Block != block && twin.Process().Block != block })
	for _, m := range []*registry.Member{m, twin} {
		if tr := trace(t, r, m.Generator().New()); tr.Verdict != registry.Known {
			t.Errorf("the first id of a copy: %s (%s)", tr.Verdict, tr.Reason)
		}
	}
}
