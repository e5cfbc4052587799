package registry

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/store"
)

// State is whether a process is alive, as far as this Registry can tell.
type State string

// States of a process.
const (
	// Alive: the kernel of this host shows the process, or its heartbeats arrive.
	Alive State = "alive"
	// Late: no recent heartbeat is known, but the process may be alive. Its host may have
	// another clock than this host, or the store may not have answered. A long-lived
	// [Registry] finds out whether the process is alive or dead.
	Late State = "late"
	// Dead: the process has ended or is presumed dead, but no end is recorded.
	Dead State = "dead"
	// Ended: the end of the process is recorded.
	Ended State = "ended"
)

// States returns all states.
func States() []State { return []State{Alive, Late, Dead, Ended} }

func (s State) mayLive() bool { return s == Alive || s == Late }

// Status is a process and its state.
type Status struct {
	Process
	State State
	// Reason for the state, in words.
	Reason string
	// Presumed is set if the process is Dead only because heartbeats are missing: its death
	// is not proven.
	Presumed bool
	// Successor is the later run at the same address, if that run shows that the process is
	// Dead. Otherwise it is zero.
	Successor gpid.GPID
	// Until is the latest time at which the process may have created ids: its end if that
	// is known, otherwise three intervals after its last heartbeat.
	Until time.Time
	// ranUntil is until when the process certainly ran, and goneFrom from when it certainly
	// did not, or zero if not known. Both are creation times of ids.
	ranUntil, goneFrom time.Time
	// Rivals are other processes that have the same process value and may be alive.
	Rivals []gpid.GPID
}

// successor reports whether q, a later run at the address of p, has replaced p. It must be
// of the same boot and have started after the last heartbeat of p, by the monotonic clock.
// At a loopback or unspecified address it must also be in the same network namespace,
// because each namespace has such an address.
func successor(p, q *Process) bool {
	ip := p.GPID.Addr().Addr()
	if p.sameRun(q) || (ip.IsLoopback() || ip.IsUnspecified()) && p.Network != q.Network {
		return false
	}
	return p.Kernel.Boot == q.Kernel.Boot && q.Registered >= p.Last.Monotonic && q.Registered != 0
}

// reached returns the latest creation time that ids of p may have at a moment that is given
// by the monotonic and by the wall clock of its host. It is zero if that is not known. Ids
// lead the wall clock at most by as much as at the last heartbeat, unless the clock was set
// back since.
func (p *Process) reached(sinceBoot time.Duration, shown time.Time) time.Time {
	if sinceBoot == 0 || p.Last.Monotonic == 0 {
		return time.Time{}
	}
	return maxTime(shown, p.Last.Time.Add(sinceBoot-p.Last.Monotonic))
}

// judge returns the state of p. It calls next for the run that replaced p, or nil, only if the
// state depends on it. The first evidence in this list decides:
//
//	an end is recorded                                          ended
//	the kernel of this host shows whether p runs                alive, dead
//	a later run has the address of p                            dead
//	the kernel of p's host has shown that p was gone            dead
//	a heartbeat is recent, by the monotonic clock of this boot  alive
//	this host was started again, with Options.OneHost           dead
//	a sweep has moved p to the ended processes                  presumed dead
//	p is on another host: watched heartbeats, and the wall      alive, late, presumed dead
//	clock, see judgeRemote
//	heartbeats are missing, with or without an outage           late, presumed dead
func (r *Registry) judge(p *Process, next func() *Process) Status {
	s := Status{Process: *p, Until: p.Last.Time.Add(p.patience()), ranUntil: p.Last.Time, goneFrom: p.Gone}
	set := func(state State, reason string, args ...any) Status {
		s.State, s.Reason = state, fmt.Sprintf(reason, args...)
		return s
	}
	if p.End != nil {
		s.Until, s.ranUntil = p.End.Time, p.End.Time
		return set(Ended, "%s", p.End.Reason)
	}
	alive, err, gone := false, gpid.ErrElsewhere, "no longer runs and recorded no end"
	if self := r.here.self; self.Boot != "" && p.Kernel.Boot == self.Boot && p.Kernel.Namespace == self.Namespace {
		alive, err = p.Kernel.Alive()
	}
	if err == nil && alive && p.Program != 0 {
		if program, err := p.Kernel.Program(); err == nil && p.otherProgram(program) {
			alive, gone = false, "runs another program: it was "+replaced
		}
	}
	now := p.reached(monotonic(), wall(r.options.Now))
	if err == nil && alive {
		now = maxTime(now, wall(r.options.Now)) // of a remote process no monotonic time is known
		s.Until, s.ranUntil = maxTime(s.Until, now), maxTime(s.ranUntil, now)
		return set(Alive, "process %d of this host runs", p.Kernel.PID)
	}
	if err == nil && s.goneFrom.IsZero() {
		s.goneFrom = now
	}
	if later := next(); later != nil {
		s.Successor, s.Until = later.GPID, maxTime(p.Last.Time, minTime(later.From, s.Until))
		if later.Kernel == p.Kernel {
			s.goneFrom = p.reached(later.Registered, later.Confirmed)
			return set(Dead, "%s: %v", replaced, later.GPID)
		}
		return set(Dead, "replaced by %v", later.GPID)
	}
	if err == nil {
		return set(Dead, "process %d of this host %s", p.Kernel.PID, gone)
	}
	if !p.Gone.IsZero() {
		return set(Dead, "its host found that it no longer ran; it recorded no end")
	}
	since, ok := r.here.since(p.Kernel.Boot, p.Last.Monotonic)
	switch {
	case ok && since <= p.patience():
		s.ranUntil = maxTime(s.ranUntil, now)
		return set(Alive, "heartbeat %v ago", since.Round(time.Second))
	case !ok && r.options.OneHost && p.Kernel.Boot != "" && r.here.self.Boot != "" && p.Kernel.Boot != r.here.self.Boot:
		return set(Dead, "this host was started again")
	case p.moved:
		s.Presumed = true
		return set(Dead, "presumed: no heartbeat has come since a sweep removed it from the living processes")
	case !ok:
		return r.judgeRemote(p, s)
	}
	if outage := r.outages.recent(p); outage != "" {
		return set(Late, "no heartbeat for %v; %s", since.Round(time.Second), outage)
	}
	s.Presumed = true
	return set(Dead, "presumed: no heartbeat for %v", since.Round(time.Second))
}

// judgeRemote judges a process with which this host shares no clock except the wall clock.
// A missing heartbeat makes it late. Only after this Registry has watched it for long
// enough is it presumed dead.
func (r *Registry) judgeRemote(p *Process, s Status) Status {
	w := r.memory.watch(p)
	age := wall(r.options.Now).Sub(p.Last.Time)
	outage := r.outages.recent(p)
	switch waited := time.Since(w.since); {
	case waited > p.patience() && outage != "":
		s.State, s.Reason = Late, fmt.Sprintf("no heartbeat for %v; %s", waited.Round(time.Second), outage)
	case waited > p.patience():
		s.State, s.Presumed, s.Reason = Dead, true, fmt.Sprintf("presumed: no heartbeat came while this program watched for %v", waited.Round(time.Second))
	case w.moved:
		s.State, s.Reason = Alive, fmt.Sprintf("heartbeat seen %v ago", waited.Round(time.Second))
	case age.Abs() <= p.patience():
		s.State, s.Reason = Alive, fmt.Sprintf("heartbeat %v ago by its clock", age.Round(time.Second))
	case age < 0:
		s.State, s.Reason = Late, fmt.Sprintf("its clock is %v ahead", -age.Round(time.Second))
	default:
		s.State, s.Reason = Late, fmt.Sprintf("no heartbeat for %v by its clock", age.Round(time.Second))
	}
	if s.State == Alive {
		s.ranUntil = s.Until
	}
	return s
}

// The successor of a run is looked for among the next firstLater runs at its address,
// which nearly always suffice, and then among the next maxLater.
const (
	firstLater = 3
	maxLater   = 100
)

// status returns the state of one process, see statuses.
func (r *Registry) status(ctx context.Context, p *Process) (Status, error) {
	all, err := r.statuses(ctx, []*Process{p})
	if err != nil {
		return Status{}, err
	}
	return all[0], nil
}

// statuses returns the states of many processes, with few calls of the store. It reads
// later runs at their addresses only where the state depends on them.
func (r *Registry) statuses(ctx context.Context, all []*Process) ([]Status, error) {
	out := make([]Status, len(all))
	var asked []int // whose state depends on their successors
	var ranges []store.Range
	for i, p := range all {
		out[i] = r.judge(p, func() *Process {
			if addr := p.GPID.Addr(); addr.Port() != 0 && p.Kernel.Boot != "" { // others have none
				later := addrRange(addr)
				later.From = storeKey(processKey(p.GPID, p.Block) + "\x00")
				asked, ranges = append(asked, i), append(ranges, later)
			}
			return nil
		})
	}
	for _, limit := range []int{firstLater, maxLater} {
		if len(asked) == 0 {
			break
		}
		found, err := r.store.FindMany(ctx, processRecords, ranges, limit)
		if err != nil {
			return nil, fmt.Errorf("registry: read %s: %w", processRecords, err)
		}
		n := 0
		for k, i := range asked {
			next, err := successorIn(all[i], found[k])
			if err != nil {
				return nil, err
			}
			if next != nil {
				out[i] = r.judge(all[i], func() *Process { return next })
			} else if len(found[k]) == limit { // perhaps one of those after them
				asked[n], ranges[n] = i, ranges[k]
				n++
			}
		}
		asked, ranges = asked[:n], ranges[:n]
	}
	return out, nil
}

// successorIn returns the first of later, records of later runs, that is the successor of
// p, or nil.
func successorIn(p *Process, later []bson.Raw) (*Process, error) {
	for _, raw := range later {
		doc, err := decode[record](raw, processRecords)
		if err != nil || successor(p, &doc.Process) {
			return &doc.Process, err
		}
	}
	return nil, nil
}
