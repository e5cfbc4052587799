package main

import (
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
	"golang.org/x/term"

	censusreport "github.com/oidkit/oid/census/report"
)

// screenOf returns the abilities of out: the width of a terminal, elsewhere that in
// the variable COLUMNS or 80, and ASCII alone if the locale does not use UTF-8.
func screenOf(out io.Writer) censusreport.Screen {
	s := censusreport.Screen{ASCII: !hasUTF8()}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		s.Columns = n
	}
	if f, ok := out.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			s.Columns = columns
		}
	}
	return s
}

// hasUTF8 reports whether the locale that the environment names, by the rules of
// POSIX, writes UTF-8.
func hasUTF8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := os.Getenv(name); value != "" {
			value = strings.ToLower(value)
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return false
}

// Widths of plots in columns.
const (
	minWidth     = 40
	maxWidth     = 1000
	defaultWidth = 80 // where there is no terminal
)

// plotWidth returns the width for plots on w.
func plotWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return min(max(columns, minWidth), maxWidth)
		}
	}
	return defaultWidth
}

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
