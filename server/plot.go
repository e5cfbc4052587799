package server

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
	"time"

	"github.com/oidkit/oid/registry"
)

// Sizes of the plots, in units of the SVG. The numbers stand at the right, beside
// the latest values, which a narrow screen shows first.
const (
	plotWidth  = 960
	plotLeft   = 8
	plotRight  = 72 // for the numbers of the axis
	plotTop    = 10
	plotHigh   = 150
	plotFoot   = 22
	plotPoints = 600 // drawn at most; more are averaged
	sparkWidth = 120
	sparkHigh  = 24
)

// point is one value over time; a value below 0 is not known.
type point struct {
	time  time.Time
	value float64
}

// cpuPoints are the processors in use between samples.
func cpuPoints(samples []registry.Sample) []point {
	var out []point
	for i := 1; i < len(samples); i++ {
		out = append(out, point{samples[i].Time, registry.Processors(samples[i-1], samples[i])})
	}
	return out
}

func memoryPoints(samples []registry.Sample) []point {
	out := make([]point, len(samples))
	for i, s := range samples {
		out[i] = point{s.Time, float64(s.RSS)}
	}
	return out
}

// thin averages neighbours until no more than limit points are left.
func thin(points []point, limit int) []point {
	each := (len(points) + limit - 1) / limit
	if each <= 1 {
		return points
	}
	var out []point
	for i := 0; i < len(points); i += each {
		group := points[i:min(i+each, len(points))]
		sum, n := 0., 0
		for _, p := range group {
			if p.value >= 0 {
				sum += p.value
				n++
			}
		}
		mean := point{group[0].time, registry.Unknown}
		if n > 0 {
			mean.value = sum / float64(n)
		}
		out = append(out, mean)
	}
	return out
}

// lines cuts points where values are not known or heartbeats were missing, and
// calls draw with each piece as SVG coordinates.
func lines(points []point, gap time.Duration, x func(time.Time) float64, y func(float64) float64, draw func(coordinates string, n int)) {
	var b strings.Builder
	n := 0
	flush := func() {
		if n > 0 {
			draw(strings.TrimSpace(b.String()), n)
		}
		b.Reset()
		n = 0
	}
	for i, p := range points {
		if p.value < 0 || i > 0 && p.time.Sub(points[i-1].time) > gap {
			flush()
		}
		if p.value >= 0 {
			fmt.Fprintf(&b, "%.1f,%.1f ", x(p.time), y(p.value))
			n++
		}
	}
	flush()
}

func most(points []point) float64 {
	top := 0.
	for _, p := range points {
		top = max(top, p.value)
	}
	return top
}

// gapOf returns how far apart two points may be for a line between them, given the
// interval of the heartbeats.
func gapOf(points []point, interval time.Duration) time.Duration {
	if len(points) < 2 {
		return interval
	}
	mean := points[len(points)-1].time.Sub(points[0].time) / time.Duration(len(points)-1)
	return max(3*interval, 3*mean/2)
}

// plot draws points as a line with axes. label names it; number writes a value,
// and step returns a round distance between the lines of the grid, given the
// greatest value.
func plot(label string, points []point, interval time.Duration, step func(float64) float64, number func(float64) string) template.HTML {
	points = thin(points, plotPoints)
	if len(points) < 2 {
		return ""
	}
	first, last := points[0].time, points[len(points)-1].time
	each := step(most(points))
	top := max(math.Ceil(most(points)/each), 1) * each
	x := func(t time.Time) float64 {
		return plotLeft + (plotWidth-plotLeft-plotRight)*float64(t.Sub(first))/float64(max(last.Sub(first), 1))
	}
	y := func(v float64) float64 { return plotTop + plotHigh*(1-v/top) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, plotWidth, plotTop+plotHigh+plotFoot, html.EscapeString(label))
	for v := 0.; v <= top*1.001; v += each {
		fmt.Fprintf(&b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, plotLeft, plotWidth-plotRight, y(v), y(v))
		fmt.Fprintf(&b, `<text class="number" x="%d" y="%.1f">%s</text>`, plotWidth-2, y(v)+4, html.EscapeString(number(v)))
	}
	format := "15:04:05"
	if last.Sub(first) > 2*time.Hour {
		format = "15:04"
	}
	if last.Sub(first) > 36*time.Hour {
		format = "01-02 15:04"
	}
	const ticks = 6
	said := ""
	for i := range ticks {
		t := first.Add(last.Sub(first) * time.Duration(i) / ticks)
		label := t.UTC().Format(format)
		if label == said { // the points are close together
			continue
		}
		said = label
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`, x(t), x(t), plotTop+plotHigh, plotTop+plotHigh+4)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`, x(t), plotTop+plotHigh+17, label)
	}
	lines(points, gapOf(points, interval), x, y, func(coordinates string, n int) {
		if n == 1 {
			cx, cy, _ := strings.Cut(coordinates, ",")
			fmt.Fprintf(&b, `<circle class="bar" cx="%s" cy="%s" r="2"/>`, cx, cy)
			return
		}
		fmt.Fprintf(&b, `<polyline class="line" points="%s"/>`, coordinates)
	})
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// spark draws points as a small line without axes.
func spark(label string, points []point, interval time.Duration) template.HTML {
	points = thin(points, sparkWidth)
	if len(points) < 2 {
		return ""
	}
	first, last := points[0].time, points[len(points)-1].time
	top := max(most(points), math.SmallestNonzeroFloat32)
	x := func(t time.Time) float64 {
		return 1 + (sparkWidth-2)*float64(t.Sub(first))/float64(max(last.Sub(first), 1))
	}
	y := func(v float64) float64 { return 2 + (sparkHigh-4)*(1-v/top) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="spark" viewBox="0 0 %d %d" role="img" aria-label="%s">`, sparkWidth, sparkHigh, html.EscapeString(label))
	lines(points, gapOf(points, interval), x, y, func(coordinates string, n int) {
		if n > 1 {
			fmt.Fprintf(&b, `<polyline class="line" points="%s"/>`, coordinates)
		}
	})
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// decimalStep is 1, 2 or 5 times a power of ten.
func decimalStep(most float64) float64 {
	if most <= 0 {
		return 1
	}
	power := math.Pow10(int(math.Floor(math.Log10(most))))
	for _, step := range []float64{power / 5, power / 2, power} {
		if most/step <= 4 {
			return step
		}
	}
	return 2 * power
}

// binaryStep is a power of two, for bytes.
func binaryStep(most float64) float64 {
	if most <= 1 {
		return 1
	}
	return math.Exp2(math.Ceil(math.Log2(most / 4)))
}
