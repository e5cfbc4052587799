package registry

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/objectid"
)

// Verdict of a [Trace].
type Verdict string

// Verdicts.
const (
	// Known: one process owned the process block of the id at its creation time.
	Known Verdict = "known"
	// Claimed: one process is said to have used the process value at that time, by a
	// evidence id, or because the id has its host and its pid. That is not proven.
	Claimed Verdict = "claimed"
	// Unknown: no registered process has used the process value.
	Unknown Verdict = "unknown"
	// Conflict: it is proven that no process that is recorded with the process value had
	// it at the id's creation time.
	Conflict Verdict = "conflict"
	// Collision: by the records, more than one process may have created the id.
	Collision Verdict = "collision"
)

// Verdicts returns all verdicts.
func Verdicts() []Verdict { return []Verdict{Known, Claimed, Unknown, Conflict, Collision} }

// Trace is the process that created an id, as far as it is known.
type Trace struct {
	ID      objectid.ID
	Verdict Verdict
	// Reason for the verdict, in words.
	Reason string
	// Certain is set if the id is Known and was created while the registration of
	// the process was confirmed, before its end or last heartbeat, or, if the process is
	// Alive, up to three intervals after it.
	Certain bool
	// Processes is the process that created the id, if it is Known or Claimed; the
	// candidates of a Conflict or a Collision; and otherwise empty.
	Processes []Status
	// Adopted is the adoption by which a Claimed id is traced, or nil.
	Adopted *Adopted

	// Classic is the host and the pid that the id has in the classic layout, if its
	// process value is not recorded and the host is known; otherwise nil.
	Classic *Classic

	// Before and After are the samples next to the creation time of a Known or
	// Claimed id. Either may be missing.
	Before *Sample
	After  *Sample
	// CPU is the number of processors in use around that time, such as 1.5, or
	// [Unmeasured] without two samples.
	CPU float64
}

// Trace finds the process that created id.
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
			t.Reason = "the process block was claimed by a process that was never recorded, " + cl.Process
			continue
		}
		m := newCandidate(s, cl)
		m.class, m.doubt = m.ran(id.Time())
		found = addCandidate(found, m)
	}
	// The verdict follows from how many makers of a class there are:
	//
	//	covered or possible             one: Known or Claimed, see explain; more: Collision
	//	none of these, but unlikely     the same
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

// traceHost looks for the process of an id, whose process value is not recorded, by
// the host and the pid that it has if its layout is classic.
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
		t.Reason = fmt.Sprintf("%s, pid %d, of which no process is recorded", where, t.Classic.PID)
	}
	return nil
}

func statuses(all []candidate) []Status {
	return each.Of(all, func(m candidate) Status { return m.Status })
}

// addCandidate appends m, or replaces another record of the same process by it if m is the
// better candidate, or as good and that one does not own the block.
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

// explain completes the trace of an id with one candidate. Others are recorded with its
// value and are unlikely to have created it.
func (r *Registry) explain(ctx context.Context, t *Trace, p *candidate, others []candidate) error {
	t.Verdict, t.Adopted, t.Reason = Known, p.claim, p.doubt
	if t.Reason == "" && t.ID.Time().Before(p.confirmedFrom().Truncate(time.Second)) {
		t.Reason = fmt.Sprintf("confirmed only from %s, when the process was recorded", p.confirmed.Format(time.RFC3339))
	}
	if t.Reason == "" && len(others) > 0 {
		t.Reason = fmt.Sprintf("unless %v created it, which is recorded with the same process value: %s", others[0].GPID, others[0].doubt)
	}
	if t.Certain = t.Reason == ""; t.Certain {
		t.Reason = "the process had its process value at that time"
	}
	if p.claim != nil {
		reason := p.claim.describe(&p.Process)
		if !t.Certain {
			reason += "; " + t.Reason
		}
		t.Verdict, t.Certain, t.Reason = Claimed, false, reason
	}
	return r.measure(ctx, t, p)
}

// measure adds the load of the process at the creation time.
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

// CPUUsed returns how many processors a process used on average between two of
// its samples, or [Unmeasured], also if a is nil.
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

// describe says, for a reason, who says that p uses the value, and what supports
// it.
func (a *Adopted) describe(p *Process) string {
	switch a.Evidence {
	case ByHostAndPID:
		return fmt.Sprintf("claimed by evidence id %v, which has host %s and pid %d of the process", a.EvidenceID, p.Host, p.GPID.PID())
	case ByPID:
		return fmt.Sprintf("claimed by evidence id %v, which has pid %d of the process", a.EvidenceID, p.GPID.PID())
	case ByTime:
		return fmt.Sprintf("claimed by evidence id %v, which was created while the process ran; nothing in it names the process", a.EvidenceID)
	}
	return fmt.Sprintf("claimed by evidence id %v", a.EvidenceID) // its evidence is pruned
}
