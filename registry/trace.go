package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// Verdict of a [Trace].
type Verdict string

// Verdicts.
const (
	// Known: one process owned the process block of the id at its creation time.
	Known Verdict = "known"
	// Claimed: one process is said to have used the process value at that time, by a
	// sample, or because the id has its host and its pid. That is not proven.
	Claimed Verdict = "claimed"
	// Unknown: no registered process has used the process value.
	Unknown Verdict = "unknown"
	// Conflict: the process with the process value did not run at the id's
	// creation time.
	Conflict Verdict = "conflict"
	// Collision: more than one process had the process value at the id's creation
	// time.
	Collision Verdict = "collision"
)

// Verdicts lists all verdicts.
var Verdicts = []Verdict{Known, Claimed, Unknown, Conflict, Collision}

// Trace is the process that created an id, as far as it is known.
type Trace struct {
	ID      objectid.ID `json:"id"`
	Verdict Verdict     `json:"verdict"`
	// Reason for the verdict, in words.
	Reason string `json:"reason"`
	// Certain is set if the id is Known and was created while the registration of
	// the process was confirmed and its heartbeats arrived.
	Certain bool `json:"certain"`
	// Processes is the process that created the id, if it is Known or Claimed; the
	// candidates of a Conflict or a Collision; and otherwise empty.
	Processes []Status `json:"processes,omitempty"`
	// Claim is the adoption by which a Claimed id is traced, or nil.
	Claim *Adopted `json:"claim,omitempty"`

	// Classic is the host and the pid that the id has in the classic layout, if its
	// process value is not recorded and the host is known; otherwise nil.
	Classic *Classic `json:"classic,omitempty"`

	// Before and After are the samples next to the creation time of a Known or
	// Claimed id. Either may be missing.
	Before *Sample `json:"before,omitempty"`
	After  *Sample `json:"after,omitempty"`
	// CPU is the number of processors in use around that time, such as 1.5, or
	// [Unmeasured] without two samples.
	CPU float64 `json:"cpu"`
}

// Trace finds the process that created id.
func (r *Registry) Trace(ctx context.Context, id objectid.ID) (Trace, error) {
	t := Trace{ID: id, Verdict: Unknown, Reason: "no registered process has used this process value", CPU: Unmeasured}
	var sure, maybe, unheard, outside []maker
	var presumed *maker // presumed dead when the id was created
	claims, err := r.claims(ctx, []string{valueOf(id)})
	if err != nil {
		return t, err
	}
	holders, err := claims.holders(valueOf(id))
	if err != nil {
		return t, err
	}
	var near *nearSamples
	if len(holders) == 1 { // nearly always, and nearly always it created the id
		near = r.readNear(ctx, holders[0].block(), t.sampledAt())
		defer near.wait()
	}
	for _, h := range holders {
		s, recorded, err := r.holder(ctx, h)
		if err != nil {
			return t, err
		}
		c := newMaker(s, h)
		early, late := s.slack()
		switch at := id.Time(); {
		case !recorded:
			t.Reason = "the process block was claimed by a process that was never recorded, " + h.Process
		case at.Before(c.from.Add(-early).Truncate(time.Second)):
			outside = append(outside, c)
		case !s.Copied.IsZero() && !at.Before(s.Copied.Truncate(time.Second)): // by this process or a copy, whatever their states
			sure = addMaker(sure, c)
		case s.State == Dead && !s.Presumed && s.Successor.IsZero() && at.After(wall(r.options.Now)): // a process of this host, so of this clock
			outside = append(outside, c)
		case !at.After(s.Until.Add(late)):
			sure = addMaker(sure, c)
		case s.State == Late:
			maybe = addMaker(maybe, c)
		case s.Presumed:
			presumed = &c
			if !at.After(s.unheard.Add(late)) {
				unheard = addMaker(unheard, c)
			} else {
				outside = append(outside, c)
			}
		default:
			outside = append(outside, c)
		}
	}
	all := append(sure, maybe...)
	if len(all) == 0 {
		all = unheard
	}
	switch {
	case len(all) == 1:
		t.Processes = statuses(all)
		return t, r.explain(ctx, &t, &all[0], near, len(sure) == 1, presumed)
	case len(all) > 1:
		t.Verdict, t.Processes = Collision, statuses(all)
		t.Reason = fmt.Sprintf("%d processes had its process value at that time", len(t.Processes))
	case len(outside) > 0:
		t.Verdict, t.Processes = Conflict, statuses(outside)
		t.Reason = conflict(id, outside)
	default:
		return t, r.traceHost(ctx, &t)
	}
	return t, nil
}

// maker is a process that may have created an id, by one of its values.
type maker struct {
	Status
	drawn     bool      // the value is adopted: others may draw the same one
	claim     *Adopted  // the adoption, or nil
	from      time.Time // the earliest creation time of its ids with the value
	confirmed time.Time // see [Process.Confirmed]
}

func newMaker(s Status, h *holding) maker {
	c := maker{Status: s, drawn: strings.Contains(h.Key, ":"), claim: h.Adopted, from: s.From, confirmed: s.Confirmed}
	if c.claim != nil {
		c.from, c.confirmed = c.claim.From, c.claim.Confirmed
	}
	return c
}

func statuses(all []maker) []Status {
	out := make([]Status, len(all))
	for i := range all {
		out[i] = all[i].Status
	}
	return out
}

// addMaker appends c, or replaces another record of the same process by it, unless
// that one owns the block.
func addMaker(to []maker, c maker) []maker {
	for i := range to {
		if to[i].sameMaker(&c.Process) {
			if to[i].drawn {
				to[i] = c
			}
			return to
		}
	}
	return append(to, c)
}

// conflict returns the reason of a conflict: how far off the creation time is.
func conflict(id objectid.ID, outside []maker) string {
	if len(outside) > 1 {
		return fmt.Sprintf("none of the %d processes with its process value ran at that time", len(outside))
	}
	s := outside[0]
	if at := id.Time(); at.Before(s.from) {
		return fmt.Sprintf("created %v before the process had its value", s.from.Sub(at).Round(time.Second))
	} else if s.End != nil {
		return fmt.Sprintf("created %v after the process had ended", at.Sub(s.End.Time).Round(time.Second))
	} else {
		return fmt.Sprintf("created %v after the last heartbeat of the process, which is %s", at.Sub(s.Last.Time).Round(time.Second), s.State)
	}
}

// explain completes the trace of an id with one candidate. sure means that the
// process was alive for certain; presumed, if not nil, is another candidate unless
// it is as dead as presumed. near is nil or may be the samples of the process.
func (r *Registry) explain(ctx context.Context, t *Trace, p *maker, near *nearSamples, sure bool, presumed *maker) error {
	at := t.ID.Time()
	t.Verdict, t.Claim = Known, p.claim
	switch {
	case !p.Copied.IsZero() && !at.Before(p.Copied.Truncate(time.Second)):
		t.Reason = fmt.Sprintf("after %s the process was copied: it or its copy created the id", p.Copied.Format(time.RFC3339))
	case !sure && p.Presumed:
		t.Reason = fmt.Sprintf("created %v after the last heartbeat of a process that is presumed dead: later ones may have found no store", at.Sub(p.Last.Time).Round(time.Second))
	case !sure:
		t.Reason = fmt.Sprintf("created %v after the last heartbeat of a process that is late", at.Sub(p.Last.Time).Round(time.Second))
	case p.drawn && !p.State.mayLive() && p.End == nil && at.After(p.Last.Time):
		t.Reason = fmt.Sprintf("created %v after the last heartbeat of a process that is %s; when it died is not known", at.Sub(p.Last.Time).Round(time.Second), p.State)
	case (p.Clock == nil || p.drawn) && (at.Before(p.from.Truncate(time.Second)) || at.After(p.Until)):
		t.Reason = p.clockReason()
	case at.Before(p.confirmedFrom().Truncate(time.Second)):
		t.Reason = fmt.Sprintf("confirmed only from %s, when the process was recorded", p.confirmed.Format(time.RFC3339))
	case presumed != nil && !presumed.sameMaker(&p.Process):
		t.Reason = fmt.Sprintf("unless %v, which is presumed dead and had the same process value, is alive", presumed.GPID)
	default:
		t.Certain = true
		t.Reason = "the process had its process value at that time"
	}
	if p.claim != nil {
		reason := p.claim.claims(&p.Process)
		if !t.Certain {
			reason += "; " + t.Reason
		}
		t.Verdict, t.Certain, t.Reason = Claimed, false, reason
	}
	return r.measure(ctx, t, p, near)
}

// sampledAt returns the time after which the id was not created: the end of its second.
func (t *Trace) sampledAt() time.Time { return t.ID.Time().Add(time.Second) }

// measure adds the load of the process at the creation time. near is nil or may be the
// samples of the process.
func (r *Registry) measure(ctx context.Context, t *Trace, p *maker, near *nearSamples) error {
	early := near != nil && near.block == p.Block // they are read since before p was
	if !early {
		near = r.readNear(ctx, p.Block, t.sampledAt())
	}
	stored, err := near.wait()
	if err != nil {
		return err
	}
	before, after := around(slices.Concat(p.Recent, stored), t.sampledAt())
	if early && p.mayHaveStored(before, after) {
		return r.measure(ctx, t, p, nil)
	}
	t.After = after
	if len(before) > 0 {
		t.Before = &before[0]
	}
	if after != nil {
		before = append([]Sample{*after}, before...)
	}
	if len(before) >= 2 {
		t.CPU = Processors(before[1], before[0])
	}
	return nil
}

// mayHaveStored reports whether samples from between the two may have gone from the
// living record into the store since the store was read.
func (p *Process) mayHaveStored(before []Sample, after *Sample) bool {
	if after == nil || len(p.Recent) == 0 || !after.Time.Equal(p.Recent[0].Time) {
		return false
	}
	return len(before) == 0 || after.Time.Sub(before[0].Time) > 2*p.Interval
}

// confirmedFrom returns the creation time from which ids are confirmed, by the clock
// of the ids.
func (m *maker) confirmedFrom() time.Time {
	early, late := m.slack()
	switch {
	case m.Clock == nil:
		return m.confirmed
	case !m.drawn && m.confirmed.Equal(m.from): // from the first id on
		return m.from.Add(-early)
	default:
		return m.confirmed.Add(late)
	}
}

// clockReason says why ids that seem to be created before or after the process ran
// may be its own.
func (p *Process) clockReason() string {
	if p.Clock == nil {
		return "the clock of the process is not known, and may be off by this much"
	}
	return fmt.Sprintf("the clock of the process was %v", p.Clock)
}

// Processors returns how many processors a process used on average between two of
// its samples, or [Unmeasured].
func Processors(a, b Sample) float64 {
	if a.CPU < 0 || b.CPU < a.CPU || !b.Time.After(a.Time) {
		return Unmeasured
	}
	return float64(b.CPU-a.CPU) / float64(b.Time.Sub(a.Time))
}

// claims are the claims of blocks, and of the adopted values in them, by block.
type claims map[string][]*holding

// fewClaims is how many claims most blocks have at most.
const fewClaims = 4

// claims reads the claims of the blocks of values of 8 or 10 digits.
func (r *Registry) claims(ctx context.Context, used []string) (claims, error) {
	all := claims{}
	var blocks []string
	var ranges []store.Range
	for _, value := range used {
		block := value[:8]
		if _, there := all[block]; !there {
			all[block] = nil
			blocks, ranges = append(blocks, block), append(ranges, valueRange(block))
		}
	}
	found, err := findMany(ctx, r.store, values, ranges, fewClaims)
	if err != nil {
		return nil, err
	}
	for i, raws := range found {
		for _, raw := range raws {
			h, err := decode[holding](raw, values)
			if err != nil {
				return nil, err
			}
			all[blocks[i]] = append(all[blocks[i]], &h)
		}
	}
	return all, nil
}

// holders returns the claims of a value of 8 or 10 digits. Several goroutines may
// call it.
func (c claims) holders(value string) (found []*holding, err error) {
	for _, h := range c[value[:8]] {
		held, _, _ := strings.Cut(h.Key, ":")
		if h.Idle || !overlap(held, value) {
			continue
		}
		h := *h
		if err := h.expand(); err != nil {
			return nil, err
		}
		found = append(found, &h)
	}
	return found, nil
}

// has reports whether p has claimed its block.
func (c claims) has(p *Process) (bool, error) {
	for _, h := range c[p.Block] {
		if h.Key == p.Block {
			h := *h
			err := h.expand()
			return err == nil && h.of(p.Member), err
		}
	}
	return false, nil
}

// holder returns the process of h, or its essence if it was pruned. recorded is
// false if there is neither: the process has only claimed its block.
func (r *Registry) holder(ctx context.Context, h *holding) (s Status, recorded bool, err error) {
	p, err := r.load(ctx, h.Process)
	switch {
	case err == nil:
		s, err = r.status(ctx, p)
		return s, true, err
	case !errors.Is(err, store.ErrNotFound):
		return s, false, err
	case h.Pruned == nil:
		return s, false, nil
	}
	s, err = r.judge(h.Pruned, func() (*Process, error) { return nil, nil })
	if s.State.mayLive() {
		s.State, s.Presumed, s.Reason = Dead, true, "presumed: its record was pruned"
		age := wall(r.options.Now).Sub(s.Last.Time)
		s.unheard = r.outages.unheard(h.Pruned, time.Now().Add(-max(age, 0)))
	}
	return s, true, err
}
