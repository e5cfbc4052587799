package main

import (
	"io"
	"strings"

	"github.com/rivo/uniseg"
)

// writeTable writes rows with their cells in columns, two blanks apart. The widths are
// those of a terminal, where a Chinese character takes two columns; text/tabwriter
// counts it as one.
func writeTable(w io.Writer, rows [][]string) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], uniseg.StringWidth(cell))
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
