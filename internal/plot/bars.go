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
	barsLeft  = 64 // for the numbers of the axis
	barsRight = 8
	barsHigh  = 200
	stripHigh = 26
	maxBars   = 320 // in a strip; more counts share one
	maxTicks  = 7   // below a plot of bars
	maxWidth  = 64  // of a bar
)

// Counts are counts of consecutive stretches of time.
type Counts struct {
	Counts []int64
	// Name returns the name of the stretch that count i is of.
	Name func(i int) string
	// Number writes a count on the axis, and Title n with its unit.
	Number, Title func(n int64) string
	// Year returns the year that count i is in. Where the counts are of several years, the
	// labels below the plot are years.
	Year func(i int) int
}

// bar is one count or the sum of several consecutive ones.
type bar struct {
	first, last int
	sum         int64
}

// bars returns the bars, no more than limit.
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

// A bar is cut where it would make all others flat: where it is more than cutFrom times as
// high as the highest of those that are not cut, of which at most one in cutShare is. The
// axis then ends a little above that one, and the count of a cut bar is written beside it.
const (
	cutFrom  = 3 // the others use at least a third of the height without a cut
	cutShare = 20
	cutAbove = 1.25
)

// cut returns the highest count that the axis must show, where higher bars are cut.
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

// Strip draws c as a low strip of bars without numbers, of the given class, as wide
// as those of Marked without their margins. Marks are lines at shares of its length.
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

// Size is how big a plot is, in units of about a pixel.
type Size struct{ Width, High int }

// Mark is something that happened at a time of a plot.
type Mark struct {
	At    float64 // share of the plot's width, from 0 to 1
	Label string  // in a few words
	Title string  // in a sentence
	Class string  // beside event
	// Until is the end of a stretch that is drawn as Missing times as high as its bars,
	// in outline; 0 for none.
	Until   float64
	Missing float64
}

const (
	markRows = 4  // of labels above a plot
	markHigh = 15 // of a row
)

// Marked draws c as bars with axes, with marks above them. It returns nothing if all
// counts are 0.
func (c Counts) Marked(label string, size Size, marks []Mark) SVG {
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
	return a.end()
}

// names writes the names of some bars below them, or the years in which they begin.
func (a *area) names(c Counts, all []bar) {
	years := c.Year(len(c.Counts)-1) - c.Year(0)
	room := int(float64(a.width-a.left-a.right) / (yearWidth * charWidth)) // for years
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
	manyYears = 3 // from which on the labels are years: so many begin
	yearWidth = 7 // of a year, in letters, with the space after it
)

// cuts opens the bars that end above the axis near its top, and writes their counts beside
// them.
func (a *area) cuts(c Counts, all []bar) {
	wide := min(float64(a.width-a.left-a.right)/float64(len(all)), maxWidth)
	free := 0. // where the last count ends
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
			continue // its title has it
		}
		free = at + long
		fmt.Fprintf(&a.b, `<text class="cut" x="%.2f" y="%.2f" text-anchor="%s">%s</text>`, at, y, anchor, html.EscapeString(text))
	}
}

const cutBelow = 12 // the top of the plot

// place gives the labels rows in which they do not touch, and returns how many rows.
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

// span returns where the label of a mark is: right of it, or left of it at the end.
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

// missing draws what is missing above the bars of a stretch.
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
