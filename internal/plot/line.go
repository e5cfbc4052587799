package plot

import (
	"cmp"
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
	lineTicks = 6   // parts of the usual width
	maxPoints = 600 // in a plot; more are averaged

	sparkWidth = 120
	sparkHigh  = 24
)

// Point is one value over time; a value below 0 is unknown.
type Point struct {
	Time  time.Time
	Value float64
}

// Axis is the time that plots of one page show, so that a time is at the same place in all
// of them.
type Axis struct {
	From, To time.Time
	Mark     time.Time // is marked by a line with the label; zero for none
	Label    string
	Width    int // of the plots, in units of about a pixel; 0 for the usual one
}

// Line draws points, which are in order of time, as a line with axes. It is
// interrupted where values are unknown or points are missing, given the interval at
// which they come. The label names the plot for a screen reader, number writes a
// value, and step is a function such as [DecimalStep]. The ticks are at round times in
// UTC; the group with the class ticks has what a script needs to move them to those of
// another zone. It returns nothing for less than two points, or if no value is known.
func Line(label string, axis Axis, points []Point, interval time.Duration, step func(most float64) float64, number func(float64) string) SVG {
	points = thin(points, maxPoints)
	most := greatest(points)
	if most < 0 {
		return ""
	}
	a := &area{width: axis.Width, left: lineLeft, right: lineRight, above: top, high: lineHigh}
	if axis.Label != "" {
		a.above += markHigh
	}
	a.axes(label, most, step(most), number)
	x := func(t time.Time) float64 { return a.x(share(t, axis.From, axis.To)) }
	a.ticks(axis, x)
	if !axis.Mark.IsZero() {
		at, anchor := x(axis.Mark), "start"
		if at > float64(a.width)/2 {
			anchor = "end"
		}
		fmt.Fprintf(&a.b, `<line class="event" x1="%.2f" x2="%.2f" y1="0" y2="%d"/><text class="mark" x="%.2f" y="11" text-anchor="%s">&#160;%s&#160;</text>`,
			at, at, a.above+a.high, at, anchor, html.EscapeString(axis.Label))
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

// tickSteps are the distances between ticks that are round on a clock.
var tickSteps = []time.Duration{
	10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, day,
}

const day = 24 * time.Hour

// tickStep returns the distance between ticks on an axis of length d, which is at most
// divided in so many parts.
func tickStep(d, parts time.Duration) time.Duration {
	for _, step := range tickSteps {
		if d <= parts*step {
			return step
		}
	}
	return (d/parts/day + 1) * day
}

// ticks marks the round times of an axis.
func (a *area) ticks(axis Axis, x func(time.Time) float64) {
	step := tickStep(axis.To.Sub(axis.From), time.Duration(a.width*lineTicks/width))
	fmt.Fprintf(&a.b, `<g class="ticks" data-from="%d" data-to="%d" data-step="%d" data-left="%d" data-right="%d">`,
		axis.From.UnixMilli(), axis.To.UnixMilli(), step.Milliseconds(), a.left, a.width-a.right)
	first := time.UnixMilli(axis.From.UnixMilli() / step.Milliseconds() * step.Milliseconds()).UTC()
	for t := first; !t.After(axis.To); t = t.Add(step) {
		if !t.Before(axis.From) {
			a.tick(x(t), tickLabel(t, step))
		}
	}
	a.b.WriteString(`</g>`)
}

// tickLabel writes a round time beside others at a distance of step. Midnight is the date.
func tickLabel(t time.Time, step time.Duration) string {
	format := "15:04"
	switch {
	case t.Equal(t.Truncate(day)):
		format = "01-02"
	case step < time.Second:
		format = "15:04:05.00"
	case step < time.Minute:
		format = "15:04:05"
	}
	return t.Format(format)
}

// Spark draws points as Line does, but small and without axes.
func Spark(label string, points []Point, interval time.Duration) SVG {
	points = thin(points, sparkWidth)
	most := greatest(points)
	if most < 0 {
		return ""
	}
	first, last := points[0].Time, points[len(points)-1].Time
	a := &area{width: sparkWidth, left: 1, right: 1, above: 2, high: sparkHigh - 4, limit: max(most, math.SmallestNonzeroFloat32)}
	x := func(t time.Time) float64 { return a.x(share(t, first, last)) }
	fmt.Fprintf(&a.b, `<svg class="spark" viewBox="0 0 %d %d" role="img" aria-label="%s">`, sparkWidth, sparkHigh, html.EscapeString(label))
	pieces(points, gap(points, interval), x, a.y, func(coordinates string, n int) {
		if n > 1 {
			fmt.Fprintf(&a.b, `<polyline class="line" points="%s"/>`, coordinates)
		}
	})
	return a.end()
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

// greatest returns the greatest value, or -1 if there is nothing to draw.
func greatest(points []Point) float64 {
	if len(points) < 2 {
		return -1
	}
	return slices.MaxFunc(points, func(a, b Point) int { return cmp.Compare(a.Value, b.Value) }).Value
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
