package page

import (
	"cmp"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/platform"
	"github.com/oidkit/oid/internal/plot"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// Processes is the data of the list of processes.
type Processes struct {
	Search, State string   // the filters
	States        []string // all states that a process can have

	Rows  []ProcessRow
	Part  bool   // there are further pages, before or after this one
	Next  string // path of the next page; empty if there is none
	Error string // shown instead of the rows
}

// ProcessRow is a row of the list of processes.
type ProcessRow struct {
	wire.Process
	Identity string // the GPID, and the member key if another row has the same GPID
	Started  time.Time
	Load     []Series      // the load of the last minutes
	Interval time.Duration // between two points of Load
}

// Processes returns the list of processes with its filters.
func (s *Site) Processes(v *Processes) g.Node {
	return g.Group{
		heading("Processes", g.Text("Processes that create ids, with their state and load.")),
		h.Form(h.Method("get"), h.Action(s.URL("/processes")), h.Data("live", "state"),
			h.Div(h.Class("fields-row list-by"), searchField("Search", "a name, a host, a GPID, a label…", v.Search),
				h.Div(h.Label(h.For("state"), g.Text("State")),
					h.Select(h.ID("state"), h.Name("state"), h.Option(h.Value(""), g.Text("all")), g.Map(v.States, func(name string) g.Node {
						return h.Option(g.If(name == v.State, h.Selected()), g.Text(name))
					}))),
				h.Button(h.Type("submit"), g.Text("Show")))),
		h.Div(h.ID("result"), h.Data("refresh", ""), problem(v.Error), g.Iff(v.Error == "", func() g.Node { return s.processTable(v) })),
	}
}

func (s *Site) nextPage(href string) g.Node {
	return g.If(href != "", g.Group{g.Text("; "), h.A(h.Href(s.URL(href)), g.Text("next page"))})
}

func (s *Site) processTable(v *Processes) g.Node {
	if len(v.Rows) == 0 {
		return g.Group{soft(g.Text("0 alive"), s.nextPage(v.Next)), h.P(g.Text("No processes. To search for a label, enter NAME=VALUE, such as k8s.pod.name=shop-7d4b9c-x2x."))}
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
		h.Td(processLink(s, &p.Process), g.Text(phrase.Shown(" "+p.Version)), g.If(p.Host != "", h.Span(h.Class("soft"), g.Text(" on "+phrase.Shown(p.Host)))),
			h.Br(), h.Span(h.Class("soft id"), g.Text(phrase.Shown(p.Identity)))),
		h.Td(state(p.State), g.If(len(p.Rivals) > 0, g.Group{h.Br(), h.Span(h.Class("mark"), g.Textf("collision with %d", len(p.Rivals)))})),
		h.Td(briefLoad(p.Load, p.Interval)),
		h.Td(g.If(p.StartUnknown, g.Text("before ")), h.Time(h.DateTime(started), h.Data("moment", ""), h.Data("ago", started), h.Title(moment(p.Started)),
			g.Text(phrase.Ago(p.Started, time.Now())))),
		h.Td(h.Class("id"), g.Text(p.ProcessValue)))
}

// Process is the data of the page of one process.
type Process struct {
	wire.Process
	Members  []wire.Process // all members with the same GPID, including this one
	Address  netip.AddrPort
	PID      int
	Started  time.Time
	Since    string // from when the load is shown
	Samples  int    // how many points each series of Load has
	Load     []Series
	Interval time.Duration // between two points of Load
	Queries  []wire.Query  // for the ids of the process
}

// Process returns the page of one process: its facts, its load, and the queries for its ids.
func (s *Site) Process(v *Process) g.Node {
	optional := func(name, value string) g.Node { return g.If(value != "", fact(name, g.Text(value))) }
	seconds := objectid.MinAt(v.LastHeartbeat.Time).String()[:8]
	return g.Group{
		h.P(h.Class("back"), h.A(h.Href(s.URL("/processes")), g.Text("All processes"))),
		h.H1(g.Text(phrase.Shown(v.Name)+" "), state(v.State)),
		h.P(h.Class("id wrap"), h.Data("copy", ""), g.Text(v.GPID)),
		soft(g.Text(v.Reason)),
		g.Iff(len(v.Members) > 1, func() g.Node {
			return g.Group{
				soft(g.Textf("%d members have this GPID: several registrations of one process, or processes on different hosts.", len(v.Members))),
				h.Ul(g.Map(v.Members, func(p wire.Process) g.Node {
					return h.Li(h.Class("id"), h.A(h.Href(s.URL("/processes/"+p.GPID+"?member="+p.Member)), g.Text(p.Member)), g.Text(" "+phrase.Shown(cmp.Or(p.Host, "–"))+" "), state(p.State))
				})),
			}
		}),
		h.Dl(h.Class("facts"),
			optional("version", v.Version),
			g.Map(platform.Facts(v.Labels), func(f platform.Fact) g.Node { return fact(f.Word, g.Text(phrase.Shown(f.Value))) }),
			optional("host", v.Host),
			fact("address", g.Text(v.Address.String())),
			fact("pid", g.Text(strconv.Itoa(v.PID))),
			fact("started", g.If(v.StartUnknown, g.Text("not known, at the latest ")), timeNode(v.Started), g.Text(", "), agoNode("span", v.Started)),
			g.Iff(v.End != nil, func() g.Node { return fact("ended", timeNode(v.End.Time), g.Text(", "+v.End.Reason)) }),
			fact("last heartbeat", timeNode(v.LastHeartbeat.Time), g.Textf(", number %d", v.LastHeartbeat.Number)),
			fact("member", h.Span(h.Class("id"), g.Text(v.Member))),
			optional("service.instance.id", v.InstanceID),
			g.If(v.Executable != "", h.Div(h.Dt(g.Text("program")), h.Dd(h.Class("wrap"), g.Text(v.Executable)))),
			g.Map(slices.Sorted(maps.Keys(v.Labels)), func(name string) g.Node { return fact(phrase.Shown(name), g.Text(phrase.Shown(v.Labels[name]))) })),
		h.Div(h.ID("result"), h.Data("refresh", ""),
			h.H2(g.Text("Load "), s.presetLinks(func(query string) string { return query }, v.Since, url.Values{"member": {v.Member}})),
			loadPlots(v.Load, v.Samples, v.Interval)),
		h.H2(g.Text("Its ids")),
		h.P(h.Class("example-id id"), coloredDigits(seconds, v.ProcessValue, strings.Repeat("·", 24-8-len(v.ProcessValue)))),
		soft(g.Text("In each id, the process value "), h.Span(h.Class("id"), g.Text(v.ProcessValue)),
			g.Text(" follows the seconds. These queries find the documents that the process created:")),
		g.Iff(len(v.Adopted) > 0, func() g.Node {
			return g.Group{
				soft(g.Text("The process was adopted by the following evidence ids. Nothing proves that it created them, so ids with their process values are claimed by it:")),
				h.Ul(g.Map(v.Adopted, s.adoptedNode)),
			}
		}),
		s.queries("its-ids", v.Queries),
	}
}

// adoptedNode shows an adopted process value and the evidence for it.
func (s *Site) adoptedNode(a wire.Adopted) g.Node {
	shows := map[string]string{
		"time":         "was created while the process was running",
		"pid":          "contains the pid of the process",
		"host-and-pid": "contains the host and the pid of the process",
	}[a.Evidence]
	return h.Li(h.Span(h.Class("id"), g.Text(a.ProcessValue)), g.Text(": evidence id "),
		h.A(h.Class("id"), h.Href(s.URL("/?id="+a.EvidenceID.String())), g.Text(a.EvidenceID.String())), g.Text(" "+shows))
}

// Unit is the unit of a series. It decides how an axis is marked.
type Unit struct {
	step func(most float64) float64
	text func(float64) string
}

// The units.
var (
	Things     = Unit{plot.DecimalStep, digits(-1)}                                                  // a count
	Bytes      = Unit{plot.BinaryStep, func(v float64) string { return humanize.IBytes(uint64(v)) }} // a size in bytes
	Processors = Unit{plot.DecimalStep, digits(3)}                                                   // the average number of processors in use
)

func digits(n int) func(float64) string {
	return func(v float64) string { return strconv.FormatFloat(v, 'g', n, 64) }
}

// Series is one kind of load of a process over time, such as its memory. It has one point
// for each load sample. If a value was not measured, it is negative.
type Series struct {
	Title  string
	Unit   Unit
	Points []plot.Point
}

// briefly is how many series of a process a row of the list shows.
const briefly = 2

// briefLoad shows the load of a process in a row of the list.
func briefLoad(all []Series, interval time.Duration) g.Node {
	if len(all) == 0 {
		return h.Span(h.Class("soft"), g.Text("not measured"))
	}
	return g.Map(all[:min(len(all), briefly)], func(s Series) g.Node {
		last := "–"
		if v := s.Points[len(s.Points)-1].Value; v >= 0 {
			last = s.Unit.text(v)
		}
		return h.Div(h.Class("brief"), plot.Spark(s.Title+" over time", s.Points, interval), h.Span(h.Class("number"), g.Text(last+" ")), h.Span(h.Class("soft"), g.Text(s.Title)))
	})
}

// drawLoads draws a plot with a title for each series. All plots have the same time axis.
func drawLoads(all []Series, axis plot.Axis, interval time.Duration) (plots []g.Node) {
	for _, s := range all {
		if svg := plot.Line(s.Title+" over time", axis, s.Points, interval, s.Unit.step, s.Unit.text); svg != "" {
			plots = append(plots, h.Section(h.H3(g.Text(strings.ToUpper(s.Title[:1])+s.Title[1:])), panel("scroll latest", "Plot of "+s.Title, svg)))
		}
	}
	return plots
}

// loadPlots draws the load of a process. samples is the number of its load samples, which
// are interval apart.
func loadPlots(all []Series, samples int, interval time.Duration) g.Node {
	var plots []g.Node
	if len(all) > 0 {
		points := all[0].Points
		plots = drawLoads(all, plot.Axis{From: points[0].Time, To: points[len(points)-1].Time}, interval)
	}
	if len(plots) == 0 {
		return soft(g.Textf("A plot needs two heartbeats with a load, but there are too few: %s in this time.", phrase.Count(int64(samples), "heartbeat", "heartbeats")))
	}
	return g.Group{g.Group(plots), soft(g.Textf("%d heartbeats; the times are in ", samples), h.Span(h.Data("zone-name", ""), g.Text("UTC")), g.Text("."))}
}
