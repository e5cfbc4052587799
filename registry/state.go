package registry

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/oidkit/oid/gpid"
)

// State is what has become of a process.
type State string

// States of a process.
const (
	// Alive: the kernel of this host shows it, or its heartbeat is in time.
	Alive State = "alive"
	// Silent: it runs on another host and its heartbeats have stopped, or its
	// clock differs from this host's. A [Registry] that is kept finds out.
	Silent State = "silent"
	// Left: it ended and said so.
	Left State = "left"
	// Replaced: another run has taken its address.
	Replaced State = "replaced"
	// Dead: the kernel of this host shows that it has ended, and it never said so.
	Dead State = "dead"
	// PresumedDead: three heartbeats are missing.
	PresumedDead State = "presumed dead"
)

func (s State) mayLive() bool { return s == Alive || s == Silent }

// Status is a process and what has become of it.
type Status struct {
	Process
	State State `json:"state"`
	// Reason says in words why State is what it is.
	Reason string `json:"reason"`
	// Until is the latest time at which its ids were made for sure: that of its
	// end if it is known, and three intervals after its last heartbeat if not.
	Until time.Time `json:"until"`
	// Rivals are other processes that hold the same value and may be alive.
	Rivals []gpid.GPID `json:"rivals,omitempty"`
}

// successor returns the first of the later runs at p's address that took its
// place, or nil. That is a run of the same boot that began after p's last
// heartbeat, by the monotonic clock. At a loopback address it must be in the same
// network namespace too: each has its own.
func successor(p *Process, later []*Process) *Process {
	for _, q := range later {
		if p.GPID.Addr().Port() == 0 || q.GPID.Addr() != p.GPID.Addr() || p.sameRun(q) {
			continue
		}
		if p.GPID.Addr().Addr().IsLoopback() && p.Network != q.Network {
			continue
		}
		if p.Kernel.Boot != "" && p.Kernel.Boot == q.Kernel.Boot && q.Joined >= p.Last.Monotonic && q.Joined != 0 {
			return q
		}
	}
	return nil
}

// judge says what has become of p. It calls next for the run that took its address,
// which may be nil, if it has to know.
func (r *Registry) judge(p *Process, next func() (*Process, error)) (Status, error) {
	s := Status{Process: *p, Until: p.Last.Time.Add(p.patience())}
	set := func(state State, format string, args ...any) (Status, error) {
		s.State, s.Reason = state, fmt.Sprintf(format, args...)
		return s, nil
	}
	if p.End != nil {
		s.Until = p.End.Time
		return set(Left, "%s", p.End.Reason)
	}
	alive, err := false, gpid.ErrElsewhere
	if self := r.here.self; self.Boot != "" && p.Kernel.Boot == self.Boot && p.Kernel.Namespace == self.Namespace {
		alive, err = p.Kernel.Alive()
	}
	if err == nil && alive {
		if now := wall(r.view.Now); now.After(s.Until) {
			s.Until = now
		}
		return set(Alive, "process %d of this host runs", p.Kernel.PID)
	}
	later, nextErr := next()
	if nextErr != nil {
		return s, nextErr
	}
	if later != nil {
		if later.From.Before(s.Until) {
			s.Until = later.From
		}
		if s.Until.Before(p.Last.Time) {
			s.Until = p.Last.Time
		}
		return set(Replaced, "by %v", later.GPID)
	}
	if err == nil {
		return set(Dead, "process %d of this host has ended and never said so", p.Kernel.PID)
	}
	if since, ok := r.here.since(p.Kernel.Boot, p.Last.Monotonic); ok {
		if since > p.patience() {
			return set(PresumedDead, "no heartbeat for %v", since.Round(time.Second))
		}
		return set(Alive, "heartbeat %v ago", since.Round(time.Second))
	}
	if r.view.OneHost && p.Kernel.Boot != "" && r.here.self.Boot != "" {
		return set(Dead, "this host was started again")
	}
	return r.judgeFar(p, set)
}

// judgeFar judges a process with which this one shares no clock but the wall's:
// a late heartbeat alone makes it silent, and only waiting tells more.
func (r *Registry) judgeFar(p *Process, set func(State, string, ...any) (Status, error)) (Status, error) {
	w := r.watch(p)
	age := wall(r.view.Now).Sub(p.Last.Time)
	switch waited := time.Since(w.since); {
	case waited > p.patience():
		return set(PresumedDead, "no heartbeat in %v of watching", waited.Round(time.Second))
	case w.moved:
		return set(Alive, "heartbeat seen %v ago", waited.Round(time.Second))
	case age.Abs() <= p.patience():
		return set(Alive, "heartbeat %v ago by its clock", age.Round(time.Second))
	case age < 0:
		return set(Silent, "its clock is %v ahead", -age.Round(time.Second))
	default:
		return set(Silent, "no heartbeat for %v by its clock", age.Round(time.Second))
	}
}

// watch is what a Registry has seen of a member.
type watch struct {
	count int64     // of the last heartbeat seen
	since time.Time // when that was first seen, with a monotonic reading
	moved bool      // an earlier heartbeat had been seen before
}

// watch looks whether p has a new heartbeat.
func (r *Registry) watch(p *Process) watch {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, seen := r.watched[p.Member]
	if !seen || w.count != p.Last.Count {
		w = watch{count: p.Last.Count, since: time.Now(), moved: seen}
		r.watched[p.Member] = w
	}
	return w
}

// rivals returns the other processes that hold p's value, or a part of it, and
// may be alive.
func (r *Registry) rivals(ctx context.Context, p *Process) ([]gpid.GPID, error) {
	var found []gpid.GPID
	for h, err := range r.holders(ctx, p.Value) {
		if err != nil {
			return nil, err
		}
		if h.Member == p.Member {
			continue
		}
		// One that has not yet begun will look for rivals itself.
		s, _, err := r.holder(ctx, h)
		if err != nil {
			return nil, err
		}
		if s.State.mayLive() && !p.sameMaker(&s.Process) {
			found = append(found, s.GPID)
		}
	}
	return found, nil
}

// overlap reports whether two values, of 8 or 10 digits, have ids in common.
func overlap(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }
