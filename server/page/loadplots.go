package page

import (
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/plot"
)

// Unit is the unit of a number of the load.
type Unit int

// The units.
const (
	Things     Unit = iota // a number of something
	Bytes                  // a size
	Processors             // how many are in use
)

// Series is a number of the load over time. A value below 0 was not measured. All series
// of a process have a point for each of its samples.
type Series struct {
	Title  string
	Unit   Unit
	Points []plot.Point
}

// axis returns how the values of the unit are marked on an axis.
func (u Unit) axis() (step func(most float64) float64, text func(float64) string) {
	switch u {
	case Bytes:
		return plot.BinaryStep, func(v float64) string { return humanize.IBytes(uint64(v)) }
	case Processors:
		return plot.DecimalStep, func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
	default:
		return plot.DecimalStep, func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	}
}

// briefly is how many numbers of the load a row shows: the first ones that were measured.
const briefly = 2

// briefLoad is the load of a process in a row of a table.
func briefLoad(all []Series, interval time.Duration) g.Node {
	if len(all) == 0 {
		return h.Span(h.Class("soft"), g.Text("not measured"))
	}
	return g.Map(all[:min(len(all), briefly)], func(s Series) g.Node {
		_, text := s.Unit.axis()
		last := "–"
		if v := s.Points[len(s.Points)-1].Value; v >= 0 {
			last = text(v)
		}
		return h.Div(h.Class("brief"), plot.Spark(s.Title+" over time", s.Points, interval), h.Span(h.Class("number"), g.Text(last+" ")), h.Span(h.Class("soft"), g.Text(s.Title)))
	})
}

// drawLoads draws each of all over one time, with its title.
func drawLoads(all []Series, axis plot.Axis, interval time.Duration) (plots []g.Node) {
	for _, s := range all {
		step, text := s.Unit.axis()
		if svg := plot.Line(s.Title+" over time", axis, s.Points, interval, step, text); svg != "" {
			plots = append(plots, h.Section(h.H3(g.Text(strings.ToUpper(s.Title[:1])+s.Title[1:])), panel("scroll latest", "Plot of "+s.Title, svg)))
		}
	}
	return plots
}

// loadPlots are the plots of the load from samples that come at the interval, all over the
// same time.
func loadPlots(all []Series, samples int, interval time.Duration) g.Node {
	var plots []g.Node
	if len(all) > 0 {
		points := all[0].Points
		plots = drawLoads(all, plot.Axis{From: points[0].Time, To: points[len(points)-1].Time}, interval)
	}
	if len(plots) == 0 {
		return soft(g.Textf("A plot needs two heartbeats with the load; %s in this time.", phrase.Count(int64(samples), "heartbeat is there", "heartbeats are there")))
	}
	return g.Group{g.Group(plots), soft(g.Textf("%d heartbeats; the times are in ", samples), h.Span(h.Data("zone-name", ""), g.Text("UTC")), g.Text("."))}
}
