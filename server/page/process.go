package page

import (
	"cmp"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// Process is the data of the page of one process.
type Process struct {
	wire.Process
	Members  []wire.Process // with its GPID, itself among them
	Address  netip.AddrPort
	PID      int
	Started  time.Time
	Since    string
	Samples  int
	Load     []Series
	Interval time.Duration // between two samples
	Queries  []wire.Query
}

// Process returns the page of one process: its facts, its load, and the queries for its ids.
func (s *Site) Process(v *Process) g.Node {
	known := func(name, value string) g.Node { return g.If(value != "", fact(name, g.Text(value))) }
	seconds := objectid.At(v.LastHeartbeat.Time).String()[:8]
	return g.Group{
		h.P(h.Class("back"), h.A(h.Href(s.URL("/processes")), g.Text("All processes"))),
		h.H1(g.Text(phrase.Shown(v.Name)+" "), state(v.State)),
		h.P(h.Class("id wrap"), h.Data("copy", ""), g.Text(v.GPID)),
		soft(g.Text(v.Reason)),
		g.Iff(len(v.Members) > 1, func() g.Node {
			return g.Group{
				soft(g.Textf("%d members have this GPID: registrations of one process, or processes of several hosts.", len(v.Members))),
				h.Ul(g.Map(v.Members, func(p wire.Process) g.Node {
					return h.Li(h.Class("id"), h.A(h.Href(s.URL("/processes/"+p.GPID+"?member="+p.Member)), g.Text(p.Member)), g.Text(" "+phrase.Shown(cmp.Or(p.Host, "–"))+" "), state(p.State))
				})),
			}
		}),
		h.Dl(h.Class("facts"),
			known("host", v.Host),
			fact("address", g.Text(v.Address.String())),
			fact("pid", g.Text(strconv.Itoa(v.PID))),
			fact("started", timeNode(v.Started), g.Text(", "), agoNode("span", v.Started)),
			g.Iff(v.End != nil, func() g.Node { return fact("ended", timeNode(v.End.Time), g.Text(", "+v.End.Reason)) }),
			fact("last heartbeat", timeNode(v.LastHeartbeat.Time), g.Textf(", number %d", v.LastHeartbeat.Number)),
			fact("member", h.Span(h.Class("id"), g.Text(v.Member))),
			known("version", v.Version),
			g.If(v.Executable != "", h.Div(h.Dt(g.Text("program")), h.Dd(h.Class("wrap"), g.Text(v.Executable)))),
			facts(v.Labels)),
		h.Div(h.ID("result"), h.Data("refresh", ""),
			h.H2(g.Text("Load "), presetLinks("", v.Since, url.Values{"member": {v.Member}})),
			loadPlots(v.Load, v.Samples, v.Interval)),
		h.H2(g.Text("Its ids")),
		exampleNode(seconds, v.ProcessValue, strings.Repeat("·", 24-8-len(v.ProcessValue))),
		soft(g.Text("In each id, the process value "), h.Span(h.Class("id"), g.Text(v.ProcessValue)),
			g.Text(" follows the seconds. To find the documents with its ids:")),
		g.Iff(len(v.Adopted) > 0, func() g.Node {
			return g.Group{
				soft(g.Text("Nothing proves that a process created its samples; ids with these process values are claimed by it:")),
				h.Ul(g.Map(v.Adopted, s.adoptedNode)),
			}
		}),
		queries("its-ids", v.Queries),
	}
}

// adoptedNode is an adopted process value with what its sample shows.
func (s *Site) adoptedNode(a wire.Adopted) g.Node {
	shows := map[string]string{
		"time":         "the process ran when it was created",
		"pid":          "has its pid",
		"host-and-pid": "has its host and pid",
	}[a.Evidence]
	return h.Li(h.Span(h.Class("id"), g.Text(a.ProcessValue)), g.Text(": sample "),
		h.A(h.Class("id"), h.Href(s.URL("/?id="+a.SampleID.String())), g.Text(a.SampleID.String())), g.Text(" "+shows))
}
