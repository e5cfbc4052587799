package report

import (
	_ "embed"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/plot"
)

//go:embed report.css
var style string

// Style returns the CSS for a page that contains the output of [WriteFragment].
func Style() string { return style }

// WriteHTML writes r as an HTML page. The page needs no other file and follows the light or
// dark theme of the browser. An error of w is returned.
func WriteHTML(w io.Writer, r *census.Report) error {
	return h.Doctype(h.HTML(h.Lang("en"),
		h.Head(
			h.Meta(h.Charset("utf-8")),
			h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
			h.TitleEl(g.Text("Census of "+phrase.Count(r.IDs, "id", "ids"))),
			h.StyleEl(g.Raw(style)),
		),
		h.Body(h.Main(contents(r))),
	)).Render(w)
}

// WriteFragment writes what is in the body of the page that [WriteHTML] writes, to be put
// into another page. Text from sources is escaped. An error of w is returned.
func WriteFragment(w io.Writer, r *census.Report) error { return contents(r).Render(w) }

func contents(r *census.Report) g.Node {
	p := page{r, zoneOf(r)}
	top, all := describeAll(r.Sources)
	return g.Group{
		h.H1(g.Text("Census of " + phrase.Count(r.IDs, "id", "ids"))),
		g.If(r.Partial != "", h.P(h.Class("mark"), g.Text("Partial: "+r.Partial+"; not every source was read to its end."))),
		sourceList(top),
		p.facts(),
		g.If(len(r.Collections) == 0, p.judged()),
		g.Iff(len(r.Collections) > 0, p.overview),
		g.If(len(all) > 0, g.Group{h.H2(g.Text("Sources")), sourceList(all)}),
		h.P(h.Class("soft"), g.Textf("Reference time %s %s (ids more than five minutes later count as future).", p.at(r.ReferenceTime), r.Timeline.Zone)),
	}
}

// page writes a report as HTML, with times in a zone.
type page struct {
	*census.Report
	in *time.Location
}

// sourceList lists the sources and what could not be read.
func sourceList(lines []sourceLine) g.Node {
	return g.Map(lines, func(l sourceLine) g.Node {
		return g.Group{
			h.P(h.Class("source soft"), g.Text(l.text)),
			g.Map(l.problems, func(text string) g.Node { return h.P(h.Class("source mark"), g.Text(text)) }),
		}
	})
}

// facts lists when the ids were created and how many there are.
func (p page) facts() g.Node {
	return h.Dl(h.Class("facts"), g.Map(factsOf(p.Report), func(f [2]string) g.Node {
		return h.Div(h.Dt(g.Text(f[0])), h.Dd(g.Text(f[1])))
	}))
}

// overview has the titles of all findings, a list of the collections, and a section about
// each collection.
func (p page) overview() g.Node {
	reports, others := counted(p.Report)
	left := maxTitles
	var found, rows, parts []g.Node
	for i, c := range reports {
		name := h.A(h.Href(fmt.Sprintf("#c%d", i)), g.Text(titleOf(c)))
		for _, f := range c.Findings {
			if left--; left >= 0 {
				found = append(found, h.Li(name, g.Text(": "+f.Title)))
			}
		}
		said := ""
		if v := verdict(c); v != "none" {
			said = "findings: " + v
		}
		rows = append(rows, h.Tr(h.Td(h.Class("wide"), name), h.Td(h.Class("n"), g.Text(phrase.Count(c.IDs, "id", "ids"))), h.Td(g.Text(dates(c))), h.Td(g.Text(said))))
		part := page{c, zoneOf(c)}
		parts = append(parts, h.H2(h.Class("collection"), h.ID(fmt.Sprintf("c%d", i)), g.Text(titleOf(c))), part.facts(), part.judged())
	}
	return g.Group{
		g.If(told(p.Report), h.H2(g.Text("Findings: "+verdict(p.Report)))),
		g.If(len(found) > 0, h.Ul(h.Class("sentences finding"), g.Group(found), g.If(left < 0, h.Li(g.Textf("and %d more", -left))))),
		h.H2(g.Text("Collections")),
		g.If(len(rows) > 0, panel("Collections", h.Table(h.TBody(rows...)))),
		g.If(others != "", h.P(h.Class("source soft"), g.Text(others))),
		g.Group(parts),
	}
}

// judged has the analysis of one collection, or of the ids without a collection.
func (p page) judged() g.Node {
	return g.Group{
		p.findings(),
		p.untold(),
		p.timeline(),
		p.events("What happened", p.Events),
		p.events("Deploys", p.Deploys),
		g.Iff(len(p.TopProcesses) > 0 && len(p.Timeline.Buckets) > 0, p.processes),
	}
}

func (p page) at(t time.Time) string { return t.In(p.in).Format(time.DateTime) }

// panel is a region that scrolls sideways if it is wider than the screen.
func panel(name string, children ...g.Node) g.Node {
	return h.Div(h.Class("panel"), h.TabIndex("0"), h.Role("region"), h.Aria("label", name), g.Group(children))
}

// counts returns the buckets of the timeline, each with the count 0.
func (p page) counts() plot.Counts {
	buckets := p.Timeline.Buckets
	return plot.Counts{
		Counts: make([]int64, len(buckets)),
		Name:   func(i int) string { return buckets[i].Start.Format(steps[p.Timeline.By].format) },
		Year:   func(i int) int { return buckets[i].Start.Year() },
		Number: humanize.Comma,
		Title:  func(n int64) string { return phrase.Count(n, "id", "ids") },
	}
}

func (p page) timeline() g.Node {
	wide, narrow := p.chart(plot.Size{Width: 860, High: 200}), p.chart(plot.Size{Width: 380, High: 150})
	if wide == "" {
		return nil
	}
	return g.Group{
		h.H2(g.Textf("Ids by %s ", p.Timeline.By), h.Span(h.Class("soft"), g.Textf("(%s)", p.Timeline.Zone))),
		panel("Timeline", h.Div(h.Class("wide-only"), wide), h.Div(h.Class("narrow-only"), narrow)),
		g.If(p.Timeline.Beyond > 0, h.P(h.Class("soft"), g.Text(phrase.Count(p.Timeline.Beyond, "id is", "ids are")+" outside this timeline."))),
	}
}

// chart draws the timeline with its events.
func (p page) chart(size plot.Size) plot.SVG {
	c := p.counts()
	for i, b := range p.Timeline.Buckets {
		c.Counts[i] = b.IDs
	}
	var marks []plot.Mark
	events := shown(p.Report)
	for _, e := range events[:min(len(events), maxMarks)] {
		label, sentence := eventTexts(e, p.in)
		m := plot.Mark{At: p.share(e.Start), Label: label, Title: p.at(e.Start) + " " + sentence, Class: string(e.Kind)}
		if e.Kind == census.KindDeletion && e.Share < 1 {
			m.Until, m.Missing = p.share(e.End), 1/(1-e.Share)
		}
		marks = append(marks, m)
	}
	ticks := each.Of(p.Deploys, func(e census.Event) plot.Mark {
		_, sentence := eventTexts(e, p.in)
		return plot.Mark{At: p.share(e.Start), Title: p.at(e.Start) + " " + sentence}
	})
	return c.Marked(fmt.Sprintf("ids by %s, with %s", p.Timeline.By, phrase.Count(int64(len(marks)), "event", "events")), size, marks, ticks)
}

// maxMarks is how many events are marked on a timeline.
const maxMarks = 24

// share returns the position of t on the timeline, from 0 to 1.
func (p page) share(t time.Time) float64 {
	buckets := p.Timeline.Buckets
	n := len(buckets)
	i := sort.Search(n, func(i int) bool { return buckets[i].Start.After(t) }) - 1
	if i < 0 {
		return 0
	}
	end := p.Timeline.End
	if i+1 < n {
		end = buckets[i+1].Start
	}
	within := min(float64(t.Sub(buckets[i].Start))/float64(end.Sub(buckets[i].Start)), 1)
	return (float64(i) + within) / float64(n)
}

// events lists events under a title.
func (p page) events(title string, all []census.Event) g.Node {
	if len(all) == 0 {
		return nil
	}
	left := len(all) - maxMarks
	return g.Group{
		h.H2(g.Text(title)),
		h.Ul(h.Class("events"), g.Map(all[:min(len(all), maxMarks)], func(e census.Event) g.Node {
			_, sentence := eventTexts(e, p.in)
			return h.Li(h.Class(string(e.Kind)), h.Time(g.Text(e.Start.In(p.in).Format("2006-01-02 15:04"))), g.Text(" "), h.Span(g.Text(sentence)))
		})),
		g.If(left > 0, h.P(h.Class("soft"), g.Textf("And %d more.", left))),
	}
}

func (p page) findings() g.Node {
	if !told(p.Report) {
		return nil
	}
	return g.Group{
		h.H2(g.Text("Findings: " + verdict(p.Report))),
		g.Map(p.Findings, func(f census.Finding) g.Node {
			return h.Div(h.Class("finding"),
				h.P(h.Strong(g.Text(f.Title))),
				h.P(g.Text(strings.TrimSpace(f.Evidence+" "+f.Reason))),
				p.examples(f.Examples))
		}),
	}
}

func (p page) examples(examples []census.Example) g.Node {
	return g.If(len(examples) > 0, h.Details(h.Summary(g.Text(phrase.Count(int64(len(examples)), "example", "examples"))), h.Ul(g.Map(examples, func(e census.Example) g.Node {
		position := e.Position.String()
		if e.Note != "" {
			position += ", " + e.Note
		}
		return h.Li(h.Span(h.Class("id"), g.Text(e.ID.String())), g.Text(" "), g.If(!e.Time.IsZero(), h.Time(g.Text(p.at(e.Time)))), g.Text(" "), h.Span(h.Class("soft"), g.Text(position)))
	}))))
}

// untold lists what cannot be told, and why.
func (p page) untold() g.Node {
	limits := untold(p.Report)
	return g.If(len(p.Doubts)+len(limits) > 0, g.Group{
		h.H2(g.Text("Cannot be told")),
		h.Ul(h.Class("sentences"),
			g.Map(p.Doubts, func(d census.Doubt) g.Node { return h.Li(g.Text(d.Reason), p.examples(d.Examples)) }),
			g.Map(limits, func(s string) g.Node { return h.Li(g.Text(s)) })),
	})
}

func (p page) processes() g.Node {
	c := p.counts()
	return g.Group{
		h.H2(g.Text("Processes")),
		h.P(h.Class("soft"), g.If(int64(len(p.TopProcesses)) < p.Processes, g.Textf("%d of them, those with the most ids or with a finding. ", len(p.TopProcesses))),
			g.Text("Each row has its own vertical scale.")),
		panel("Processes",
			h.Ul(h.Class("lanes"), g.Map(p.TopProcesses, func(process census.Process) g.Node { return p.process(c, process) })),
			h.Div(h.Class("lane-ends soft"), h.Span(g.Text(c.Name(0))), h.Span(g.Text(c.Name(len(c.Counts)-1))))),
	}
}

// process is the row of one process: its name, its facts and a plot of its ids.
func (p page) process(c plot.Counts, one census.Process) g.Node {
	class, gaps := "bar", phrase.Count(one.Gaps, "gap", "gaps")
	if len(faults(one)) > 0 {
		class = "bar wrong"
	}
	if !one.HasGaps() {
		gaps = "gaps unknown"
	}
	facts := append([]string{phrase.Count(one.IDs, "id", "ids"), one.First.In(p.in).Format(time.DateOnly) + " to " + one.Last.In(p.in).Format(time.DateOnly), gaps}, notes(one)...)
	var marks []float64
	for _, e := range shown(p.Report) {
		if e.Process == one.Value {
			marks = append(marks, p.share(e.Start))
		}
	}
	c.Counts = one.Timeline
	return h.Li(g.If(len(faults(one)) > 0, h.Class("faulty")),
		h.Div(h.Class("lane-name"),
			h.Span(h.Class("id"), g.Text(one.Value)), g.If(one.Name != "", g.Text(" "+one.Name)),
			g.Map(faults(one), func(text string) g.Node { return g.Group{g.Text(" "), h.Strong(h.Class("mark"), g.Text(text))} }),
			h.Div(h.Class("soft"), g.Text(strings.Join(facts, " · ")))),
		c.Strip("ids of "+one.Value+" by "+string(p.Timeline.By), class, marks...))
}
