// Package plot draws the plots of census reports and of the server's page as SVG.
//
// The caller's style sheet gives colours to the classes grid, number, bar and line.
// Every text that a caller passes in is escaped.
package plot

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// SVG is a drawing, or "" for none. It is a node of an HTML page.
type SVG string

// Render writes s. The error is w's.
func (s SVG) Render(w io.Writer) error {
	_, err := io.WriteString(w, string(s))
	return err
}

// Sizes of a plot with axes, in units of the SVG.
const (
	width     = 960
	top       = 10
	foot      = 22  // for the labels below the plot
	charWidth = 7.5 // of a label's letter, about
)

// area is a drawing with the plot in it.
type area struct {
	width             int   // of the drawing; 0 for the usual one
	above             int   // room above the plot, at least top
	left, right, high int   // margins of the plot, and its height
	rows              []int // the row of each mark's label; -1: it has no room
	limit             float64
	b                 strings.Builder
}

// axes begins a drawing with a grid from 0 to the first multiple of step that is
// not less than most.
func (a *area) axes(label string, most, step float64, number func(float64) string) {
	a.limit = max(math.Ceil(most/step), 1) * step
	a.width = cmp.Or(a.width, width)
	fmt.Fprintf(&a.b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, a.width, a.above+a.high+foot, html.EscapeString(label))
	at := a.left - 8
	if a.left < a.right { // the numbers are at the side with the wider margin
		at = a.width - 2
	}
	for v := 0.; v <= a.limit*1.001; v += step {
		fmt.Fprintf(&a.b, `<line class="grid" x1="%d" x2="%d" y1="%.2f" y2="%.2f"/>`, a.left, a.width-a.right, a.y(v), a.y(v))
		fmt.Fprintf(&a.b, `<text class="number" x="%d" y="%.2f">%s</text>`, at, a.y(v)+4, html.EscapeString(number(v)))
	}
}

// x returns the position of a share, from 0 to 1, of the horizontal axis.
func (a *area) x(share float64) float64 {
	return float64(a.left) + float64(a.width-a.left-a.right)*share
}

// y returns the position of a value.
func (a *area) y(v float64) float64 { return float64(a.above) + float64(a.high)*(1-v/a.limit) }

// tick marks x below the plot, with a label if there is room for it.
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

// DecimalStep returns a distance between grid lines for values up to most: 1, 2 or
// 5 times a power of ten, so that there are at most five lines above zero.
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

// CountStep is DecimalStep for counts, of which there are no fractions.
func CountStep(most float64) float64 { return max(DecimalStep(most), 1) }

// BinaryStep returns a distance between grid lines for values in bytes: a power of
// two, so that there are at most four lines above zero.
func BinaryStep(most float64) float64 {
	return max(math.Exp2(math.Ceil(math.Log2(most/4))), 1)
}
