package registry

import (
	"fmt"
	"strings"
	"time"
)

// class says how well the evidence supports that a process ran in the second in which an id
// was created. docs/explanation/guarantees.md has a table of the cases.
type class int

// The classes, the weakest first.
const (
	// disproved means that the process did not run then, or did not have the process value.
	disproved class = iota
	// unlikely means that nothing proves that the process did not run then. It counts only
	// if there is no better candidate with the value.
	unlikely
	// possible means that the process probably ran then, without proof.
	possible
	// covered means that the process certainly ran then.
	covered
)

// ran returns how certain it is that the process ran at the second of an id. The text is
// the reason for doubt, or "" if there is none.
func (m *candidate) ran(at time.Time) (class, string) {
	early, late := m.slack()
	from, sure := m.from.Add(-early).Truncate(time.Second), m.ranUntil.Add(late)
	inside := !at.Before(from) && !at.After(sure)
	byOffset := at.Before(m.from.Truncate(time.Second)) || at.After(m.ranUntil)
	if c := m.Clock; c != nil && inside && !m.drawn { // assuming that its clock was not corrected after it was last read
		byOffset = at.Before(m.from.Add(c.Min).Truncate(time.Second)) || at.After(m.ranUntil.Add(c.Max+latency))
	}
	switch {
	case m.copied(at):
		return possible, fmt.Sprintf("the process was copied after %s: it or its copy created the id", m.Copied.Format(time.RFC3339))
	case inside && byOffset:
		return possible, m.clockReason()
	case inside:
		return covered, ""
	case m.StartUnknown && m.drawn && at.Before(from):
		return unlikely, "the process may have started before its first known id"
	case m.Remote && m.Clock == nil && (m.End != nil || at.Before(from)):
		return unlikely, m.clockReason()
	case at.Before(from):
		return disproved, fmt.Sprintf("created %s before the process had its value", wholeSeconds(m.from.Sub(at)))
	case m.End != nil:
		return disproved, fmt.Sprintf("created %s after the process had ended", wholeSeconds(at.Sub(m.End.Time)))
	case !m.goneFrom.IsZero() && at.After(m.goneFrom):
		return disproved, fmt.Sprintf("created %s after the process was seen to be gone: %s", wholeSeconds(at.Sub(m.goneFrom)), m.Reason)
	}
	after := fmt.Sprintf("created %s after the last heartbeat of a process that is ", wholeSeconds(at.Sub(m.Last.Time)))
	switch {
	case m.State == Late:
		return possible, after + "late"
	case m.State == Alive:
		return unlikely, after + "alive: the id is from the future, unless the clock of the process was set ahead"
	case m.Presumed:
		after += "presumed dead: its later heartbeats may not have reached the store"
	default:
		after += "dead: when it died is not known"
	}
	if at.After(m.Until.Add(late)) {
		return unlikely, after
	}
	return possible, after
}

// wholeSeconds formats d in whole seconds, rounded up because creation times of ids are
// rounded down. From two days on it formats whole days.
func wholeSeconds(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= 2*day {
		return fmt.Sprintf("%d days", d/day)
	}
	return (d + time.Second - 1).Truncate(time.Second).String()
}

// copied reports whether a copy of the process may have created an id of the second at.
func (p *Process) copied(at time.Time) bool {
	return !p.Copied.IsZero() && !at.Before(p.Copied.Truncate(time.Second))
}

// confirmedFrom returns the creation time from which ids are confirmed, by the clock of the
// ids.
func (m *candidate) confirmedFrom() time.Time {
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

// clockReason says why the process may have created ids that seem to be from before or
// after its life.
func (p *Process) clockReason() string {
	if p.Clock == nil {
		return "the clock of the process is not known, so it may have run at that time"
	}
	return fmt.Sprintf("the clock of the process was %v when it was read, but it may have been set since", p.Clock)
}

// candidate is a process that may have created an id, by one of its values.
type candidate struct {
	Status
	drawn     bool      // the value is adopted: others may draw the same one
	claim     *Adopted  // the adoption, or nil
	from      time.Time // the earliest creation time of its ids with the value
	confirmed time.Time // see [Process.Confirmed]

	class class  // whether it ran when the id was created
	doubt string // why it is not covered, or ""
}

func newCandidate(s Status, cl *claim) candidate {
	m := candidate{Status: s, drawn: strings.Contains(cl.Key, ":"), claim: cl.Adopted, from: s.From, confirmed: s.Confirmed}
	if m.claim != nil {
		m.from, m.confirmed = m.claim.From, m.claim.Confirmed
	}
	return m
}
