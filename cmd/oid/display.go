package main

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/rivo/uniseg"

	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/registry"
)

// loadText returns a load on one line, without what was not measured, or "".
func loadText(l registry.Load, processors float64) string {
	parts := towire.LoadTexts(l)
	if processors >= 0 {
		parts = slices.Insert(parts, 0, "cpu "+cpuText(processors))
	}
	return strings.Join(parts, ", ")
}

// cpuText writes processors in use as percent of one.
func cpuText(processors float64) string {
	percent := processors * 100
	switch {
	case percent > 0 && percent < 0.1:
		return strconv.FormatFloat(percent, 'g', 1, 64) + "%"
	case percent > 0 && percent < 10:
		return strconv.FormatFloat(percent, 'f', 1, 64) + "%"
	}
	return strconv.FormatFloat(percent, 'f', 0, 64) + "%"
}

// bytesText writes a number of bytes, 0 or more.
func bytesText(n float64) string { return humanize.IBytes(uint64(n)) }

// countText writes a number, 0 or more.
func countText(n float64) string { return strconv.FormatFloat(n, 'f', 0, 64) }

// known writes a number with text, or "-" if it was not measured.
func known(n float64, text func(float64) string) string {
	if n < 0 {
		return "-"
	}
	return text(n)
}

// writeTable writes rows with their cells in columns, two blanks apart. The widths are
// those of a terminal, where a Chinese character takes two columns; text/tabwriter
// counts it as one. The cells of the columns in names are shortened, in rows too.
func writeTable(w io.Writer, rows [][]string, names ...int) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if slices.Contains(names, i) {
				row[i] = shorten(cell, 30)
			}
			widths[i] = max(widths[i], uniseg.StringWidth(row[i]))
		}
	}
	var text strings.Builder
	for _, row := range rows {
		blanks := 0
		for i, cell := range row {
			text.WriteString(strings.Repeat(" ", blanks) + cell)
			blanks = widths[i] - uniseg.StringWidth(cell) + 2
		}
		text.WriteByte('\n')
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// shorten returns text in at most this many columns of a terminal. It leaves out the middle,
// because the pods of a deployment differ at the end of their names.
func shorten(text string, most int) string {
	r := []rune(text)
	for side := most / 2; uniseg.StringWidth(text) > most; side-- {
		text = string(r[:side]) + "…" + string(r[len(r)-side:])
	}
	return text
}
