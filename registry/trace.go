package registry

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// Verdict says what is known of an id's maker.
type Verdict string

// Verdicts.
const (
	// Known: one process held the id's process value at the id's time.
	Known Verdict = "known"
	// Unrecorded: nobody is recorded to have held it.
	Unrecorded Verdict = "unknown"
	// Conflict: who held it was not running at the id's time.
	Conflict Verdict = "conflict"
	// Collision: more than one process held it at the id's time.
	Collision Verdict = "collision"
)

// Trace is what the registry tells of an id.
type Trace struct {
	ID      objectid.ID `json:"id"`
	Verdict Verdict     `json:"verdict"`
	// Reason says in words why.
	Reason string `json:"reason"`
	// Certain is set if the id is Known and was made when the registry had the
	// process's word and its heartbeats.
	Certain bool `json:"certain"`
	// Processes are the maker, if it is Known; those who come into question, if
	// there is a Conflict or a Collision; and otherwise none.
	Processes []Status `json:"processes,omitempty"`

	// Before and After are the samples next to the id's time, if it is Known.
	// Either may be missing.
	Before *Sample `json:"before,omitempty"`
	After  *Sample `json:"after,omitempty"`
	// CPU is the processors in use around that time: 1.5 is one and a half of
	// them. It is Unknown where there are no two samples.
	CPU float64 `json:"cpu"`
}

// Trace tells which process made id.
func (r *Registry) Trace(ctx context.Context, id objectid.ID) (Trace, error) {
	t := Trace{ID: id, Verdict: Unrecorded, Reason: "no process recorded its process value", CPU: Unknown}
	var sure, maybe, outside []Status
	var presumed *Status // dead, before the id was made, as far as anybody knows
	for h, err := range r.holders(ctx, valueOf(id)) {
		if err != nil {
			return t, err
		}
		s, recorded, err := r.holder(ctx, h)
		if err != nil {
			return t, err
		}
		switch at := id.Time(); {
		case !recorded:
			t.Reason = "its block was claimed by a process that never began, " + h.Process
		case at.Before(s.From.Truncate(time.Second)):
			outside = append(outside, s)
		case s.State == Dead && at.After(wall(r.view.Now)): // a process of this host, so of this clock
			outside = append(outside, s)
		case !at.After(s.Until):
			sure = addMaker(sure, s)
		case s.State == Silent:
			maybe = addMaker(maybe, s)
		default:
			outside = append(outside, s)
			if s.State == PresumedDead {
				presumed = &s
			}
		}
	}
	switch {
	case len(sure) == 1 && len(maybe) == 0, len(sure) == 0 && len(maybe) == 1:
		t.Processes = append(sure, maybe...)
		return t, r.explain(ctx, &t, len(sure) == 1, presumed)
	case len(sure)+len(maybe) > 1:
		t.Verdict, t.Processes = Collision, append(sure, maybe...)
		t.Reason = fmt.Sprintf("%d processes held its process value at that time", len(t.Processes))
	case len(outside) > 0:
		t.Verdict, t.Processes = Conflict, outside
		t.Reason = conflict(id, outside)
	}
	return t, nil
}

// addMaker appends s, or puts it in the place of another record of the same
// maker.
func addMaker(to []Status, s Status) []Status {
	for i := range to {
		if to[i].sameMaker(&s.Process) {
			to[i] = s
			return to
		}
	}
	return append(to, s)
}

// conflict says how far off the id's time is.
func conflict(id objectid.ID, outside []Status) string {
	if len(outside) > 1 {
		return fmt.Sprintf("none of the %d processes that held its process value ran at that time", len(outside))
	}
	s := outside[0]
	if at := id.Time(); at.Before(s.From) {
		return fmt.Sprintf("made %v before the process held its value", s.From.Sub(at).Round(time.Second))
	} else if s.End != nil {
		return fmt.Sprintf("made %v after the process had ended", at.Sub(s.End.Time).Round(time.Second))
	} else {
		return fmt.Sprintf("made %v after the last heartbeat of the process, which is %s", at.Sub(s.Last.Time).Round(time.Second), s.State)
	}
}

// explain completes the trace of an id whose maker is known: sure if that was
// alive for sure, and unless presumed, if it is not nil, was alive after all.
func (r *Registry) explain(ctx context.Context, t *Trace, sure bool, presumed *Status) error {
	p := &t.Processes[0]
	at := t.ID.Time()
	t.Verdict = Known
	switch {
	case !sure:
		t.Reason = fmt.Sprintf("made %v after the last heartbeat of a process that is silent", at.Sub(p.Last.Time).Round(time.Second))
	case p.Value != p.Block && !p.State.mayLive() && p.End == nil && at.After(p.Last.Time): // others may draw the value
		t.Reason = fmt.Sprintf("made %v after the last heartbeat of a process that is %s; when it died is not known", at.Sub(p.Last.Time).Round(time.Second), p.State)
	case at.Before(p.Certain.Truncate(time.Second)):
		t.Reason = fmt.Sprintf("certain only from %s, when the process was recorded", p.Certain.Format(time.RFC3339))
	case presumed != nil && !presumed.sameMaker(&p.Process):
		t.Reason = fmt.Sprintf("unless %v, which is presumed dead and held its process value too, is alive", presumed.GPID)
	default:
		t.Certain = true
		t.Reason = "the process held its process value at that time"
	}
	before, after, err := r.around(ctx, &p.Process, at.Add(time.Second)) // it was made some time in its second
	if err != nil {
		return err
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

// around returns up to two samples of p before a time, latest first, and the first
// one from then on.
func (r *Registry) around(ctx context.Context, p *Process, at time.Time) (before []Sample, after *Sample, err error) {
	// Samples are an interval apart as a rule, so that one query finds all three.
	const enough = 6
	from, n := at.Add(-3*p.Interval), 0
	for s, err := range r.samples(ctx, store.Query{Range: sampleRange(p.Block, from, time.Time{}), Limit: enough}) {
		if err != nil {
			return nil, nil, err
		}
		n++
		if !s.Time.Before(at) {
			after = &s
			break
		}
		before = append([]Sample{s}, before[:min(len(before), 1)]...)
	}
	cut := after == nil && n == enough // they are closer together
	if cut {
		for s, err := range r.samples(ctx, store.Query{Range: sampleRange(p.Block, at, time.Time{}), Limit: 1}) {
			if err != nil {
				return nil, nil, err
			}
			after = &s
		}
	}
	if cut || len(before) < 2 && from.After(p.From) {
		before = before[:0]
		for s, err := range r.samples(ctx, store.Query{Range: sampleRange(p.Block, time.Time{}, at), Descending: true, Limit: 2}) {
			if err != nil {
				return nil, nil, err
			}
			before = append(before, s)
		}
	}
	return before, after, nil
}

// Processors returns how many processors a process used on average between two
// of its samples, or [Unknown].
func Processors(a, b Sample) float64 {
	if a.CPU < 0 || b.CPU < a.CPU || !b.Time.After(a.Time) {
		return Unknown
	}
	return float64(b.CPU-a.CPU) / float64(b.Time.Sub(a.Time))
}

// holders returns who holds a value of 8 or 10 digits, or ever did.
func (r *Registry) holders(ctx context.Context, value string) iter.Seq2[*holding, error] {
	return func(yield func(*holding, error) bool) {
		for h, err := range read[holding](ctx, r.store, values, store.Query{Range: valueRange(value[:8])}) {
			if err == nil {
				held, _, _ := strings.Cut(h.Key, ":")
				if h.Idle || !overlap(held, value) {
					continue
				}
			}
			if !yield(h, err) || err != nil {
				return
			}
		}
	}
}

// holder returns the process that h is about, or what is left of it. It may have
// neither: a process that has just claimed its block.
func (r *Registry) holder(ctx context.Context, h *holding) (s Status, recorded bool, err error) {
	p, err := get[Process](ctx, r.store, processes, h.Process)
	switch {
	case err == nil:
		s, err = r.status(ctx, &p)
		return s, true, err
	case !errors.Is(err, store.ErrNotFound):
		return s, false, fmt.Errorf("registry: read process %s: %w", h.Process, err)
	case h.Pruned == nil:
		return s, false, nil
	}
	s, err = r.judge(h.Pruned, func() (*Process, error) { return nil, nil })
	if s.State.mayLive() {
		s.State, s.Reason = PresumedDead, "its record was pruned"
	}
	return s, true, err
}
