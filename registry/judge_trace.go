package registry

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/objectid"
)

// Verdict says how the processes of a [Trace] relate to its id.
type Verdict string

// Verdicts.
const (
	// Known: one process owned the process block of the id at its creation time.
	Known Verdict = "known"
	// Claimed: one process was adopted with the process value, or has the host and the pid
	// that the id contains. Neither proves that it created the id.
	Claimed Verdict = "claimed"
	// Unknown: no recorded process has ever had the process value.
	Unknown Verdict = "unknown"
	// Conflict: processes are recorded with the process value, but it is proven that none
	// of them had it at the creation time.
	Conflict Verdict = "conflict"
	// Collision: more than one recorded process may have created the id.
	Collision Verdict = "collision"
)

// Verdicts returns all verdicts.
func Verdicts() []Verdict { return []Verdict{Known, Claimed, Unknown, Conflict, Collision} }

// Trace is what is known about the process that created an id.
type Trace struct {
	ID      objectid.ID
	Verdict Verdict
	// Reason for the verdict, in words.
	Reason string
	// Certain is set if the verdict is Known and proven: when the id was created, exactly
	// one process had the process value, its registration was confirmed, and it was
	// running.
	Certain bool
	// Processes has one element if the verdict is Known or Claimed: the process that created
	// the id. For Conflict and Collision it has all candidates. Otherwise it is empty.
	Processes []Status
	// Adopted is the adopted value by which a Claimed id was traced, or nil.
	Adopted *Adopted

	// Classic is what the id says in the classic layout. It is nil if the process value is
	// recorded or the host is not known.
	Classic *Classic

	// Before and After are the samples before and after the creation time of a Known or
	// Claimed id. Each is nil if there is none.
	Before *Sample
	After  *Sample
	// CPU is how many processors the process used on average, such as 1.5, between Before
	// and After, or between the last two samples if After is nil. If there are no two
	// samples, it is [Unmeasured].
	CPU float64

	// Deploy is nil. A caller may set it to the result of [Tracer.Deploy].
	Deploy *Deploy
}

// Trace finds the process that created id. An id of which nothing is known is no error: its
// verdict is Unknown.
func (r *Registry) Trace(ctx context.Context, id objectid.ID) (Trace, error) {
	t := unknown(id)
	claims, err := r.claims(ctx, []string{valueOf(id)})
	if err != nil {
		return t, err
	}
	var found []candidate
	for _, cl := range claims.holders(valueOf(id)) {
		s, recorded, err := r.holder(ctx, cl)
		if err != nil {
			return t, err
		}
		if !recorded {
			t.Reason = "the process block belongs to a process that was never recorded: " + cl.Process
			continue
		}
		m := newCandidate(s, cl)
		m.class, m.doubt = m.ran(id.Time())
		found = addCandidate(found, m)
	}
	// The verdict follows from the number of candidates of each class:
	//
	//	covered or possible             one: Known or Claimed, see explain; more: Collision
	//	none of these, but unlikely     likewise
	//	none of these, but disproved    Conflict
	//	none at all                     Unknown, or by the host of the classic layout
	var by [covered + 1][]candidate
	for _, m := range found {
		by[m.class] = append(by[m.class], m)
	}
	all, outside := append(by[covered], by[possible]...), by[disproved]
	several := "%d processes are recorded with its process value at that time"
	if len(all) == 0 {
		all, several = by[unlikely], "%d processes are recorded with its process value: whether they ran at that time is not known"
	}
	switch {
	case len(all) == 1:
		t.Processes = statuses(all)
		return t, r.explain(ctx, &t, &all[0], by[unlikely])
	case len(all) > 1:
		t.Verdict, t.Processes = Collision, statuses(all)
		t.Reason = fmt.Sprintf(several, len(all))
	case len(outside) > 0:
		t.Verdict, t.Processes, t.Reason = Conflict, statuses(outside), outside[0].doubt
		if len(outside) > 1 {
			t.Reason = fmt.Sprintf("none of the %d processes recorded with its process value ran at that time", len(outside))
		}
	default:
		return t, r.traceHost(ctx, &t)
	}
	return t, nil
}

// traceHost completes the trace of an id whose process value is not recorded: it looks for
// a process with the host and the pid that the id contains if its layout is classic.
func (r *Registry) traceHost(ctx context.Context, t *Trace) (err error) {
	if t.Classic, err = r.classicOf(ctx, t.ID); err != nil || t.Classic == nil {
		return err
	}
	ran, others, err := r.runsOnHost(ctx, t.ID)
	if err != nil {
		return err
	}
	where := fmt.Sprintf("in the classic layout, machine %s is host %s", t.Classic.Machine, t.Classic.Host)
	switch {
	case len(ran) == 1:
		t.Processes, t.Verdict = statuses(ran), Claimed
		t.Reason = fmt.Sprintf("%s, where process %d ran at that time", where, ran[0].GPID.PID())
		return r.measure(ctx, t, &ran[0])
	case len(ran) > 1:
		t.Processes, t.Verdict = statuses(ran), Collision
		t.Reason = fmt.Sprintf("%s, where %d processes with pid %d ran at that time", where, len(ran), t.Classic.PID)
	case len(others) > 0:
		last := &others[len(others)-1]
		t.Reason = fmt.Sprintf("%s, pid %d: %s", where, last.GPID.PID(), last.doubt)
	default:
		t.Reason = fmt.Sprintf("%s, where no process with pid %d is recorded", where, t.Classic.PID)
	}
	return nil
}

func statuses(all []candidate) []Status {
	return each.Of(all, func(m candidate) Status { return m.Status })
}

// addCandidate appends m. If the list already has the same process by another claim, the
// better candidate stays; of two equal ones, the one that owns its block.
func addCandidate(to []candidate, m candidate) []candidate {
	for i := range to {
		if to[i].sameProcess(&m.Process) {
			if m.class > to[i].class || m.class == to[i].class && to[i].drawn {
				to[i] = m
			}
			return to
		}
	}
	return append(to, m)
}

// explain completes the trace of an id with one candidate. others have the same process
// value, but are unlikely to have created the id.
func (r *Registry) explain(ctx context.Context, t *Trace, p *candidate, others []candidate) error {
	t.Verdict, t.Adopted, t.Reason = Known, p.claim, p.doubt
	if t.Reason == "" && t.ID.Time().Before(p.confirmedFrom().Truncate(time.Second)) {
		t.Reason = fmt.Sprintf("the process was recorded only at %s, after the id was created", p.confirmed.Format(time.RFC3339))
	}
	if t.Reason == "" && len(others) > 0 {
		t.Reason = fmt.Sprintf("process %v is recorded with the same process value and may have created the id: %s", others[0].GPID, others[0].doubt)
	}
	if t.Certain = t.Reason == ""; t.Certain {
		t.Reason = "the process had its process value at that time"
	}
	if p.claim != nil {
		reason := p.claim.describe(&p.Process)
		if p.StartUnknown {
			reason += "; when the process started is not known"
		}
		if !t.Certain {
			reason += "; " + t.Reason
		}
		t.Verdict, t.Certain, t.Reason = Claimed, false, reason
	}
	return r.measure(ctx, t, p)
}

// measure adds the load of the process around the creation time.
func (r *Registry) measure(ctx context.Context, t *Trace, p *candidate) error {
	at := t.ID.Time().Add(time.Second) // the end of its second: the id was not created later
	stored, err := r.samplesNear(ctx, p.Block, at)
	if err != nil {
		return err
	}
	before, after := around(slices.Concat(p.Recent, stored), at)
	t.After = after
	if len(before) > 0 {
		t.Before = &before[0]
	}
	if after != nil {
		before = append([]Sample{*after}, before...)
	}
	if len(before) >= 2 {
		t.CPU = CPUUsed(&before[1], &before[0])
	}
	return nil
}

// CPUUsed returns how many processors a process used on average between samples a and b. It
// returns [Unmeasured] if a is nil, if b is not later than a, or if the processor time of a or
// b is not known. b must not be nil.
func CPUUsed(a, b *Sample) float64 {
	if a == nil || a.CPU < 0 || b.CPU < a.CPU || !b.Time.After(a.Time) {
		return Unmeasured
	}
	return float64(b.CPU-a.CPU) / float64(b.Time.Sub(a.Time))
}

// unknown returns the trace of an id that no process is known to have created.
func unknown(id objectid.ID) Trace {
	return Trace{ID: id, Verdict: Unknown, Reason: "no registered process has used this process value", CPU: Unmeasured}
}

// describe says, as a reason, by which evidence p was adopted.
func (a *Adopted) describe(p *Process) string {
	switch a.Evidence {
	case ByHostAndPID:
		return fmt.Sprintf("claimed by evidence id %v, which contains host %s and pid %d of the process", a.EvidenceID, p.Host, p.GPID.PID())
	case ByPID:
		return fmt.Sprintf("claimed by evidence id %v, which contains pid %d of the process", a.EvidenceID, p.GPID.PID())
	case ByTime:
		return fmt.Sprintf("claimed by evidence id %v, which was created while the process ran; nothing in it names the process", a.EvidenceID)
	}
	return fmt.Sprintf("claimed by evidence id %v", a.EvidenceID) // its evidence is pruned
}
