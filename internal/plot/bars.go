package plot

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"unicode/utf8"
)

const (
	barsLeft  = 64 // margin for the numbers of the axis
	barsRight = 8
	barsHigh  = 200
	stripHigh = 26
	maxBars   = 320 // the most bars in a strip
	maxTicks  = 7   // the most labels below a plot of bars
	maxWidth  = 64  // the greatest width of a bar
)

// Counts are the numbers to draw as bars: one for each of several consecutive periods, such
// as days. If there are more counts than bars, a bar shows the sum of several counts.
type Counts struct {
	Counts []int64
	// Name returns the name of the period of count i, such as "2026-11-01".
	Name func(i int) string
	// Number formats a count for the axis: "1,234". Title formats it with its unit: "1,234
	// ids".
	Number, Title func(n int64) string
	// Year returns the year of count i. If the counts are from three years or more, the
	// labels below the plot are years.
	Year func(i int) int
}

// bar is the sum of the counts from first to last, both included.
type bar struct {
	first, last int
	sum         int64
}

// bars groups the counts into at most limit bars.
func (c Counts) bars(limit int) (all []bar) {
	counts := c.Counts
	each := (len(counts) + limit - 1) / limit
	for i := 0; i < len(counts); i += each {
		b := bar{first: i, last: min(i+each, len(counts)) - 1}
		for _, n := range counts[b.first : b.last+1] {
			b.sum += n
		}
		all = append(all, b)
	}
	return all
}

// bars draws bars of the given class.
func (a *area) bars(c Counts, all []bar, class string) {
	each := float64(a.width-a.left-a.right) / float64(len(all))
	gap := min(each/5, 2)
	for i, one := range all {
		if one.sum == 0 {
			continue
		}
		name := c.Name(one.first)
		if one.last > one.first {
			name += " to " + c.Name(one.last)
		}
		h := max(float64(a.high)*min(float64(one.sum)/a.limit, 1), 1)
		fmt.Fprintf(&a.b, `<rect class="%s" x="%.2f" y="%.2f" width="%.2f" height="%.2f"><title>%s: %s</title></rect>`,
			class, float64(a.left)+each*float64(i)+gap/2, a.y(0)-h, min(each-gap, maxWidth), h,
			html.EscapeString(name), html.EscapeString(c.Title(one.sum)))
	}
}

// A very high bar is cut, because it would make all others flat. A bar is cut if it is more
// than cutFrom times as high as the highest bar that is not cut; at most one in cutShare bars
// is cut. The axis then ends at cutAbove times the highest bar that is not cut, and the
// count of a cut bar is written beside it.
const (
	cutFrom  = 3
	cutShare = 20
	cutAbove = 1.25
)

// cut returns the highest count that the axis must show. Higher bars are cut.
func cut(all []bar) float64 {
	highest := slices.SortedFunc(slices.Values(all), func(a, b bar) int { return cmp.Compare(b.sum, a.sum) })
	most := float64(highest[0].sum)
	for i := range min(len(all)-1, len(all)/cutShare) {
		if next := highest[i+1].sum; next > 0 && highest[i].sum > cutFrom*next {
			most = float64(next) * cutAbove
		}
	}
	return most
}

// Strip draws c as a low strip of bars without axes. Its bars have the given class. Each mark
// is a vertical line at a share of the width, from 0 to 1. label names the plot for screen
// readers.
func (c Counts) Strip(label, class string, marks ...float64) SVG {
	a := &area{width: width, left: barsLeft, right: barsRight, above: 1, high: stripHigh - 2}
	all := c.bars(maxBars)
	for _, one := range all {
		a.limit = max(a.limit, float64(one.sum))
	}
	fmt.Fprintf(&a.b, `<svg class="strip" preserveAspectRatio="none" viewBox="%d 0 %d %d" role="img" aria-label="%s">`,
		barsLeft, width-barsLeft-barsRight, stripHigh, html.EscapeString(label))
	fmt.Fprintf(&a.b, `<line class="grid" x1="%d" x2="%d" y1="%d" y2="%d"/>`, barsLeft, width-barsRight, stripHigh-1, stripHigh-1)
	a.bars(c, all, class)
	for _, at := range marks {
		fmt.Fprintf(&a.b, `<line class="event" x1="%.2f" x2="%.2f" y1="0" y2="%d"/>`, a.x(at), a.x(at), stripHigh)
	}
	return a.end()
}

// Size is the width of a drawing and the height of the plot in it, in SVG units. A unit is
// about a pixel.
type Size struct{ Width, High int }

// Mark marks an event on a plot.
type Mark struct {
	At    float64 // position as a share of the plot's width, from 0 to 1
	Label string  // a few words
	Title string  // a sentence, shown as a tooltip
	Class string  // class of the elements of the mark
	// Until and Missing mark a period, from At to Until, in which counts are too low: above
	// each bar, an outline is Missing times as high as the bar. Until is 0 if there is none.
	Until   float64
	Missing float64
}

const (
	markRows = 4  // the most rows of labels above a plot
	markHigh = 15 // the height of such a row
)

// Marked draws c as bars with axes, marks above the bars, and ticks below them; of a tick, only
// At and Title are used. It returns "" if all counts are 0.
// label names the plot for screen readers.
func (c Counts) Marked(label string, size Size, marks, ticks []Mark) SVG {
	if len(c.Counts) == 0 || slices.Max(c.Counts) == 0 {
		return ""
	}
	all := c.bars(size.Width * 2 / 3)
	highest := cut(all)
	a := &area{width: size.Width, left: barsLeft, right: barsRight, high: size.High}
	a.above = top + a.place(marks)*markHigh
	a.axes(label, highest, CountStep(highest), func(v float64) string { return c.Number(int64(v)) })
	a.missing(all, marks)
	a.bars(c, all, "bar")
	a.cuts(c, all)
	a.names(c, all)
	a.marks(marks)
	for _, m := range ticks {
		fmt.Fprintf(&a.b, `<line class="deploy" x1="%.2f" x2="%.2f" y1="%d" y2="%d"><title>%s</title></line>`,
			a.x(m.At), a.x(m.At), a.above+a.high+1, a.above+a.high+7, html.EscapeString(m.Title))
	}
	return a.end()
}

// names writes labels below the bars: the names of some bars, or the years if there are many.
func (a *area) names(c Counts, all []bar) {
	years := c.Year(len(c.Counts)-1) - c.Year(0)
	room := int(float64(a.width-a.left-a.right) / (yearWidth * charWidth)) // years that fit
	every := (len(all)*width/a.width + maxTicks - 1) / maxTicks
	for i, b := range all {
		x, year := a.x(float64(i)/float64(len(all))), c.Year(b.first)
		switch {
		case years < manyYears && i%every == 0:
			a.tick(x, c.Name(b.first))
		case years >= manyYears && year%(years/room+1) == 0 && i > 0 && c.Year(all[i-1].first) != year:
			a.tick(x, strconv.Itoa(year))
		}
	}
}

const (
	manyYears = 3 // labels are years if at least this many years begin
	yearWidth = 7 // width of the label of a year with the space after it, in letters
)

// cuts draws a gap near the top of each bar that is cut, and writes its count beside it.
func (a *area) cuts(c Counts, all []bar) {
	wide := min(float64(a.width-a.left-a.right)/float64(len(all)), maxWidth)
	free := 0. // the end of the last count that was written
	for i, b := range all {
		if float64(b.sum) <= a.limit {
			continue
		}
		x, y := a.x(float64(i)/float64(len(all))), a.y(a.limit)+cutBelow
		fmt.Fprintf(&a.b, `<path class="cut" d="M%.2f %.2f l%.2f -5 v4 l%.2f 5 z"/>`, x-3, y+5, wide+6, -wide-6)
		text := c.Number(b.sum)
		long := charWidth * float64(len(text)+1)
		at, anchor := x+wide+4, "start"
		if at+long > float64(a.width) {
			at, anchor = x-4, "end"
		}
		if anchor == "start" && at < free {
			continue // no room; the title of the bar has the count
		}
		free = at + long
		fmt.Fprintf(&a.b, `<text class="cut" x="%.2f" y="%.2f" text-anchor="%s">%s</text>`, at, y, anchor, html.EscapeString(text))
	}
}

const cutBelow = 12 // distance of the gap from the top of the plot

// place chooses rows for the labels, so that they do not touch. It returns the number of rows.
func (a *area) place(marks []Mark) (rows int) {
	a.rows = make([]int, len(marks))
	var ends [markRows]float64
	for i, m := range marks {
		from, to := a.span(m)
		row := slices.IndexFunc(ends[:], func(end float64) bool { return from >= end })
		if row >= 0 {
			ends[row] = to + 8
		}
		a.rows[i], rows = row, max(rows, row+1)
	}
	return rows
}

// span returns the horizontal extent of the label of a mark. The label is right of the mark
// or, at the right end of the plot, left of it.
func (a *area) span(m Mark) (from, to float64) {
	x, long := a.x(m.At), 10+charWidth*0.85*float64(utf8.RuneCountInString(m.Label))
	if x+long > float64(a.width) {
		return x - long, x + 6
	}
	return x - 4, x + long
}

func (a *area) marks(marks []Mark) {
	for i, m := range marks {
		x := a.x(m.At)
		y := float64(max(a.rows[i], 0)*markHigh + 10)
		fmt.Fprintf(&a.b, `<g class="mark-at %s"><title>%s</title><line class="event" x1="%.2f" x2="%.2f" y1="%.2f" y2="%d"/><circle cx="%.2f" cy="%.2f" r="3.5"/>`,
			html.EscapeString(m.Class), html.EscapeString(m.Title), x, x, y, a.above+a.high, x, y)
		if a.rows[i] >= 0 {
			at, anchor := x+7, "start"
			if from, _ := a.span(m); from < x-4 {
				at, anchor = x-7, "end"
			}
			fmt.Fprintf(&a.b, `<text x="%.2f" y="%.2f" text-anchor="%s">%s</text>`, at, y+4, anchor, html.EscapeString(m.Label))
		}
		a.b.WriteString(`</g>`)
	}
}

// missing draws the outlines for [Mark.Missing] above the bars.
func (a *area) missing(all []bar, marks []Mark) {
	for _, m := range marks {
		if m.Until <= m.At || m.Missing <= 1 {
			continue
		}
		n := float64(len(all))
		first, last := max(int(m.At*n+0.5), 0), min(int(m.Until*n-0.5), len(all)-1)
		for i := first; i <= last; i++ {
			y := a.y(min(float64(all[i].sum)*m.Missing, a.limit))
			x := a.x(float64(i) / n)
			fmt.Fprintf(&a.b, `<rect class="missing" x="%.2f" y="%.2f" width="%.2f" height="%.2f"/>`, x, y, a.x(float64(i+1)/n)-x, a.y(0)-y)
		}
	}
}
