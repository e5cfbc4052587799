package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

const (
	noteAge  = 10 * time.Second // how old a note may be: processes end, and time goes on
	maxNotes = 1 << 16
)

// notes are what is known of ids.
type notes struct {
	std     streams
	tracer  *tracer
	failed  error // errReported once the registry has failed
	asked   time.Time
	known   map[string]note
	unknown map[[5]byte]bool // process values that no registered process has used
}

// note is what is known of one id.
type note struct {
	text   string // "" if that is nothing
	member noteMember
}

// noteMember is a note as JSON. The state is that at the time of the question.
type noteMember struct {
	ID      string           `json:"id"`
	Time    *time.Time       `json:"time"`
	Verdict registry.Verdict `json:"verdict,omitempty"`
	GPID    string           `json:"gpid,omitempty"`
	Name    string           `json:"name,omitempty"`
	State   registry.State   `json:"state,omitempty"`
}

func newNotes(std streams, t *tracer) *notes { return &notes{std: std, tracer: t} }

// refresh forgets notes that are too old, or too many.
func (n *notes) refresh(now time.Time) {
	if n.known == nil || now.Sub(n.asked) > noteAge || len(n.known)+len(n.unknown) > maxNotes {
		n.known, n.unknown, n.asked = map[string]note{}, map[[5]byte]bool{}, now
	}
}

// of returns the note on an id. A registry that fails is reported once.
func (n *notes) of(ctx context.Context, text string) note {
	if known, ok := n.known[text]; ok {
		return known
	}
	out := note{member: noteMember{ID: text}}
	var parts []string
	id, err := objectid.Parse(text)
	if err == nil {
		out.member.Time = new(id.Time())
	} else if report, err := inspect.Inspect(text, nil); err == nil {
		out.member.Time = report.Time
	}
	if out.member.Time != nil {
		parts = append(parts, phrase.Ago(*out.member.Time, n.asked))
	}
	if err == nil {
		if process := n.process(ctx, id, &out.member); process != "" {
			parts = append(parts, process)
		}
	}
	out.text = strings.Join(parts, ", ")
	if out.member.Verdict != "" { // any other note takes less time than to remember it
		n.known[strings.Clone(text)] = out
	}
	return out
}

// process returns the process that created id, or the verdict, or "" if none is known.
func (n *notes) process(ctx context.Context, id objectid.ID, m *noteMember) string {
	value := [5]byte(id[4:9])
	if n.tracer == nil || n.unknown[value] {
		return ""
	}
	t, err := n.tracer.trace(ctx, id)
	switch {
	case err != nil && ctx.Err() != nil:
		return ""
	case err != nil:
		n.std.warn("processes are not shown: %v", err)
		n.failed, n.tracer = errReported, nil
		return ""
	case t.Verdict == registry.Unknown:
		n.unknown[value] = true
		return ""
	}
	m.Verdict = t.Verdict
	if t.Verdict != registry.Known && t.Verdict != registry.Claimed {
		return string(t.Verdict)
	}
	p := t.Processes[0]
	m.GPID, m.Name, m.State = p.GPID.String(), p.Name, p.State
	return fmt.Sprintf("%s%s#%d %s", claimedBy(t), printable(p.Name), p.GPID.PID(), p.State)
}
