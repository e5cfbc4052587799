package server

import (
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

func processesPage(v *processesView) g.Node {
	return g.Group{
		heading("Processes", g.Text("Processes that create ids, their state, and their load.")),
		h.Form(h.Method("get"), h.Action("/processes"), h.Data("live", "state"),
			h.Div(h.Class("fields-row list-by"), searchField("Search", "a name, a host, a GPID, a label…", v.Search),
				h.Div(h.Label(h.For("state"), g.Text("State")),
					h.Select(h.ID("state"), h.Name("state"), h.Option(h.Value(""), g.Text("all")), g.Map(v.States, func(s registry.State) g.Node {
						return h.Option(g.If(string(s) == string(v.State), h.Selected()), g.Text(string(s)))
					}))),
				h.Button(h.Type("submit"), g.Text("Show"))),
			h.Details(g.If(v.Name+v.Host+v.Labels+v.Address != "", g.Attr("open")), h.Summary(g.Text("exact filters")),
				h.Div(h.Class("fields-row four"), filterField("name", "Name", v.Name), filterField("host", "Host", v.Host),
					filterField("label", "Labels, as name=value", v.Labels), filterField("address", "Address, as ip:port", v.Address)))),
		h.Div(h.ID("result"), h.Data("refresh", "processes"), problem(v.Error), g.Iff(v.Error == "", func() g.Node { return processTable(v) })),
	}
}

// filterField is a field of the form above the list.
func filterField(id, label, value string) g.Node {
	return h.Div(h.Label(h.For(id), g.Text(label)), h.Input(h.ID(id), h.Name(id), h.Value(value), h.MaxLength("200")))
}

func nextPage(href string) g.Node {
	return g.If(href != "", g.Group{g.Text("; "), h.A(h.Href(href), g.Text("next page"))})
}

func processTable(v *processesView) g.Node {
	if len(v.Rows) == 0 {
		return g.Group{soft(g.Textf("%d alive", v.Alive), nextPage(v.Next)), h.P(g.Text("No processes."))}
	}
	return g.Group{
		soft(g.Textf("%d alive", v.Alive), nextPage(v.Next)),
		panel("scroll", "Processes", h.Table(h.Class("list"),
			columns("process", "state", "processors", "memory", "started", "process value"),
			h.TBody(g.Map(v.Rows, processRowNode)))),
	}
}

// processLink leads to the page of a member.
func processLink(p *wire.Process, text string) g.Node {
	return h.A(h.Href("/processes/"+p.GPID+"?member="+p.Member), g.Text(text))
}

func processRowNode(p processRow) g.Node {
	memory := ""
	if n := p.LastHeartbeat.MemoryBytes; n != nil {
		memory = bytesText(*n)
	}
	started := rfc3339(p.Started)
	return h.Tr(
		h.Td(processLink(&p.Process, shown(p.Name)), g.If(p.Host != "", h.Span(h.Class("soft"), g.Text(" on "+shown(p.Host)))),
			h.Br(), h.Span(h.Class("soft id"), g.Text(shown(p.Identity)))),
		h.Td(state(p.State), g.If(len(p.Rivals) > 0, g.Group{h.Br(), h.Span(h.Class("mark"), g.Textf("collision with %d", len(p.Rivals)))})),
		h.Td(h.Span(h.Class("number"), g.Text(p.Processors)), p.CPU),
		h.Td(h.Span(h.Class("number"), g.Text(memory)), p.Memory),
		h.Td(h.Time(h.DateTime(started), h.Data("moment", ""), h.Data("ago", started), h.Title(moment(p.Started)),
			g.Text(phrase.Ago(p.Started, time.Now())))),
		h.Td(h.Class("id"), g.Text(p.ProcessValue)))
}
