package server

import (
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/plot"
	"github.com/oidkit/oid/registry"
)

// loadPlot is a number of the load over time.
type loadPlot struct {
	title string
	svg   plot.SVG
}

// newLoadPlots returns the plots of the numbers that were measured in samples, which come
// at the interval.
func newLoadPlots(samples []registry.Sample, interval time.Duration) (out []loadPlot) {
	for _, f := range registry.LoadFields {
		title, points := f.Title, loadPoints(samples, f.Of)
		step, text := plot.DecimalStep, func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
		switch f.Unit {
		case registry.Nanoseconds:
			title, points = "processors in use", cpuPoints(samples)
			text = func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
		case registry.Bytes:
			step, text = plot.BinaryStep, func(v float64) string { return humanize.IBytes(uint64(v)) }
		}
		if svg := plot.Line(title+" over time", points, interval, step, text); svg != "" {
			out = append(out, loadPlot{title, svg})
		}
	}
	return out
}

// loadPlots are the plots of a time with some samples.
func loadPlots(all []loadPlot, samples int) g.Node {
	if len(all) == 0 {
		return soft(g.Textf("A plot needs two heartbeats with the load; %s in this time.", phrase.Count(int64(samples), "heartbeat is there", "heartbeats are there")))
	}
	return g.Group{
		g.Map(all, func(p loadPlot) g.Node {
			return g.Group{h.H3(g.Text(strings.ToUpper(p.title[:1]) + p.title[1:])), panel("scroll latest", "Plot of "+p.title, p.svg)}
		}),
		soft(g.Textf("%d heartbeats, in UTC.", samples)),
	}
}
