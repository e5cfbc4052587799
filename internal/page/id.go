package page

import (
	"errors"
	"net/url"
	"path"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/platform"
	"github.com/oidkit/oid/internal/plot"
	"github.com/oidkit/oid/internal/pure"
	"github.com/oidkit/oid/internal/timerange"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// Start is the data of the start page.
type Start struct {
	Text    string      // the text that was pasted
	Cards   []Inspected // the ids in the text, if there are few: each is shown with all details
	Rows    []Inspected // the ids in the text, if there are many: each is a row of a table
	Times   []TypedTime // the pieces of the text that are no ids, but times
	Bad     []BadPiece
	More    int    // how many further ids are not shown
	NoTrace string // why no processes are shown; empty if they are

	New *New // nil if the client may not create ids
	Now *Overview

	result g.Node // rendered by PrepareStart, or nil
}

// Inspected is the data of one id in the pasted text.
type Inspected struct {
	wire.Inspection
	// Load is the load of the process at the creation time, in words.
	Load []string
	// Around is the load of the process some minutes before and after the creation time.
	// Its points are Interval apart. It is nil if the text has several ids.
	Around   []Series
	Interval time.Duration
	// Times are the readings of the id as a time, if it is a number. Otherwise Times is nil.
	Times []timerange.Reading
	// Queries find the documents of the same second. It is nil if the text has several
	// ids.
	Queries []wire.Query
}

// BadPiece is a part of the pasted text that is not an id.
type BadPiece struct {
	Line  int // from 1
	Error string
}

// Bounds of what is read of a text.
const (
	maxCards = 6    // up to this number of ids, each is shown with all its readings
	maxBad   = 100  // messages about text that is not an id
	MaxRows  = 5000 // ids that are shown
	MaxLink  = 4000 // bytes of a text that goes into a link
)

// Read finds the ids in a text, and the times that somebody typed in the place of ids, see
// [timerange.Readings]. Times without a zone are in the zone of now. Read calls look for each
// id that is shown, from the first to the last; look returns what is known of the id.
func Read(text string, now time.Time, look func(id string) (Inspected, error)) Start {
	v := Start{Text: text}
	var found []Inspected
	var ignored []BadPiece
	tried := 0 // pieces that were tried as times
	for piece, err := range inspect.Scan(strings.NewReader(text)) {
		if len(found) == MaxRows {
			v.More++
			continue
		}
		var in Inspected
		if err == nil {
			in, err = look(piece.Text)
		}
		if (err != nil || in.Readings[0].Format == string(inspect.Snowflake)) && tried < maxBad {
			tried++
			in.Times = timerange.Readings(piece.Text, now)
		}
		switch {
		case err == nil:
			found = append(found, in)
		case in.Times != nil:
			v.Times = append(v.Times, TypedTime{piece.Text, in.Times})
		case errors.Is(err, inspect.ErrNoID): // such as a line of a log; it is reported only if no id is found
			if ignored == nil {
				ignored = []BadPiece{{piece.Line, phrase.Plain(err.Error())}}
			}
		case len(v.Bad) < maxBad:
			v.Bad = append(v.Bad, BadPiece{piece.Line, phrase.Plain(err.Error())})
		}
	}
	if len(found)+len(v.Times) == 0 && v.Bad == nil {
		v.Bad = ignored
	}
	if len(found) > maxCards {
		v.Rows = found
		return v
	}
	if v.Cards = found; len(found) == 1 && found[0].Time != nil && objectid.Valid(found[0].ID) {
		second := found[0].Time.Truncate(time.Second)
		found[0].Queries = pure.Range(objectid.Between(second, second.Add(time.Second)), "_id", "").Queries
	}
	return v
}

// PrepareStart renders the part of v about the pasted text, so that several pages can
// share it.
func (s *Site) PrepareStart(v *Start) { v.result = rendered(s.inspectResult(v)) }

// inspectResult shows what was found in the pasted text.
func (s *Site) inspectResult(v *Start) g.Node {
	return g.Group{
		g.If(v.NoTrace != "", h.P(h.Class("note"), h.Role("status"), g.Text("Processes: "+v.NoTrace+"."))),
		g.Iff(len(v.Bad) > 0, func() g.Node {
			return h.Div(h.Class("finding"),
				h.P(h.Strong(g.Text(phrase.Count(int64(len(v.Bad)), s.Say("piece is not an id"), s.Say("pieces are not ids"))))),
				h.Ul(g.Map(v.Bad, func(b BadPiece) g.Node { return h.Li(g.Textf(s.Say("line %d: %s"), b.Line, b.Error)) })))
		}),
		g.Map(v.Cards, s.Card),
		g.Map(v.Times, s.typedTime),
		g.Iff(len(v.Rows) > 0, func() g.Node { return s.idTable(v) }),
	}
}

// Card shows one id: when and by which process it was created, the state of the process, its
// load at that time, and all readings of the id.
func (s *Site) Card(in Inspected) g.Node {
	id, err := objectid.Parse(in.ID)
	first := in.Readings[0]
	return h.Article(h.Class("id-card"),
		h.Div(h.Class("id-head"), h.H2(h.Class("the-id"), h.Data("copy", in.ID), coloredID(&in.Inspection)), g.If(err == nil, s.copyAs(id))),
		h.Dl(h.Class("says"),
			g.Iff(in.Time != nil, func() g.Node { return s.when(s.Say("Created"), *in.Time) }),
			g.Iff(err == nil, func() g.Node { return s.traceNodes(&in) }),
			g.Iff(err == nil && in.Time != nil, func() g.Node {
				return says(s.Say("Documents"), "", h.Span(h.Class("presets"), s.idRanges(&in.Inspection)))
			}),
			says(s.Say("Format"), "", g.Text(readingName(&first)+" "), s.verdict(first.Verdict), soften(" "+s.Say(first.Reason)))),
		g.Map(in.Times, func(r timerange.Reading) g.Node { return s.readAsTime(s.Say("Or read as"), r) }),
		aroundNode(&in),
		g.If(len(in.Queries) > 0, g.Group{h.H3(g.Text(s.Say("The documents of its second"))), s.queries(in.ID, in.Queries)}),
		h.Details(h.Class("readings"), h.Summary(g.Text(map[bool]string{true: s.Say("fields"), false: s.Say("fields, and other readings")}[len(in.Readings) == 1])),
			g.Iff(in.Time != nil, func() g.Node { return soft(s.Prose("Unix time %d", in.Time.Unix())) }),
			g.Map(in.Readings, s.readingNode)),
	)
}

// says returns one line about an id. If text is not empty, the line has a button that copies
// text.
func says(name, text string, value ...g.Node) g.Node {
	return h.Div(h.Dt(g.Text(name)), h.Dd(g.If(text != "", h.Data("copy", text)), h.Div(g.Group(value))))
}

// copyAs returns a menu that copies an id in one of the notations.
func (s *Site) copyAs(id objectid.ID) g.Node {
	return h.Details(h.Class("menu"), h.Summary(h.Class("chip"), g.Text(s.Say("Copy as"))), h.Dl(g.Map(notations, func(n notation) g.Node {
		text := n.write(id)
		return h.Div(h.Dt(h.Title(s.Say(n.About)), g.Text(n.Name)), h.Dd(h.Data("copy", text), h.Code(g.Text(text))))
	})))
}

// rangeLink returns a link to the range of the ids from the second of from to that of to.
func (s *Site) rangeLink(name string, from, to time.Time, process string) g.Node {
	q := url.Values{"from": {rfc3339(from)}, "to": {rfc3339(to.Add(time.Second))}}
	if process != "" {
		q.Set("process", process)
	}
	return h.A(h.Class("chip"), h.Href(s.URL("/range?"+q.Encode())), g.Text(name))
}

// rangesAround returns links to the ranges of the documents that were created near a time.
func (s *Site) rangesAround(t time.Time) g.Node {
	t = t.Truncate(time.Second)
	around := func(name string, d time.Duration) g.Node { return s.rangeLink(name, t.Add(-d), t.Add(d), "") }
	return g.Group{around(s.Say("same second"), 0), around(s.Say("a minute around it"), 30*time.Second), around(s.Say("an hour around it"), 30*time.Minute)}
}

// idRanges returns links to the ranges of the documents that were created near an id, and by
// the same process.
func (s *Site) idRanges(in *wire.Inspection) g.Node {
	return g.Group{s.rangesAround(*in.Time), g.Iff(in.Trace != nil, func() g.Node {
		value := processValue(in)
		if in.Trace.Verdict == known {
			p := in.Trace.Processes[0]
			return s.rangeLink("same process", p.IDsFrom, p.IDsUntil, value)
		}
		const half = 12 * time.Hour
		return s.rangeLink("same process value, within a day", in.Time.Add(-half), in.Time.Add(half), value)
	})}
}

// processValue returns the digits of an ObjectId by which it is traced: the process block
// of its process or, if it has none, the digits between time and counter in the likeliest
// layout.
func processValue(in *wire.Inspection) string {
	after := in.ID[8:]
	if in.Trace.Verdict == known {
		if value := in.Trace.Processes[0].ProcessValue; strings.HasPrefix(after, value) {
			return value
		}
	}
	counter := in.Readings[0].Fields[len(in.Readings[0].Fields)-1]
	return after[:len(after)-len(counter.Hex)]
}

func readingName(r *wire.Reading) string {
	return strings.TrimSpace(r.Format + " " + r.Variant)
}

func (s *Site) readingNode(r wire.Reading) g.Node {
	reason := s.Say(r.Reason)
	if r.Time != nil {
		reason += " · " + moment(*r.Time)
	}
	return h.Section(h.Class("reading"), h.H3(g.Text(readingName(&r)+" "), s.verdict(r.Verdict)), soft(g.Text(reason)), s.fields(r.Fields))
}

// idTable shows each of many ids in a row.
func (s *Site) idTable(v *Start) g.Node {
	return g.Group{
		soft(s.Prose("%d ids", len(v.Rows)), g.Iff(v.More > 0, func() g.Node {
			return s.Prose("; %d more are not shown: use `oid inspect`, which has no limit", v.More)
		})),
		panel("scroll", s.Say("Ids"), h.Table(h.Class("list"), columns("id", s.Say("created"), s.Say("ago"), s.Say("likely"), s.Say("process")),
			h.TBody(g.Map(v.Rows, func(in Inspected) g.Node {
				created, ago := g.Node(nil), g.Node(nil)
				if in.Time != nil {
					created, ago = timeNode(*in.Time), agoNode("span", *in.Time)
				}
				return h.Tr(
					h.Td(h.A(h.Class("id"), h.Href(s.URL("/?id="+in.ID)), coloredID(&in.Inspection))),
					h.Td(created), h.Td(h.Class("soft"), ago),
					h.Td(g.Text(in.Readings[0].Format+" "+in.Readings[0].Variant)),
					h.Td(g.Iff(in.Trace != nil, func() g.Node { return s.briefTrace(in.Trace) })))
			})))),
	}
}

// traceNodes are the process that created an ObjectId, whether it lives, and its load at
// that time. What is not known is said with its reason.
func (s *Site) traceNodes(in *Inspected) g.Node {
	t := in.Trace
	if in.Readings[0].Verdict == string(inspect.Bound) && (t == nil || !isFound(t)) {
		return says(s.Say("Process"), "", soften(s.Say("none: this is not an id that a process generated")))
	}
	if t == nil {
		reason := "cannot be told: it was not looked up"
		if !s.Registry {
			reason = s.either("cannot be told: this server has no registry", "cannot be told without a registry: `oid serve` has one")
		}
		return says(s.Say("Process"), "", h.Span(h.Class("soft"), s.Prose(reason), g.Iff(s.Static && s.Docs != "", func() g.Node {
			docs, _, _ := strings.Cut(s.Docs, "#")
			deploy := docs[:strings.LastIndexByte(docs, '/')+1] + "deploy" + path.Ext(docs)
			return g.Group{g.Text(" · "), h.A(h.Href(deploy), g.Text(s.Say("how to run it")))}
		})))
	}
	if !isFound(t) {
		return g.Group{
			says("Process", "", s.verdict(t.Verdict), g.Map(t.Processes, func(p wire.Process) g.Node {
				return g.Group{g.Text(" "), processLink(s, &p), g.Text(" "), state(p.State)}
			}), soften(" · "+t.Reason)),
			says("Load then", "", soften("cannot be told without the process")),
			linksNode(t.Links),
		}
	}
	p := &t.Processes[0]
	facts := platform.Facts(p.Labels)
	return g.Group{
		says("Process", p.GPID, h.Span(h.Class("made"), claimedBy(t), processLink(s, p), g.Text(phrase.Shown(" "+p.Version)), g.If(p.Host != "", g.Text(" on "+phrase.Shown(p.Host)))),
			g.Text(" "), s.verdict(certainty(t)), h.Span(h.Class("soft id"), g.Text(" "+p.GPID)), soften(" · "+t.Reason), g.If(p.InstanceID != "", h.Span(h.Class("soft id"), g.Text(" · instance "+p.InstanceID)))),
		g.If(len(facts) > 0, says("It says", "", h.Span(h.Class("load"), g.Map(facts, func(f platform.Fact) g.Node {
			return h.Span(soften(f.Word+" "), g.Text(phrase.Shown(f.Value)))
		})))),
		g.Iff(t.Deploy != nil, func() g.Node { return says("Version", "", g.Text(phrase.Shown(t.Deploy.Text))) }),
		says("Its state", "", state(p.State), g.Iff(p.End != nil, func() g.Node { return g.Group{g.Text(" "), timeNode(p.End.Time)} }), soften(" "+p.Reason)),
		says("Load then", "", loadThen(in)),
		linksNode(t.Links),
	}
}

// linksNode shows the links of the operator, and why some of them cannot be made.
func linksNode(all []wire.Link) g.Node {
	return g.If(len(all) > 0, says("Links", "", h.Span(h.Class("presets"), g.Map(all, func(l wire.Link) g.Node {
		if l.Problem != "" {
			return soften(l.Name + ": no link, because " + phrase.Shown(l.Problem))
		}
		return h.A(h.Class("chip"), h.Href(l.URL), h.Rel("noreferrer"), g.Text(l.Name))
	}))))
}

func soften(text string) g.Node { return h.Span(h.Class("soft"), g.Text(text)) }

// certainty returns the verdict on an id whose process was found, in one word.
func certainty(t *wire.Trace) string {
	if t.Certain {
		return "certain"
	}
	return t.Verdict
}

// loadThen shows the load in the sample nearest to the creation time, or why there is none.
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

// aroundWidth is the approximate width of a plot on a phone, or next to another plot.
const aroundWidth = 480

// aroundNode plots the load of the process around the creation time of an id. All plots have
// the same time axis.
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

// processLink returns a link to the page of a process.
func processLink(s *Site, p *wire.Process) g.Node {
	return h.A(h.Href(s.URL("/processes/"+p.GPID+"?member="+p.Member)), g.Text(phrase.Shown(p.Name)))
}

// briefTrace shows the process of an id in a row of a table. If none was found, it shows the
// verdict.
func (s *Site) briefTrace(t *wire.Trace) g.Node {
	if !isFound(t) {
		return soften(t.Verdict)
	}
	return g.Group{claimedBy(t), processLink(s, &t.Processes[0])}
}

// isFound reports whether the trace names one process, known or claimed.
func isFound(t *wire.Trace) bool { return t.Verdict == known || t.Verdict == claimed }

// claimedBy returns the words before the name of a process. If the process is known, there
// are none.
func claimedBy(t *wire.Trace) g.Node { return g.If(t.Verdict == claimed, soften("claimed by ")) }
