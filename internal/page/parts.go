package page

import (
	"net/url"
	"slices"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/server/wire"
)

// The parts that several pages are made of.

// moment formats a time for people.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" }

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// ErrorText returns what users see of an error, in at most 1000 bytes; "" for nil.
func ErrorText(err error) string {
	if err == nil {
		return ""
	}
	return phrase.Excerpt(phrase.Plain(err.Error()), 1000)
}

// problem shows what went wrong. It returns nil if text is empty.
func problem(text string) g.Node {
	if text == "" {
		return nil
	}
	return h.P(h.Class("problem"), h.Role("alert"), h.Lang("en"), g.Text(text)) // errors are English on each page
}

func soft(children ...g.Node) g.Node { return h.P(h.Class("soft"), g.Group(children)) }

func heading(title string, lead ...g.Node) g.Node {
	return g.Group{h.H1(g.Text(title)), h.P(h.Class("lead soft"), g.Group(lead))}
}

// panel returns a region that scrolls if its content is too wide.
func panel(class, label string, children ...g.Node) g.Node {
	return h.Div(h.Class("panel "+class), h.TabIndex("0"), h.Role("region"), h.Aria("label", label), g.Group(children))
}

// columns returns the head of a table.
func columns(names ...string) g.Node {
	return h.THead(h.Tr(g.Map(names, func(name string) g.Node { return h.Th(h.Scope("col"), g.Text(name)) })))
}

func timeNode(t time.Time) g.Node {
	return h.Time(h.DateTime(rfc3339(t)), h.Data("moment", ""), g.Text(moment(t)))
}

// agoNode shows how long ago t was. The script of the page keeps it up to date.
func agoNode(name string, t time.Time) g.Node {
	return g.El(name, h.Data("ago", rfc3339(t)), g.Text(phrase.Ago(t, time.Now())))
}

func (s *Site) fields(all []wire.Field) g.Node {
	return h.Span(h.Class("fields"), g.Map(all, func(f wire.Field) g.Node {
		return h.Span(h.Class("field f-"+f.Name), h.Span(h.Class("hex"), g.Text(f.Hex)),
			h.Span(h.Class("what"), g.Text(s.Say(f.Name)), g.Iff(f.Number != nil, func() g.Node {
				return g.Group{g.Text(" "), h.B(g.Textf("%d", *f.Number))}
			})))
	}))
}

// coloredID shows an id. If it is an ObjectId, its fields are coloured.
func coloredID(in *wire.Inspection) g.Node {
	if first := in.Readings[0]; first.Format == string(inspect.ObjectID) {
		return h.Span(h.Class("strip"), g.Map(first.Fields, func(f wire.Field) g.Node {
			return h.Span(h.Class("f-"+f.Name), g.Text(f.Hex))
		}))
	}
	return g.Text(in.ID)
}

func (s *Site) verdict(name string) g.Node {
	return h.Span(h.Class("verdict v-"+name), g.Text(s.Say(name)))
}

func state(name string) g.Node { return h.Span(h.Class("state s-"+name), g.Text(name)) }

// load shows the load of a process.
func load(texts []string) g.Node {
	return h.Span(h.Class("load"), g.Map(texts, func(text string) g.Node { return h.Span(g.Text(text)) }))
}

// usual is the query language that is shown first.
const usual = "mongosh"

// queries shows a query in the language that the user chooses with a radio button. The style
// sheet shows the text of the checked button, so that it works without a script. name is the
// name of the radio buttons, and must be unique on the page.
func (s *Site) queries(name string, all []wire.Query) g.Node {
	checked := max(slices.IndexFunc(all, func(q wire.Query) bool { return q.For == usual }), 0)
	i := 0
	return h.Div(h.Class("choice"), h.Role("radiogroup"), h.Aria("label", s.Say("Language of the query")),
		g.Map(all, func(q wire.Query) g.Node {
			id := name + "-" + q.For
			i++
			return g.Group{
				h.Input(h.Type("radio"), h.Name(name), h.ID(id), h.Value(q.For), h.AutoComplete("off"), g.If(i-1 == checked, h.Checked())),
				h.Label(h.ID("q-"+id), h.For(id), g.Text(q.For)),
			}
		}),
		g.Map(all, func(q wire.Query) g.Node {
			return h.Div(h.Class("query"),
				h.Div(h.Class("query-head"), soften(s.Say(q.About))),
				h.Pre(h.TabIndex("0"), h.Aria("labelledby", "q-"+name+"-"+q.For), h.Data("copy", ""), h.Code(g.Text(q.Text))))
		}))
}

// presetLinks returns a link for each preset. link makes the URL of a query. The links keep the
// parameters kept.
func (s *Site) presetLinks(link func(query string) string, since string, kept url.Values) g.Node {
	return h.Span(h.Class("presets"), g.Map(presets, func(p preset) g.Node {
		query := strings.TrimSuffix("?since="+p.Since+"&"+kept.Encode(), "&")
		return h.A(h.Class("chip"), h.Href(link(query)), g.If(p.Since == since, h.Aria("current", "true")), g.Text(s.Say(p.Name)))
	}))
}

// coloredDigits shows the three fields of an ObjectId in their colours.
func coloredDigits(seconds, value, rest string) g.Node {
	part := func(name, text string) g.Node { return h.Span(h.Class("f-"+name), g.Text(text)) }
	return h.Span(h.Class("strip"), part("seconds", seconds), part("process", value), part("counter", rest))
}

// field returns an input of a form with its label.
func field(id, label string, input g.Node) g.Node {
	return h.Div(h.Label(h.For(id), g.Text(label)), input)
}

// textInput returns an input that browsers neither fill in nor correct.
func textInput(name, value string, more ...g.Node) g.Node {
	return h.Input(g.Group(more), h.ID(name), h.Name(name), h.Value(value), h.AutoComplete("off"), g.Attr("spellcheck", "false"))
}

func fact(name string, value ...g.Node) g.Node {
	return h.Div(h.Dt(g.Text(name)), h.Dd(g.Group(value)))
}

// Verdicts of a trace that name one process.
const (
	known   = "known"
	claimed = "claimed"
)
