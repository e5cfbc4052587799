package page

import (
	"cmp"
	"maps"
	"net/url"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/internal/pure"
	"github.com/oidkit/oid/internal/timerange"
	"github.com/oidkit/oid/server/wire"
)

// preset is a time range that users choose with a click.
type preset struct {
	Name, Since string
}

var presets = []preset{{"last hour", "1h"}, {"last 24 hours", "24h"}, {"last 7 days", "7d"}, {"last 30 days", "30d"}}

// Range returns the view of ranges for a query: the form for a time range, the bounds of its
// ids, and queries for them. The range is the last 24 hours if the query names none. The view
// shows the error, which is about a value of the query.
func (s *Site) Range(q url.Values, now time.Time) (Frame, error) {
	span := timerange.Span{Since: q.Get("since"), From: q.Get("from"), To: q.Get("to")}
	process, column, zone := q.Get("process"), cmp.Or(q.Get("column"), "_id"), cmp.Or(q.Get("tz"), "UTC")
	asked := span
	if asked == (timerange.Span{}) {
		asked.Since = "24h"
	}
	found, err := pure.TimeRange(asked, column, process, zone, now)
	kept := url.Values{"process": {process}, "column": {column}} // what the links to other ranges keep
	maps.DeleteFunc(kept, func(_ string, value []string) bool { return value[0] == "" || value[0] == "_id" })
	picked := func(name, value, which, placeholder string) g.Node {
		return h.Div(h.Class("pick"), h.Data("pick", which), textInput(name, value, h.Placeholder(placeholder), h.Aria("describedby", "times")))
	}
	return Frame{Title: s.Say("Range"), Current: "/range", Contents: g.Group{
		heading(s.Say("A time range as a query"), s.Prose("The index on `_id` is also an index on creation time. These bounds find the documents that were created in a time range, without a timestamp field.")),
		h.Form(h.Method("get"), h.Action(s.URL("/range")), h.Data("live", "range"),
			h.Input(h.Type("hidden"), h.Name("tz"), h.Value(zone), h.Data("zone", "")),
			h.Div(h.Class("fields-row four"),
				field("from", s.Say("From"), picked("from", span.From, s.Say("the beginning"), s.Say("2026-11-01, -7d, an id…"))),
				field("to", s.Say("To (not included)"), picked("to", span.To, s.Say("the end"), "now, 2026-12-01…")),
				field("process", s.Say("Process value, or any"), textInput("process", process)),
				field("column", s.Say("SQL column"), textInput("column", column))),
			h.Div(h.Class("row"), h.Button(h.Type("submit"), g.Text(s.Say("Show"))), s.presetLinks(func(query string) string { return s.URL("/range" + query) }, span.Since, kept)),
			h.Details(h.ID("times"), h.Summary(g.Text(s.Say("What to type"))), soft(g.Textf(s.Say(timerange.Help("%s")), zone)))),
		h.Div(h.ID("result"), problem(ErrorText(err)), g.Iff(err == nil, func() g.Node {
			return g.Group{
				h.Div(h.Class("tiles two"), bound(s.Say("from"), s.Say("no lower bound"), found.From), bound(s.Say("to (not included)"), s.Say("no upper bound"), found.To)),
				h.H2(g.Text(s.Say("Ready to paste"))),
				s.queries("range", found.Queries),
			}
		})),
	}}, err
}

// bound shows one bound of a range. If b is nil, it shows the text none.
func bound(name, none string, b *wire.TimedID) g.Node {
	label := h.Span(h.Class("soft"), g.Text(name))
	if b == nil {
		return h.Div(h.Class("tile"), label, h.B(g.Text(none)))
	}
	return h.Div(h.Class("tile"), label, h.B(h.Class("id"), h.Data("copy", ""), g.Text(b.ID.String())), timeNode(b.Time))
}
