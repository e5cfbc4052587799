package server

import (
	"net/url"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/server/wire"
)

func rangePage(v *rangeView) g.Node {
	input := func(name, value, placeholder string) g.Node {
		return h.Input(h.ID(name), h.Name(name), h.Value(value), g.If(placeholder != "", h.Placeholder(placeholder)),
			h.AutoComplete("off"), g.Attr("spellcheck", "false"), g.If(placeholder != "", h.Aria("describedby", "times")))
	}
	field := func(name, label string, input g.Node) g.Node {
		return h.Div(h.Label(h.For(name), g.Text(label)), input)
	}
	return g.Group{
		heading("A time range as a query", g.Text("The index on "), h.Code(g.Text("_id")),
			g.Text(" is an index on creation time: these bounds find the documents created in between, without a timestamp field.")),
		h.Form(h.Method("get"), h.Action("/range"), h.Data("live", "range"),
			h.Input(h.Type("hidden"), h.Name("tz"), h.Value(v.Zone), h.Data("zone", "")),
			h.Div(h.Class("fields-row four"),
				field("from", "From", h.Div(h.Class("pick"), h.Data("pick", "the beginning"), input("from", v.From, "2026-11-01, -7d, an id…"))),
				field("to", "To, not included", h.Div(h.Class("pick"), h.Data("pick", "the end"), input("to", v.To, "now, 2026-12-01…"))),
				field("process", "Process value, or any", input("process", v.Process, "")),
				field("column", "SQL column", input("column", v.Column, ""))),
			h.Div(h.Class("row"), h.Button(h.Type("submit"), g.Text("Show")), presetLinks("/range", v.Since, v.kept())),
			h.Details(h.ID("times"), h.Summary(g.Text("What to type")), soft(g.Text(v.Help)))),
		h.Div(h.ID("result"), problem(v.Error), g.Iff(v.Range != nil, func() g.Node {
			return g.Group{
				h.Div(h.Class("tiles two"), bound("from", "no lower bound", v.Range.From), bound("to, not included", "no upper bound", v.Range.To)),
				h.H2(g.Text("Ready to paste")),
				queries(v.Range.Queries),
			}
		})),
	}
}

// kept are the parameters other than the time.
func (v *rangeView) kept() url.Values {
	q := url.Values{}
	if v.Process != "" {
		q.Set("process", v.Process)
	}
	if v.Column != "_id" {
		q.Set("column", v.Column)
	}
	return q
}

// bound shows one end of a range, or the text none.
func bound(name, none string, b *wire.TimedID) g.Node {
	label := h.Span(h.Class("soft"), g.Text(name))
	if b == nil {
		return h.Div(h.Class("tile"), label, h.B(g.Text(none)))
	}
	return h.Div(h.Class("tile"), label, h.B(h.Class("id"), h.Data("copy", ""), g.Text(b.ID.String())), timeNode(b.Time))
}
