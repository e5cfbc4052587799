package plot

import (
	"cmp"
	"fmt"
	"html"
	"slices"
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
	// Year returns the year that count i is in; nil for no years. Where the counts are of
	// several years, the labels below the plot are years.
	Year func(i int) int
}

// bar is one count or the sum of several consecutive ones.
type bar struct {
	first, last int
	sum         int64
}

func (c Counts) bars(limit int) (all []bar, most int64) {
	counts := c.Counts
	each := (len(counts) + limit - 1) / limit
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
func (c Counts) draw(b *strings.Builder, all []bar, width int, base, high, limit float64, class string) {
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
		h := max(high*min(float64(one.sum)/limit, 1), 1)
		fmt.Fprintf(b, `<rect class="%s" x="%.2f" y="%.2f" width="%.2f" height="%.2f"><title>%s: %s</title></rect>`,
			class, barsLeft+each*float64(i)+gap/2, base-h, min(each-gap, maxWidth), h,
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

// cut returns the highest count that the axis must show, and whether bars are cut there.
func cut(all []bar) (most float64, isCut bool) {
	sums := make([]int64, 0, len(all))
	for _, b := range all {
		sums = append(sums, b.sum)
	}
	slices.SortFunc(sums, func(a, b int64) int { return cmp.Compare(b, a) })
	for i := range min(len(sums)-1, len(sums)/cutShare) {
		if next := sums[i+1]; next > 0 && sums[i] > cutFrom*next {
			most, isCut = float64(next)*cutAbove, true
		}
	}
	if !isCut {
		most = float64(sums[0])
	}
	return most, isCut
}

// Strip draws c as a low strip of bars without numbers, of the given class, as wide
// as those of Marked without their margins. Marks are lines at shares of its length.
func (c Counts) Strip(label, class string, marks ...float64) SVG {
	all, most := c.bars(maxBars)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="strip" preserveAspectRatio="none" viewBox="%d 0 %d %d" role="img" aria-label="%s">`,
		barsLeft, width-barsLeft-barsRight, stripHigh, html.EscapeString(label))
	fmt.Fprintf(&b, `<line class="grid" x1="%d" x2="%d" y1="%d" y2="%d"/>`, barsLeft, width-barsRight, stripHigh-1, stripHigh-1)
	if most > 0 {
		c.draw(&b, all, width, stripHigh-1, stripHigh-2, float64(most), class)
	}
	for _, at := range marks {
		x := barsLeft + float64(width-barsLeft-barsRight)*at
		fmt.Fprintf(&b, `<line class="event" x1="%.2f" x2="%.2f" y1="0" y2="%d"/>`, x, x, stripHigh)
	}
	b.WriteString(`</svg>`)
	return SVG(b.String())
}
