package registry_test

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// moved is a wall clock that can be set.
type moved struct{ by atomic.Int64 }

func (c *moved) Now() time.Time      { return time.Now().Add(time.Duration(c.by.Load())) }
func (c *moved) set(d time.Duration) { c.by.Store(int64(d)) }

// elsewhere is a store as a process of another place writes to it: what it
// records of its kernel is changed.
type elsewhere struct {
	store.Store
	change func(*registry.Process)
}

func (e elsewhere) Insert(ctx context.Context, c string, doc any) (store.Key, error) {
	return e.Store.Insert(ctx, c, e.changed(doc))
}

func (e elsewhere) Replace(ctx context.Context, c string, doc any) error {
	return e.Store.Replace(ctx, c, e.changed(doc))
}

func (e elsewhere) changed(doc any) any {
	if p, ok := doc.(registry.Process); ok {
		e.change(&p)
		return p
	}
	return doc
}

func otherBoot(p *registry.Process)      { p.Kernel.Boot = "11111111-2222-3333-4444-555555555555" }
func otherNamespace(p *registry.Process) { p.Kernel.Namespace++ }
func earlierRun(p *registry.Process)     { p.Kernel.Ticks-- }

const beat = 100 * time.Millisecond

// The clocks of a member and of its reader are set back and forth. The member is
// alive throughout, and every id is traced to it.
func TestMovedClocksKillNobody(t *testing.T) {
	for name, change := range map[string]func(*registry.Process){
		"same container": func(*registry.Process) {}, "other container": otherNamespace,
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			var member, reader moved
			r := registry.New(s, &registry.View{Now: reader.Now})
			m := join(t, elsewhere{s, change}, registry.Options{Interval: time.Second, KeepSamples: 24 * time.Hour, Now: member.Now})
			random := rand.New(rand.NewPCG(1, 2))
			hour := int64(time.Hour)
			for i := range 20 {
				member.set(time.Duration(random.Int64N(2*hour) - hour))
				if i%2 == 0 {
					reader.set(time.Duration(random.Int64N(2*hour) - hour))
				}
				id := m.Generator().New()
				count := m.Process().Last.Count
				if i%5 == 4 {
					eventually(t, "a heartbeat", func() bool { return m.Process().Last.Count > count })
				}
				if st := statusOf(t, r, m.GPID()); st.State != registry.Alive {
					t.Errorf("member's clock off by %v, reader's by %v: %s (%s)", time.Duration(member.by.Load()), time.Duration(reader.by.Load()), st.State, st.Reason)
				}
				if i%5 == 4 {
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
	s := newStore(t)
	m := join(t, elsewhere{s, otherNamespace}, registry.Options{Interval: beat})
	r := registry.New(s, nil)
	if st := statusOf(t, r, m.GPID()); st.State != registry.Alive {
		t.Errorf("while it beats: %s (%s)", st.State, st.Reason)
	}
	if err := m.Detach(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "presumed dead", func() bool { return statusOf(t, r, m.GPID()).State == registry.PresumedDead })
	if idle := time.Since(m.Process().Last.Time); idle < 3*beat {
		t.Errorf("presumed dead after %v, want 3 intervals of %v at least", idle, beat)
	}
}

// Of a process of another host whose clock is an hour off, one look cannot tell
// whether it is alive. Looking again can.
func TestOtherHostsClockIsOff(t *testing.T) {
	for _, off := range []time.Duration{-time.Hour, time.Hour} {
		s := newStore(t)
		var clock moved
		clock.set(off)
		r := registry.New(s, nil)
		m := join(t, elsewhere{s, otherBoot}, registry.Options{Interval: time.Second, KeepSamples: time.Hour, Now: clock.Now})
		if st := statusOf(t, r, m.GPID()); st.State != registry.Silent {
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
		eventually(t, "presumed dead", func() bool { return statusOf(t, r, m.GPID()).State == registry.PresumedDead })
		// Somebody else who looks for the first time knows no more than before,
		// and says so of ids that are later than all that is known.
		fresh := registry.New(s, nil)
		if st := statusOf(t, fresh, m.GPID()); st.State != registry.Silent {
			t.Errorf("fresh look: %s, want silent", st.State)
		}
		if tr := trace(t, fresh, later(id, 600)); tr.Verdict != registry.Known || tr.Certain {
			t.Errorf("later id of a silent process: %s, certain %v", tr.Verdict, tr.Certain)
		}
		if tr := trace(t, r, later(id, 600)); tr.Verdict != registry.Conflict {
			t.Errorf("later id of a dead process: %s, want conflict", tr.Verdict)
		}
	}
}

func TestOneHostWasStartedAgain(t *testing.T) {
	s := newStore(t)
	m := join(t, elsewhere{s, otherBoot}, registry.Options{})
	if st := statusOf(t, registry.New(s, &registry.View{OneHost: true}), m.GPID()); st.State != registry.Dead {
		t.Errorf("a process of another boot on the only host: %s (%s), want dead", st.State, st.Reason)
	}
}

// A process with the same pid that began at another time is another process.
func TestReusedPID(t *testing.T) {
	s := newStore(t)
	m := join(t, elsewhere{s, earlierRun}, registry.Options{})
	if st := statusOf(t, registry.New(s, nil), m.GPID()); st.State != registry.Dead {
		t.Errorf("the pid now belongs to a later process: %s (%s), want dead", st.State, st.Reason)
	}
}

// At one address a later run of the same boot takes the place of the one before,
// unless that one still beats.
func TestReplaced(t *testing.T) {
	file := t.TempDir() + "/registry.db"
	s := openStore(t, file)
	r := registry.New(s, nil)
	first := join(t, elsewhere{s, otherNamespace}, registry.Options{Addr: "10.0.0.7:80", Interval: time.Hour, KeepSamples: time.Hour})
	run := start(t, file, "10.0.0.7:80", time.Hour, false)
	run.join()
	st := statusOf(t, r, first.GPID())
	if st.State != registry.Replaced {
		t.Errorf("with a later run at its address: %s (%s), want replaced", st.State, st.Reason)
	}
	listener := join(t, elsewhere{s, otherNamespace}, registry.Options{Addr: "10.0.0.8:80", Interval: beat})
	other := start(t, file, "10.0.0.8:80", time.Hour, false)
	other.join()
	count := listener.Process().Last.Count
	eventually(t, "two heartbeats", func() bool { return listener.Process().Last.Count >= count+2 })
	if st := statusOf(t, r, listener.GPID()); st.State != registry.Alive {
		t.Errorf("two processes share a port, and the first is %s (%s), want alive", st.State, st.Reason)
	}
}
