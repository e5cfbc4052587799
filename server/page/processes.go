package page

import (
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/server/wire"
)

// Processes is the data of the page with all processes.
type Processes struct {
	Search, State, Name, Host, Address string // what was asked for
	Labels                             string // as name=value, separated by blanks

	States []string // that a process can have
	Rows   []ProcessRow
	Part   bool   // there are others, before or after
	Next   string // path of the next page, or empty
	Error  string
}

// ProcessRow is a row of the table.
type ProcessRow struct {
	wire.Process
	Identity string // its GPID, with the member key where others of the page have the same
	Started  time.Time
	Load     []Series      // its last minutes
	Interval time.Duration // between two samples
}

// Processes returns the list of processes with its filters.
func (s *Site) Processes(v *Processes) g.Node {
	return g.Group{
		heading("Processes", g.Text("Processes that create ids, their state, and their load.")),
		h.Form(h.Method("get"), h.Action(s.URL("/processes")), h.Data("live", "state"),
			h.Div(h.Class("fields-row list-by"), searchField("Search", "a name, a host, a GPID, a label…", v.Search),
				h.Div(h.Label(h.For("state"), g.Text("State")),
					h.Select(h.ID("state"), h.Name("state"), h.Option(h.Value(""), g.Text("all")), g.Map(v.States, func(name string) g.Node {
						return h.Option(g.If(name == v.State, h.Selected()), g.Text(name))
					}))),
				h.Button(h.Type("submit"), g.Text("Show"))),
			h.Details(g.If(v.Name+v.Host+v.Labels+v.Address != "", g.Attr("open")), h.Summary(g.Text("exact filters")),
				h.Div(h.Class("fields-row four"), filterField("name", "Name", v.Name), filterField("host", "Host", v.Host),
					filterField("label", "Labels, as name=value", v.Labels), filterField("address", "Address, as ip:port", v.Address)))),
		h.Div(h.ID("result"), h.Data("refresh", ""), problem(v.Error), g.Iff(v.Error == "", func() g.Node { return s.processTable(v) })),
	}
}

// filterField is a field of the form above the list.
func filterField(id, label, value string) g.Node {
	return field(id, label, h.Input(h.ID(id), h.Name(id), h.Value(value), h.MaxLength("200")))
}

func (s *Site) nextPage(href string) g.Node {
	return g.If(href != "", g.Group{g.Text("; "), h.A(h.Href(s.URL(href)), g.Text("next page"))})
}

func (s *Site) processTable(v *Processes) g.Node {
	if len(v.Rows) == 0 {
		return g.Group{soft(g.Text("0 alive"), s.nextPage(v.Next)), h.P(g.Text("No processes."))}
	}
	alive := int64(0)
	for i := range v.Rows {
		if v.Rows[i].State == "alive" {
			alive++
		}
	}
	return g.Group{
		soft(g.Text(phrase.Count(int64(len(v.Rows)), "process", "processes")), g.If(v.Part, g.Text(" on this page")), g.Textf(", %d alive", alive), s.nextPage(v.Next)),
		panel("scroll", "Processes", h.Table(h.Class("list"),
			columns("process", "state", "load", "started", "process value"),
			h.TBody(g.Map(v.Rows, s.processRowNode)))),
	}
}

func (s *Site) processRowNode(p ProcessRow) g.Node {
	started := rfc3339(p.Started)
	return h.Tr(
		h.Td(processLink(s, &p.Process), g.If(p.Host != "", h.Span(h.Class("soft"), g.Text(" on "+phrase.Shown(p.Host)))),
			h.Br(), h.Span(h.Class("soft id"), g.Text(phrase.Shown(p.Identity)))),
		h.Td(state(p.State), g.If(len(p.Rivals) > 0, g.Group{h.Br(), h.Span(h.Class("mark"), g.Textf("collision with %d", len(p.Rivals)))})),
		h.Td(briefLoad(p.Load, p.Interval)),
		h.Td(h.Time(h.DateTime(started), h.Data("moment", ""), h.Data("ago", started), h.Title(moment(p.Started)),
			g.Text(phrase.Ago(p.Started, time.Now())))),
		h.Td(h.Class("id"), g.Text(p.ProcessValue)))
}
