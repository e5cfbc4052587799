package report

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/plot"
)

//go:embed report.css
var style string

// Style returns the style sheet of the pages that WriteHTML writes, for a page that
// shows what [WriteFragment] writes.
func Style() string { return style }

// WriteHTML writes r as one page of HTML that needs no other file, for light and
// dark screens. The error is w's.
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

// WriteFragment writes the contents of the page of WriteHTML, without its head. What
// comes from a source is escaped. The error is w's.
func WriteFragment(w io.Writer, r *census.Report) error { return contents(r).Render(w) }

func contents(r *census.Report) g.Node {
	p := page{r, zone(r)}
	return g.Group{
		h.H1(g.Text("Census of " + phrase.Count(r.IDs, "id", "ids"))),
		h.P(h.Class("soft"), g.Text(p.sourceNames())),
		p.summary(),
		g.If(len(r.Collections) == 0, p.judged()),
		g.Map(r.Collections, func(c *census.Report) g.Node {
			part := page{c, zone(c)}
			return g.Group{h.H2(h.Class("collection"), g.Text(title(c))), part.summary(), part.judged()}
		}),
		h.H2(g.Text("Sources")),
		p.sources(),
		g.Iff(len(r.Others) > 0, p.others),
		h.P(h.Class("soft"), g.Textf("Reference time %s %s (ids more than five minutes later count as future).", p.at(r.ReferenceTime), r.Timeline.Zone)),
	}
}

// page is a report whose times are shown in a zone.
type page struct {
	*census.Report
	in *time.Location
}

// summary is what a report and each of its collections begin with.
func (p page) summary() g.Node {
	return g.Group{
		p.tiles(),
		g.Iff(p.First != nil, func() g.Node {
			return h.P(g.Textf("Created between %s and %s %s (%s).",
				p.at(*p.First), p.at(*p.Last), p.Timeline.Zone, phrase.Length(p.Last.Sub(*p.First))))
		}),
		p.timeline(),
	}
}

// judged is what is said of one collection, or of ids without collections.
func (p page) judged() g.Node {
	return g.Group{
		h.H2(g.Text("Findings")),
		p.findings(),
		g.Iff(len(p.TopProcesses) > 0 && len(p.Timeline.Buckets) > 0, p.processes),
	}
}

func (p page) at(t time.Time) string { return t.In(p.in).Format(time.DateTime) }

func (p page) sourceNames() string {
	var names []string
	for _, s := range p.Sources {
		if listed(s) {
			names = append(names, sourceName(s))
		}
	}
	return strings.Join(names, " · ")
}

func sourceName(s *census.Source) string { return strings.TrimSpace(s.Name + " " + s.Collection) }

func (p page) tiles() g.Node {
	tile := func(n int64, children ...g.Node) g.Node {
		return h.Div(h.Class("tile"), h.B(g.Text(humanize.Comma(n))), g.Group(children))
	}
	counted := func(n int64, one, many string) g.Node {
		if n == 1 {
			many = one
		}
		return tile(n, g.Text(many))
	}
	return h.Div(h.Class("tiles"),
		tile(p.IDs, g.Text("ObjectIds in "), h.Code(g.Text(p.Field))),
		g.If(p.Distinct != p.IDs, tile(p.Distinct, g.Text("different ids"))),
		g.If(p.Outside > 0, tile(p.Outside, g.Text("outside the range"))),
		g.If(len(p.Collections) > 0, tile(int64(len(p.Collections)), g.Text("collections"))),
		g.If(len(p.Collections) == 0, g.Group{
			counted(p.Processes, "process", "processes"),
			tile(p.Gaps, g.Text("gaps (counter values not in this data)")),
			g.Map(p.Others, func(o census.Other) g.Node { return tile(o.Count, g.Text(o.Type+" instead of an ObjectId")) }),
			g.If(p.Without > 0, tile(p.Without, g.Text("without "), h.Code(g.Text(p.Field)))),
			counted(int64(len(p.Findings)), "finding", "findings"),
		}),
	)
}

// panel is a region that scrolls by itself where it is too wide.
func panel(label string, children ...g.Node) g.Node {
	return h.Div(h.Class("panel"), h.TabIndex("0"), h.Role("region"), h.Aria("label", label), g.Group(children))
}

// column is a column of a table; a name that begins with # is one of numbers.
func column(name string) g.Node {
	if name, ok := strings.CutPrefix(name, "#"); ok {
		return h.Th(h.Class("n"), g.Text(name))
	}
	return h.Th(g.Text(name))
}

func table(columns []string, rows ...g.Node) g.Node {
	return h.Table(h.THead(h.Tr(g.Map(columns, column))), h.TBody(rows...))
}

func number(n int64) g.Node { return h.Td(h.Class("n"), g.Text(humanize.Comma(n))) }

// counts returns the timeline's buckets without their counts.
func (p page) counts() plot.Counts {
	buckets := p.Timeline.Buckets
	return plot.Counts{
		Counts: make([]int64, len(buckets)),
		Name:   func(i int) string { return buckets[i].Start.Format(bucketFormat(p.Timeline.By)) },
		Number: humanize.Comma,
		Title:  func(n int64) string { return phrase.Count(n, "id", "ids") },
	}
}

func (p page) timeline() g.Node {
	c := p.counts()
	for i, b := range p.Timeline.Buckets {
		c.Counts[i] = b.IDs
	}
	chart := c.Bars("ids by " + string(p.Timeline.By))
	if chart == "" {
		return nil
	}
	return g.Group{
		h.H2(g.Textf("Ids by %s ", p.Timeline.By), h.Span(h.Class("soft"), g.Textf("(%s)", p.Timeline.Zone))),
		panel("Timeline", chart),
		g.If(p.Timeline.Beyond > 0, h.P(h.Class("soft"), g.Text(phrase.Count(p.Timeline.Beyond, "id is", "ids are")+" outside this timeline."))),
	}
}

func (p page) findings() g.Node {
	if len(p.Findings) == 0 {
		return h.P(g.Text("None."))
	}
	return g.Map(p.Findings, func(f census.Finding) g.Node {
		return h.Div(h.Class("finding"),
			h.P(h.Strong(g.Text(f.Title))),
			h.P(g.Text(f.Reason)),
			g.If(len(f.Examples) > 0, h.Ul(g.Map(f.Examples, func(e census.Example) g.Node {
				position := e.Position.String()
				if e.Note != "" {
					position += ", " + e.Note
				}
				return h.Li(h.Span(h.Class("id"), g.Text(e.ID.String())), g.Text(" "+p.at(e.Time)+" "), h.Span(h.Class("soft"), g.Text(position)))
			}))))
	})
}

func (p page) processes() g.Node {
	c := p.counts()
	return g.Group{
		h.H2(g.Text("Processes")),
		h.P(h.Class("soft"), g.If(int64(len(p.TopProcesses)) < p.Processes, g.Textf("The %d with the most ids. ", len(p.TopProcesses))),
			g.Text("Each row has its own vertical scale.")),
		panel("Processes", table([]string{"process", "#ids", "first", "last", "#gaps", "layout", fmt.Sprintf("%[1]s by %[1]s", p.Timeline.By)},
			g.Map(p.TopProcesses, func(process census.Process) g.Node { return p.process(c, process) }),
			h.Tr(h.Td(h.ColSpan("6")), h.Td(h.Class("strip-cell soft"), h.Div(h.Class("ends"),
				h.Span(g.Text(c.Name(0))), h.Span(g.Text(c.Name(len(c.Counts)-1)))))))),
	}
}

func (p page) process(c plot.Counts, one census.Process) g.Node {
	class, gaps := "bar", humanize.Comma(one.Gaps)
	if one.ClockStepped || one.Shared {
		class = "bar wrong"
	}
	if one.Shared {
		gaps = "?"
	}
	mark := func(text string) g.Node { return g.Group{h.Br(), h.Span(h.Class("mark"), g.Text(text))} }
	c.Counts = one.Timeline
	return h.Tr(
		h.Td(h.Span(h.Class("id"), g.Text(one.Value)), g.If(one.Name != "", g.Group{h.Br(), g.Text(one.Name)}),
			g.If(one.ClockStepped, mark("clock step")), g.If(one.Shared, mark("shared"))),
		number(one.IDs), h.Td(g.Text(p.at(one.First))), h.Td(g.Text(p.at(one.Last))),
		h.Td(h.Class("n"), g.Text(gaps), g.If(one.Jumps > 0, g.Group{h.Br(), h.Span(h.Class("soft"), g.Text(phrase.Count(one.Jumps, "jump", "jumps")))})),
		h.Td(g.Text(one.Layout.String())),
		h.Td(h.Class("strip-cell"), c.Strip("ids of "+one.Value+" by "+string(p.Timeline.By), class)))
}

func (p page) sources() g.Node {
	wide := func(text string) g.Node { return h.Tr(h.Td(h.ColSpan("7"), h.Class("wide mark"), g.Text(text))) }
	return panel("Sources", table([]string{"name", "format", "#read", "#ids", "#others", "#without", "#broken"},
		g.Map(p.Sources, func(s *census.Source) g.Node {
			if !listed(s) {
				return nil
			}
			read := ""
			if s.Unit != "" {
				read = phrase.Count(s.Units, s.Unit, s.Unit+"s")
			}
			return g.Group{
				h.Tr(h.Td(h.Class("wide"), g.Text(sourceName(s))), h.Td(g.Text(string(s.Format))), h.Td(h.Class("n"), g.Text(read)),
					number(s.IDs), number(s.Others), number(s.Without), number(s.Broken)),
				g.If(s.Error != "", wide(s.Error)),
				g.Map(s.Problems, func(b census.Problem) g.Node {
					return wide(fmt.Sprintf("%s %d: %s", b.Position.Unit, b.Position.Number, b.Error))
				}),
			}
		})))
}

func (p page) others() g.Node {
	return g.Group{
		h.H2(g.Text("Values of other types")),
		panel("Values of other types", table([]string{"type", "#count", "examples"}, g.Map(p.Others, func(o census.Other) g.Node {
			return h.Tr(h.Td(g.Text(o.Type)), number(o.Count), h.Td(h.Class("wide"), g.Map(o.Examples, func(e census.Value) g.Node {
				return g.Group{h.Code(g.Text(e.Text)), g.Text(" "), h.Span(h.Class("soft"), g.Text(e.Position.String())), h.Br()}
			})))
		}))),
	}
}
