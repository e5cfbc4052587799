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
	lineRight = 72 // margin for the numbers; they are near the latest values, which a narrow screen shows first
	lineHigh  = 150
	lineTicks = 6   // the most ticks in a drawing of the constant width
	maxPoints = 600 // the most points in a plot; more points are averaged

	sparkWidth = 120
	sparkHigh  = 24
)

// Point is the value at a time. A value below 0 is unknown.
type Point struct {
	Time  time.Time
	Value float64
}

// Axis is the horizontal axis. Plots on the same page share it, so that equal times are one
// above the other.
type Axis struct {
	From, To time.Time
	Mark     time.Time // if not zero, a vertical line with Label is drawn at this time
	Label    string
	Width    int // of the drawing, in SVG units; 0 means 960
}

// Line draws points as a line with axes. The points must be in order of time. interval is the
// expected time between two points: the line is interrupted if points are missing, and where
// values are unknown. step chooses the grid, for example [DecimalStep], and number formats
// its values. label names the plot for screen readers.
//
// Ticks are at round times in UTC. The group of class ticks has data attributes with which a
// script can move the ticks to round times in another zone.
//
// Line returns "" for less than two points, or if all values are unknown.
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

// tickSteps are the possible distances between ticks, up to a day.
var tickSteps = []time.Duration{
	10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, day,
}

const day = 24 * time.Hour

// tickStep returns the distance between ticks on an axis of length d, which divides it into
// at most the given number of parts.
func tickStep(d, parts time.Duration) time.Duration {
	for _, step := range tickSteps {
		if d <= parts*step {
			return step
		}
	}
	return (d/parts/day + 1) * day
}

// ticks draws the ticks of an axis.
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

// tickLabel formats the time of a tick, as precisely as step needs. Midnight is shown as the
// date.
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

// Spark draws points like [Line], but small and without axes.
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

// share returns the position of t between first and last, from 0 to 1.
func share(t, first, last time.Time) float64 {
	return float64(t.Sub(first)) / float64(max(last.Sub(first), 1))
}

// thin replaces groups of neighbours by their averages, so that at most limit points are left.
func thin(points []Point, limit int) []Point {
	each := (len(points) + limit - 1) / limit
	if each <= 1 {
		return points
	}
	var out []Point
	for group := range slices.Chunk(points, each) {
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

// greatest returns the greatest value. It is negative if there is nothing to draw.
func greatest(points []Point) float64 {
	if len(points) < 2 {
		return -1
	}
	return slices.MaxFunc(points, func(a, b Point) int { return cmp.Compare(a.Value, b.Value) }).Value
}

// gap returns the greatest distance of two points that a line connects.
func gap(points []Point, interval time.Duration) time.Duration {
	mean := points[len(points)-1].Time.Sub(points[0].Time) / time.Duration(len(points)-1)
	return max(3*interval, 3*mean/2)
}

// pieces divides points into pieces, at unknown values and where two points are more than gap
// apart. It calls draw with the SVG coordinates and the number of points of each piece.
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
