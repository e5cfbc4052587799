package plot

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"time"
)

const (
	lineLeft  = 8
	lineRight = 72 // for the numbers, beside the latest values, which a narrow screen shows first
	lineHigh  = 150
	lineTicks = 6
	maxPoints = 600 // in a plot; more are averaged

	sparkWidth = 120
	sparkHigh  = 24
)

// Point is one value over time; a value below 0 is unknown.
type Point struct {
	Time  time.Time
	Value float64
}

// Line draws points, which are in order of time, as a line with axes. It is
// interrupted where values are unknown or points are missing, given the interval at
// which they come. The label names the plot for a screen reader, number writes a
// value, and step is a function such as [DecimalStep]. It returns nothing for less
// than two points, or if no value is known.
func Line(label string, points []Point, interval time.Duration, step func(most float64) float64, number func(float64) string) SVG {
	points = thin(points, maxPoints)
	if !drawable(points) {
		return ""
	}
	a := &area{left: lineLeft, right: lineRight, high: lineHigh}
	a.axes(label, most(points), step(most(points)), number)
	first, last := points[0].Time, points[len(points)-1].Time
	x := func(t time.Time) float64 { return a.x(share(t, first, last)) }
	format := timeFormat(last.Sub(first))
	previous := ""
	for i := range lineTicks {
		t := first.Add(last.Sub(first) * time.Duration(i) / lineTicks)
		label := t.UTC().Format(format)
		if label == previous { // the points are close together
			continue
		}
		previous = label
		a.tick(x(t), label)
	}
	pieces(points, gap(points, interval), x, a.y, func(coordinates string, n int) {
		if n == 1 {
			cx, cy, _ := strings.Cut(coordinates, ",")
			fmt.Fprintf(&a.b, `<circle class="bar" cx="%s" cy="%s" r="2"/>`, cx, cy)
			return
		}
		fmt.Fprintf(&a.b, `<polyline class="line" points="%s"/>`, coordinates)
	})
	return a.end()
}

// drawable reports whether there is something to draw.
func drawable(points []Point) bool {
	return len(points) > 1 && slices.ContainsFunc(points, func(p Point) bool { return p.Value >= 0 })
}

// timeFormat returns how to write times on an axis of length d.
func timeFormat(d time.Duration) string {
	switch {
	case d > 36*time.Hour:
		return "01-02 15:04"
	case d > 2*time.Hour:
		return "15:04"
	default:
		return "15:04:05"
	}
}

// Spark draws points as Line does, but small and without axes.
func Spark(label string, points []Point, interval time.Duration) SVG {
	points = thin(points, sparkWidth)
	if !drawable(points) {
		return ""
	}
	first, last := points[0].Time, points[len(points)-1].Time
	limit := max(most(points), math.SmallestNonzeroFloat32)
	x := func(t time.Time) float64 { return 1 + (sparkWidth-2)*share(t, first, last) }
	y := func(v float64) float64 { return 2 + (sparkHigh-4)*(1-v/limit) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="spark" viewBox="0 0 %d %d" role="img" aria-label="%s">`, sparkWidth, sparkHigh, html.EscapeString(label))
	pieces(points, gap(points, interval), x, y, func(coordinates string, n int) {
		if n > 1 {
			fmt.Fprintf(&b, `<polyline class="line" points="%s"/>`, coordinates)
		}
	})
	b.WriteString(`</svg>`)
	return SVG(b.String())
}

// share returns how much of the time from first to last is over at t.
func share(t, first, last time.Time) float64 {
	return float64(t.Sub(first)) / float64(max(last.Sub(first), 1))
}

// thin averages neighbours until no more than limit points are left.
func thin(points []Point, limit int) []Point {
	each := (len(points) + limit - 1) / limit
	if each <= 1 {
		return points
	}
	var out []Point
	for i := 0; i < len(points); i += each {
		group := points[i:min(i+each, len(points))]
		sum, n := 0., 0
		for _, p := range group {
			if p.Value >= 0 {
				sum += p.Value
				n++
			}
		}
		mean := Point{group[0].Time, -1}
		if n > 0 {
			mean.Value = sum / float64(n)
		}
		out = append(out, mean)
	}
	return out
}

func most(points []Point) float64 {
	m := 0.
	for _, p := range points {
		m = max(m, p.Value)
	}
	return m
}

// gap returns how far apart two points may be for a line between them.
func gap(points []Point, interval time.Duration) time.Duration {
	mean := points[len(points)-1].Time.Sub(points[0].Time) / time.Duration(len(points)-1)
	return max(3*interval, 3*mean/2)
}

// pieces cuts points where values are unknown or further apart than gap, and calls
// draw with the SVG coordinates of each piece and how many points it has.
func pieces(points []Point, gap time.Duration, x func(time.Time) float64, y func(float64) float64, draw func(coordinates string, n int)) {
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
		if p.Value < 0 || i > 0 && p.Time.Sub(points[i-1].Time) > gap {
			flush()
		}
		if p.Value >= 0 {
			fmt.Fprintf(&b, "%.1f,%.1f ", x(p.Time), y(p.Value))
			n++
		}
	}
	flush()
}
