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
	known   map[string]string
	unknown map[[5]byte]bool // process values that no registered process has used
}

func newNotes(std streams, t *tracer) *notes { return &notes{std: std, tracer: t} }

// refresh forgets notes that are too old, or too many.
func (n *notes) refresh(now time.Time) {
	if n.known == nil || now.Sub(n.asked) > noteAge || len(n.known)+len(n.unknown) > maxNotes {
		n.known, n.unknown, n.asked = map[string]string{}, map[[5]byte]bool{}, now
	}
}

// of returns the note on an id, or "" if nothing is known of it. A registry that fails is
// reported once.
func (n *notes) of(ctx context.Context, text string) string {
	if known, ok := n.known[text]; ok {
		return known
	}
	id, err := objectid.Parse(text)
	if err != nil {
		if report, err := inspect.Inspect(text, nil); err == nil && report.Time != nil {
			return phrase.Ago(*report.Time, n.asked)
		}
		return ""
	}
	note := phrase.Ago(id.Time(), n.asked)
	if process := n.process(ctx, id); process != "" { // any other note takes less time than to remember it
		note += ", " + process
		n.known[strings.Clone(text)] = note
	}
	return note
}

// process returns the process that created id, or the verdict, or "" if none is known.
func (n *notes) process(ctx context.Context, id objectid.ID) string {
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
	if t.Verdict != registry.Known && t.Verdict != registry.Claimed {
		return string(t.Verdict)
	}
	p := t.Processes[0]
	return fmt.Sprintf("%s%s#%d %s", claimedBy(t), printable(p.Name), p.GPID.PID(), p.State)
}
