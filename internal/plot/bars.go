package plot

import (
	"fmt"
	"html"
	"strings"
)

const (
	barsLeft  = 64 // for the numbers of the axis
	barsRight = 8
	barsHigh  = 200
	stripHigh = 26
	maxBars   = 320 // in a plot; more counts share one
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
}

// bar is one count or the sum of several consecutive ones.
type bar struct {
	first, last int
	sum         int64
}

func bars(counts []int64) (all []bar, most int64) {
	each := (len(counts) + maxBars - 1) / maxBars
	for i := 0; i < len(counts); i += each {
		b := bar{first: i, last: min(i+each, len(counts)) - 1}
		for _, n := range counts[b.first : b.last+1] {
			b.sum += n
		}
		all = append(all, b)
		most = max(most, b.sum)
	}
	return all, most
}

// draw draws the bars between the heights base and base-high, at which limit is.
func (c Counts) draw(b *strings.Builder, all []bar, base, high, limit float64, class string) {
	each := float64(width-barsLeft-barsRight) / float64(len(all))
	gap := min(each/5, 2)
	for i, one := range all {
		if one.sum == 0 {
			continue
		}
		name := c.Name(one.first)
		if one.last > one.first {
			name += " to " + c.Name(one.last)
		}
		h := max(high*float64(one.sum)/limit, 1)
		fmt.Fprintf(b, `<rect class="%s" x="%.2f" y="%.2f" width="%.2f" height="%.2f"><title>%s: %s</title></rect>`,
			class, barsLeft+each*float64(i)+gap/2, base-h, min(each-gap, maxWidth), h,
			html.EscapeString(name), html.EscapeString(c.Title(one.sum)))
	}
}

// Bars draws c as bars with axes. The label names the plot for a screen reader. It
// returns nothing if all counts are 0.
func (c Counts) Bars(label string) SVG {
	all, most := bars(c.Counts)
	if most == 0 {
		return ""
	}
	a := &area{left: barsLeft, right: barsRight, high: barsHigh}
	a.axes(label, float64(most), CountStep(float64(most)), func(v float64) string { return c.Number(int64(v)) })
	c.draw(&a.b, all, top+barsHigh, barsHigh, a.limit, "bar")
	every := (len(all) + maxTicks - 1) / maxTicks
	for i := 0; i < len(all); i += every {
		a.tick(a.x(float64(i)/float64(len(all))), c.Name(all[i].first))
	}
	return a.end()
}

// Strip draws c as a low strip of bars without numbers, of the given class, as wide
// as those of Bars without their margins.
func (c Counts) Strip(label, class string) SVG {
	all, most := bars(c.Counts)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="strip" preserveAspectRatio="none" viewBox="%d 0 %d %d" role="img" aria-label="%s">`,
		barsLeft, width-barsLeft-barsRight, stripHigh, html.EscapeString(label))
	fmt.Fprintf(&b, `<line class="grid" x1="%d" x2="%d" y1="%d" y2="%d"/>`, barsLeft, width-barsRight, stripHigh-1, stripHigh-1)
	if most > 0 {
		c.draw(&b, all, stripHigh-1, stripHigh-2, float64(most), class)
	}
	b.WriteString(`</svg>`)
	return SVG(b.String())
}
