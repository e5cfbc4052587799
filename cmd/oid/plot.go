package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"
)

const (
	plotRows   = 4  // height of a plot
	plotMargin = 22 // for its name and its scale
)

// Widths of plots in columns.
const (
	minWidth     = 40
	maxWidth     = 1000
	defaultWidth = 80 // where there is no terminal
)

// plotWidth returns the width for plots on w, which is that of --width if it is not 0.
func plotWidth(w io.Writer, given int) (int, error) {
	if f, ok := w.(*os.File); ok && given == 0 {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return min(max(columns, minWidth), maxWidth), nil
		}
	}
	if given = cmp.Or(given, defaultWidth); given < minWidth || given > maxWidth {
		return 0, usagef("--width %d: want %d to %d", given, minWidth, maxWidth)
	}
	return given, nil
}

// columns are the values of a plot, each the greatest of its stretch of time.
type columns struct {
	from  time.Time
	width time.Duration // of a column
	value []float64     // -1 where there is none
}

// newColumns returns n empty columns for the time from the first to the last
// value.
func newColumns(n int, first, last time.Time) *columns {
	c := &columns{from: first, width: last.Sub(first)/time.Duration(n) + 1, value: make([]float64, n)}
	for i := range c.value {
		c.value[i] = -1
	}
	return c
}

func (c *columns) add(t time.Time, v float64) {
	i := min(max(int(t.Sub(c.from)/c.width), 0), len(c.value)-1)
	c.value[i] = max(c.value[i], v)
}

// top returns the greatest value, or -1 if there is none.
func (c *columns) top() float64 { return slices.Max(c.value) }

func (c *columns) used() bool { return c.top() >= 0 }

// bars are a character's height in eighths. The lowest is for zero, so that it
// differs from nothing.
var bars = []rune(" ▁▂▃▄▅▆▇█")

// plot writes the columns as bars over zero, with a scale at the left; on one row if
// all values are zero.
func (c *columns) plot(b *strings.Builder, name string, label func(float64) string) {
	top, rows := c.top(), plotRows
	if top == 0 {
		rows = 1
	}
	for row := rows - 1; row >= 0; row-- {
		scale := ""
		switch row {
		case rows - 1:
			scale = label(top)
		case 0:
			scale = label(0)
		}
		fmt.Fprintf(b, "%-11s%9s │", name, scale)
		name = ""
		line := make([]rune, len(c.value))
		for i, v := range c.value {
			eighths := 0
			if v >= 0 && top > 0 {
				eighths = int(v/top*plotRows*8 + 0.5)
			}
			height := min(max(eighths-row*8, 0), 8)
			if v >= 0 && row == 0 {
				height = max(height, 1)
			}
			line[i] = bars[height]
		}
		b.WriteString(strings.TrimRight(string(line), " "))
		b.WriteByte('\n')
	}
}
