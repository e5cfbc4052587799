package server

import (
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

func inspectPage(v *inspectView) g.Node {
	return g.Group{
		heading("Inspect ids", g.Text("Paste one id, a thousand, or a whole line of a log. ObjectId, UUID, ULID, KSUID, xid, Snowflake, TypeID, CUID2, push ids of Firebase and gpids.")),
		h.Form(h.Method("post"), h.Action("/"), h.Data("live", "id"), h.Class("paste"),
			h.Label(h.For("id"), g.Text("Ids")),
			h.Textarea(h.ID("id"), h.Name("id"), h.Rows("3"), g.Attr("spellcheck", "false"), g.Attr("autocapitalize", "off"),
				h.AutoComplete("off"), h.AutoFocus(), h.Placeholder("507f1f77bcf86cd799439011"), g.Text(leadingLine(v.Text))),
			h.Div(h.Class("row"), h.Button(h.Type("submit"), g.Text("Inspect")), g.Iff(v.Text == "", func() g.Node {
				return h.Span(h.Class("soft"), g.Text("or try "),
					h.A(h.Href("/?id=507f1f77bcf86cd799439011"), g.Text("one from 2012")), g.Text(", "),
					h.A(h.Href("/?id="+v.Example), g.Text("a new one")))
			})),
		),
		h.Div(h.ID("result"),
			g.If(v.NoTrace != "", h.P(h.Class("note"), h.Role("status"), g.Text("Processes: "+v.NoTrace+"."))),
			g.Iff(len(v.Bad) > 0, func() g.Node {
				return h.Div(h.Class("finding"),
					h.P(h.Strong(g.Text(phrase.Count(int64(len(v.Bad)), "piece is not an id", "pieces are not ids")))),
					h.Ul(g.Map(v.Bad, func(b badPiece) g.Node { return h.Li(g.Textf("line %d: %s", b.Line, b.Error)) })))
			}),
			g.Map(v.Cards, card),
			g.Iff(len(v.Rows) > 0, func() g.Node { return idTable(v) }),
		),
	}
}

// leadingLine keeps an empty first line of text, which a browser drops from a
// textarea.
func leadingLine(text string) string {
	if len(text) > 0 && (text[0] == '\n' || text[0] == '\r') {
		return "\n" + text
	}
	return text
}

// card shows one id with all its readings.
func card(in inspected) g.Node {
	return h.Article(h.Class("panel card"),
		h.H2(h.Class("the-id"), h.Data("copy", ""), coloredID(&in.Inspection)),
		g.Iff(in.Time != nil, func() g.Node {
			t := *in.Time
			return h.Dl(h.Class("times"),
				h.Div(h.Dt(g.Text("UTC")), h.Dd(h.Time(h.DateTime(rfc3339(t)), g.Text(moment(t))))),
				h.Div(h.Data("local-of", rfc3339(t)), g.Attr("hidden"), h.Dt(g.Text("Local time")), h.Dd()),
				h.Div(h.Dt(g.Text("Relative")), agoNode("dd", t)),
				h.Div(h.Dt(g.Text("Unix")), h.Dd(g.Text(strconv.FormatInt(t.Unix(), 10)))))
		}),
		g.Iff(in.Trace != nil, func() g.Node {
			known := isFound(in.Trace)
			return g.Group{
				h.P(h.Class("made"), g.Text("Process: "), tracedProcess(in.Trace), h.Span(h.Class("soft"), g.Text(" · "+in.Trace.Reason))),
				g.Iff(known && in.Trace.Before != nil, func() g.Node {
					return soft(g.Text("Load at that time: "), load(&in.Trace.Before.Load))
				}),
			}
		}),
		g.Map(in.Readings, func(r wire.Reading) g.Node {
			name, reason := r.Format, r.Reason
			if r.Variant != "" {
				name += " " + r.Variant
			}
			if r.Time != nil {
				reason += " · " + moment(*r.Time)
			}
			return h.Section(h.Class("reading"), h.H3(g.Text(name+" "), verdict(r.Verdict)), soft(g.Text(reason)), fields(r.Fields))
		}),
	)
}

// tracedProcess is the process that created an id, or the verdict.
func tracedProcess(t *wire.Trace) g.Node {
	if !isFound(t) {
		return verdict(t.Verdict)
	}
	p := t.Processes[0]
	return g.Group{claimedBy(t), h.A(h.Href("/processes/"+p.GPID), g.Text(shown(p.Name))), g.Text(" "), h.Span(h.Class("soft id"), g.Text(p.GPID))}
}

// idTable shows many ids, a row each.
func idTable(v *inspectView) g.Node {
	return g.Group{
		soft(g.Textf("%d ids", len(v.Rows)), g.Iff(v.More > 0, func() g.Node {
			return g.Group{g.Textf("; %d more are not shown: use ", v.More), h.Code(g.Text("oid inspect")), g.Text(", which has no limit")}
		})),
		panel("scroll", "Ids", h.Table(h.Class("list"), columns("id", "created", "ago", "likely", "process"),
			h.TBody(g.Map(v.Rows, func(in inspected) g.Node {
				created, ago := g.Node(nil), g.Node(nil)
				if in.Time != nil {
					created, ago = timeNode(*in.Time), agoNode("span", *in.Time)
				}
				return h.Tr(
					h.Td(h.A(h.Class("id"), h.Href("/?id="+in.ID), coloredID(&in.Inspection))),
					h.Td(created), h.Td(h.Class("soft"), ago),
					h.Td(g.Text(in.Readings[0].Format+" "+in.Readings[0].Variant)),
					h.Td(g.Iff(in.Trace != nil, func() g.Node { return briefTrace(in.Trace) })))
			})))),
	}
}

func briefTrace(t *wire.Trace) g.Node {
	if !isFound(t) {
		return h.Span(h.Class("soft"), g.Text(t.Verdict))
	}
	return g.Group{claimedBy(t), h.A(h.Href("/processes/"+t.Processes[0].GPID), g.Text(shown(t.Processes[0].Name)))}
}

// isFound reports whether one process is known, or claimed, to have created the id.
func isFound(t *wire.Trace) bool {
	return t.Verdict == string(registry.Known) || t.Verdict == string(registry.Claimed)
}

// claimedBy is the words before the name of a process: none if it is known.
func claimedBy(t *wire.Trace) g.Node {
	return g.If(t.Verdict == string(registry.Claimed), h.Span(h.Class("soft"), g.Text("claimed by ")))
}
