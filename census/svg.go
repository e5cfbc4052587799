package census

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// Sizes of the plots, in units of the SVG.
const (
	plotWidth  = 960
	plotLeft   = 64 // for the numbers of the axis
	plotRight  = 8
	chartTop   = 10
	chartHigh  = 200
	axisHigh   = 22
	laneHigh   = 26
	maxColumns = 320 // bars in a plot; more buckets share one
	maxTicks   = 7
	charWidth  = 7.5 // of the axis's letters, about
)

// column is one bar: one bucket or several in a row.
type column struct {
	first, last int // buckets
	ids         int64
}

// columns makes bars of counts by bucket.
func columns(counts []int64) []column {
	each := (len(counts) + maxColumns - 1) / maxColumns
	var out []column
	for i := 0; i < len(counts); i += each {
		c := column{first: i, last: min(i+each, len(counts)) - 1}
		for _, n := range counts[c.first : c.last+1] {
			c.ids += n
		}
		out = append(out, c)
	}
	return out
}

// counts returns the timeline's counts alone.
func (t Timeline) counts() []int64 {
	out := make([]int64, len(t.Buckets))
	for i, b := range t.Buckets {
		out[i] = b.IDs
	}
	return out
}

// label says which stretch of time a bar stands for.
func (t Timeline) label(c column) string {
	format := bucketFormat(t.By)
	from := t.Buckets[c.first].Start.Format(format)
	if c.first == c.last {
		return from
	}
	return from + " to " + t.Buckets[c.last].Start.Format(format)
}

// bars draws counts as bars that stand on base.
func (t Timeline) bars(b *strings.Builder, counts []int64, top, high float64, most int64, class string) {
	all := columns(counts)
	width := float64(plotWidth-plotLeft-plotRight) / float64(max(len(all), 1))
	gap := min(width/5, 2)
	for i, c := range all {
		if c.ids == 0 {
			continue
		}
		h := max(high*float64(c.ids)/float64(most), 1)
		fmt.Fprintf(b, `<rect class="%s" x="%.2f" y="%.2f" width="%.2f" height="%.2f"><title>%s: %s</title></rect>`,
			class, plotLeft+width*float64(i)+gap/2, top+high-h, min(width-gap, 64), h,
			html.EscapeString(t.label(c)), plural(c.ids, "id", "ids"))
	}
}

// ticks writes times below a plot.
func (t Timeline) ticks(b *strings.Builder, y float64) {
	all := columns(t.counts())
	width := float64(plotWidth-plotLeft-plotRight) / float64(max(len(all), 1))
	format := bucketFormat(t.By)
	every := (len(all) + maxTicks - 1) / maxTicks
	for i := 0; i < len(all); i += every {
		x := plotLeft + width*float64(i)
		fmt.Fprintf(b, `<line class="grid" x1="%.2f" x2="%.2f" y1="%.2f" y2="%.2f"/>`, x, x, y, y+4)
		if x+charWidth*float64(len(format)) <= plotWidth {
			fmt.Fprintf(b, `<text x="%.2f" y="%.2f">%s</text>`, x, y+17, t.Buckets[all[i].first].Start.Format(format))
		}
	}
}

// chart draws the timeline.
func (r *Report) chart() template.HTML {
	var most int64
	for _, c := range columns(r.Timeline.counts()) {
		most = max(most, c.ids)
	}
	if most == 0 {
		return ""
	}
	var b strings.Builder
	step := niceStep(most)
	top := (most + step - 1) / step * step
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="ids by %v">`, plotWidth, chartTop+chartHigh+axisHigh, r.Timeline.By)
	for n := int64(0); n <= top; n += step {
		y := chartTop + chartHigh*(1-float64(n)/float64(top))
		fmt.Fprintf(&b, `<line class="grid" x1="%d" x2="%d" y1="%.2f" y2="%.2f"/>`, plotLeft, plotWidth-plotRight, y, y)
		fmt.Fprintf(&b, `<text class="number" x="%d" y="%.2f">%s</text>`, plotLeft-8, y+4, group(n))
	}
	r.Timeline.bars(&b, r.Timeline.counts(), chartTop, chartHigh, top, "bar")
	r.Timeline.ticks(&b, chartTop+chartHigh)
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// niceStep returns 1, 2 or 5 times a power of ten, of which most has up to five.
func niceStep(most int64) int64 {
	power := int64(math.Pow10(int(math.Log10(float64(max(most, 1))))))
	for _, step := range []int64{power / 5, power / 2, power, 2 * power} {
		if step > 0 && most/step < 5 {
			return step
		}
	}
	return 2 * power
}

// lane is the life of one writer.
type lane struct {
	Writer
	Plot template.HTML
}

// lanes draws one strip for each writer that is listed.
func (r *Report) lanes() []lane {
	var out []lane
	for _, w := range r.Writers {
		var most int64
		for _, c := range columns(w.Timeline) {
			most = max(most, c.ids)
		}
		var b strings.Builder
		class := "bar"
		if w.Stepped || w.Shared {
			class = "bar wrong"
		}
		fmt.Fprintf(&b, `<svg class="strip" preserveAspectRatio="none" viewBox="%d 0 %d %d" role="img" aria-label="ids of %s by %v">`, plotLeft, plotWidth-plotLeft-plotRight, laneHigh, w.Process, r.Timeline.By)
		fmt.Fprintf(&b, `<line class="grid" x1="%d" x2="%d" y1="%d" y2="%d"/>`, plotLeft, plotWidth-plotRight, laneHigh-1, laneHigh-1)
		if most > 0 {
			r.Timeline.bars(&b, w.Timeline, 1, laneHigh-2, most, class)
		}
		b.WriteString(`</svg>`)
		out = append(out, lane{w, template.HTML(b.String())})
	}
	return out
}
