package server

import (
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/plot"
)

func processPage(v *processView) g.Node {
	known := func(name, value string) g.Node { return g.If(value != "", fact(name, g.Text(value))) }
	host := v.Host
	if host == "" {
		host = "–"
	}
	return g.Group{
		h.P(h.Class("back"), h.A(h.Href("/processes"), g.Text("All processes"))),
		h.H1(g.Text(shown(v.Name)+" "), state(v.State)),
		h.P(h.Class("id wrap"), h.Data("copy", ""), g.Text(v.GPID)),
		soft(g.Text(v.Reason)),
		h.Dl(h.Class("facts"),
			fact("host", g.Text(host)),
			fact("address", g.Text(v.Address.String())),
			fact("pid", g.Text(strconv.Itoa(v.PID))),
			fact("started", timeNode(v.Started), g.Text(", "), agoNode("span", v.Started)),
			g.Iff(v.End != nil, func() g.Node { return fact("ended", timeNode(v.End.Time), g.Text(", "+v.End.Reason)) }),
			fact("last heartbeat", timeNode(v.LastHeartbeat.Time), g.Textf(", number %d", v.LastHeartbeat.Number)),
			known("version", v.Version),
			g.If(v.Executable != "", h.Div(h.Dt(g.Text("program")), h.Dd(h.Class("wrap"), g.Text(v.Executable)))),
			facts(v.Labels)),
		h.Div(h.ID("result"), h.Data("refresh", "5"),
			h.H2(g.Text("Load "), presetLinks("", v.Since)),
			loadPlots(v)),
		h.H2(g.Text("Its ids")),
		exampleNode(v.Example.Seconds, v.Example.Value, v.Example.Rest),
		soft(g.Text("In each id, the process value "), h.Span(h.Class("id"), g.Text(v.ProcessValue)),
			g.Text(" follows the seconds. To find the documents with its ids:")),
		queries(v.Queries),
	}
}

func loadPlots(v *processView) g.Node {
	if v.CPU == "" && v.Memory == "" {
		return soft(g.Textf("A plot needs two heartbeats; %s in this time.", phrase.Count(int64(v.Samples), "is there", "are there")))
	}
	drawing := func(title, label string, p plot.SVG) g.Node {
		return g.If(p != "", g.Group{h.H3(g.Text(title)), panel("scroll latest", label, p)})
	}
	return g.Group{
		drawing("Processors in use", "Plot of processors", v.CPU),
		drawing("Memory", "Plot of memory", v.Memory),
		soft(g.Textf("%d heartbeats, in UTC.", v.Samples)),
	}
}
