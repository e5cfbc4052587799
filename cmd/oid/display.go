package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/registry"
)

// printable replaces characters in s that could move the cursor of a terminal or break
// a table: processes choose their own names.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// loadText returns a load on one line, without what was not measured.
func loadText(l registry.Load, processors float64) string {
	var parts []string
	add := func(measured bool, format string, args ...any) {
		if measured {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(processors >= 0, "cpu %s", cpuText(processors))
	add(l.RSS >= 0, "memory %s", bytesText(float64(l.RSS)))
	add(l.Files >= 0, "%s", phrase.Count(l.Files, "file", "files"))
	add(l.Threads >= 0, "%s", phrase.Count(l.Threads, "thread", "threads"))
	add(l.Goroutines >= 0, "%s", phrase.Count(l.Goroutines, "goroutine", "goroutines"))
	add(l.Heap >= 0, "heap %s", bytesText(float64(l.Heap)))
	if parts == nil {
		return "unknown"
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
