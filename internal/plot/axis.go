// Package plot draws plots as SVG, for the reports of a census and for the pages of the
// server.
//
// Counts over time are drawn as bars ([Counts]), and measured values as lines ([Line],
// [Spark]). The style sheet of the page sets the colours of the classes grid, number, bar,
// line, event, missing and cut. All texts are escaped.
package plot

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// SVG is an <svg> element, or "" if there is nothing to draw. It implements Node of
// gomponents.
type SVG string

// Render writes s to w and returns the error of w.
func (s SVG) Render(w io.Writer) error {
	_, err := io.WriteString(w, string(s))
	return err
}

// Sizes of a plot with axes, in units of the SVG.
const (
	width     = 960
	top       = 10
	foot      = 22  // height below the plot, for labels
	charWidth = 7.5 // approximate width of a letter in a label
)

// area is a drawing with a plot between margins.
type area struct {
	width             int     // of the drawing; 0 means the constant width
	above             int     // margin above the plot
	left, right, high int     // margins left and right of the plot, and its height
	rows              []int   // the row for the label of each mark, or -1 if it has no room
	limit             float64 // the value at the top of the plot
	b                 strings.Builder
}

// axes begins a drawing with a grid of horizontal lines, step apart, from 0 to the first
// multiple of step that is not less than most. number formats the value of a line.
func (a *area) axes(label string, most, step float64, number func(float64) string) {
	a.limit = max(math.Ceil(most/step), 1) * step
	a.width = cmp.Or(a.width, width)
	fmt.Fprintf(&a.b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, a.width, a.above+a.high+foot, html.EscapeString(label))
	at := a.left - 8
	if a.left < a.right { // the numbers are in the wider margin
		at = a.width - 2
	}
	for v := 0.; v <= a.limit*1.001; v += step {
		fmt.Fprintf(&a.b, `<line class="grid" x1="%d" x2="%d" y1="%.2f" y2="%.2f"/>`, a.left, a.width-a.right, a.y(v), a.y(v))
		fmt.Fprintf(&a.b, `<text class="number" x="%d" y="%.2f">%s</text>`, at, a.y(v)+4, html.EscapeString(number(v)))
	}
}

// x returns the horizontal position for a share of the axis, from 0 to 1.
func (a *area) x(share float64) float64 {
	return float64(a.left) + float64(a.width-a.left-a.right)*share
}

// y returns the vertical position for a value.
func (a *area) y(v float64) float64 { return float64(a.above) + float64(a.high)*(1-v/a.limit) }

// tick draws a short line below the plot at x, with a label if there is room for it.
func (a *area) tick(x float64, label string) {
	base := a.y(0)
	fmt.Fprintf(&a.b, `<line class="grid" x1="%.2f" x2="%.2f" y1="%.2f" y2="%.2f"/>`, x, x, base, base+4)
	if x+charWidth*float64(len(label)) <= float64(a.width) {
		fmt.Fprintf(&a.b, `<text x="%.2f" y="%.2f">%s</text>`, x, base+17, html.EscapeString(label))
	}
}

func (a *area) end() SVG {
	a.b.WriteString(`</svg>`)
	return SVG(a.b.String())
}

// DecimalStep returns the distance between grid lines for values up to most. It is 1, 2 or 5
// times a power of ten, and at most five lines are above zero.
func DecimalStep(most float64) float64 {
	if most <= 0 {
		return 1
	}
	power := math.Pow10(int(math.Floor(math.Log10(most))))
	for _, step := range []float64{power / 5, power / 2, power} {
		if math.Floor(most/step) < 5 {
			return step
		}
	}
	return 2 * power
}

// CountStep is [DecimalStep] for whole numbers: it returns 1 or more.
func CountStep(most float64) float64 { return max(DecimalStep(most), 1) }

// BinaryStep returns the distance between grid lines for values in bytes. It is a power of two,
// and at most four lines are above zero.
func BinaryStep(most float64) float64 {
	return max(math.Exp2(math.Ceil(math.Log2(most/4))), 1)
}
