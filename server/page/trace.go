package page

import (
	"fmt"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/plot"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// traceNodes are the process that created an ObjectId, whether it lives, and its load at
// that time. What is not known is said with its reason.
func (s *Site) traceNodes(in *Inspected) g.Node {
	t := in.Trace
	if in.Readings[0].Verdict == onlyTime && (t == nil || !isFound(t)) {
		return says("Process", "", soften("none: this is not an id that a process generated"))
	}
	if t == nil {
		reason := "cannot be told: it was not looked up"
		if !s.Registry {
			reason = "cannot be told: this server has no registry"
		}
		return says("Process", "", soften(reason))
	}
	if !isFound(t) {
		return g.Group{
			says("Process", "", verdict(t.Verdict), g.Map(t.Processes, func(p wire.Process) g.Node {
				return g.Group{g.Text(" "), processLink(s, &p), g.Text(" "), state(p.State)}
			}), soften(" · "+t.Reason)),
			says("Load then", "", soften("cannot be told without the process")),
		}
	}
	p := &t.Processes[0]
	return g.Group{
		says("Process", p.GPID, h.Span(h.Class("made"), claimedBy(t), processLink(s, p), g.If(p.Host != "", g.Text(" on "+phrase.Shown(p.Host)))),
			g.Text(" "), verdict(certainty(t)), h.Span(h.Class("soft id"), g.Text(" "+p.GPID)), soften(" · "+t.Reason)),
		says("Its state", "", state(p.State), soften(" "+p.Reason)),
		says("Load then", "", loadThen(in)),
	}
}

func soften(text string) g.Node { return h.Span(h.Class("soft"), g.Text(text)) }

// certainty is the verdict on an id whose process was found, in one word.
func certainty(t *wire.Trace) string {
	if t.Certain {
		return "certain"
	}
	return t.Verdict
}

// loadThen is the load in the sample next to the creation time, or why there is none.
func loadThen(in *Inspected) g.Node {
	t, at := in.Trace, ""
	switch {
	case t.Before == nil && t.After == nil:
		return soften("not measured: no heartbeat with a load is near this time")
	case len(in.Load) == 0:
		return soften("not measured: the heartbeats near this time have no load")
	case t.Before != nil:
		at = phrase.Length(t.Time.Sub(t.Before.Time)) + " before"
	default:
		at = phrase.Length(t.After.Time.Sub(t.Time)) + " after"
	}
	return g.Group{load(in.Load), soften(" · sampled " + at)}
}

// aroundWidth is about the width of a plot beside another, and on a phone.
const aroundWidth = 480

// aroundNode is the load of the process around the creation time of an id, as plots with
// one axis.
func aroundNode(in *Inspected) g.Node {
	if len(in.Around) == 0 || in.Time == nil {
		return nil
	}
	points := in.Around[0].Points
	axis := plot.Axis{From: points[0].Time, To: points[len(points)-1].Time, Mark: *in.Time, Label: "this id", Width: aroundWidth}
	if axis.Mark.Before(axis.From) {
		axis.From = axis.Mark
	}
	if axis.Mark.After(axis.To) {
		axis.To = axis.Mark
	}
	plots := drawLoads(in.Around[:min(len(in.Around), briefly)], axis, in.Interval)
	return g.If(len(plots) > 0, h.Div(h.Class("pair"), g.Group(plots)))
}

// besideNode names the counters beside that of an ObjectId of a known process. Nothing says
// when they were used.
func besideNode(in *wire.Inspection) g.Node {
	id, err := objectid.Parse(in.ID)
	fields := in.Readings[0].Fields
	if err != nil || len(fields) == 0 || fields[len(fields)-1].Number == nil || len(fields[len(fields)-1].Hex) != counterDigits {
		return nil
	}
	text := id.String()
	counter := *fields[len(fields)-1].Number
	around := func(distance uint64) string {
		return "…" + fmt.Sprintf("%s%06x", text[14:18], (counter+distance)%(1<<24))
	}
	return says("Beside it", "", g.Text("counter "+humanize.Comma(int64(counter))),
		soften(" · next to it are the ids "), h.Span(h.Class("id"), g.Text(around(1<<24-1))), soften(" and "), h.Span(h.Class("id"), g.Text(around(1))),
		soften("; when, or whether, they were created is not in this id"))
}

// counterDigits is the length of a counter of three bytes.
const counterDigits = 6

// processLink leads to the page of a process.
func processLink(s *Site, p *wire.Process) g.Node {
	return h.A(h.Href(s.URL("/processes/"+p.GPID+"?member="+p.Member)), g.Text(phrase.Shown(p.Name)))
}

// briefTrace is the process of an id in a row of a table, or the verdict.
func (s *Site) briefTrace(t *wire.Trace) g.Node {
	if !isFound(t) {
		return soften(t.Verdict)
	}
	return g.Group{claimedBy(t), processLink(s, &t.Processes[0])}
}

// isFound reports whether one process is known, or claimed, to have created the id.
func isFound(t *wire.Trace) bool { return t.Verdict == known || t.Verdict == claimed }

// claimedBy is the words before the name of a process: none if it is known.
func claimedBy(t *wire.Trace) g.Node { return g.If(t.Verdict == claimed, soften("claimed by ")) }
