package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/registry"
)

// loadText says on one line what a process uses. What is not known is left out.
func loadText(l registry.Load, cpu float64) string {
	var parts []string
	add := func(known bool, format string, args ...any) {
		if known {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(cpu >= 0, "cpu %s", cpuText(cpu))
	add(l.RSS >= 0, "memory %s", bytesText(float64(l.RSS)))
	add(l.Files >= 0, "%d files", l.Files)
	add(l.Threads >= 0, "%d threads", l.Threads)
	add(l.Goroutines >= 0, "%d goroutines", l.Goroutines)
	add(l.Heap >= 0, "heap %s", bytesText(float64(l.Heap)))
	if parts == nil {
		return "not known"
	}
	return strings.Join(parts, ", ")
}

// cpuText writes processors in use as percent of one.
func cpuText(processors float64) string {
	percent := processors * 100
	if percent > 0 && percent < 10 {
		return strconv.FormatFloat(percent, 'f', 1, 64) + "%"
	}
	return strconv.FormatFloat(percent, 'f', 0, 64) + "%"
}

// bytesText writes a number of bytes with three digits, or four at most.
func bytesText(n float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for len(units) > 1 && n >= 1024 {
		n, units = n/1024, units[1:]
	}
	if n < 10 && units[0] != "B" {
		return strconv.FormatFloat(n, 'f', 1, 64) + " " + units[0]
	}
	return strconv.FormatFloat(n, 'f', 0, 64) + " " + units[0]
}

// countText writes a number, or "-" if it is not known.
func countText(n int64) string {
	if n < 0 {
		return "-"
	}
	return strconv.FormatInt(n, 10)
}

// spanText writes a duration with its largest unit, as in 3d or 12m.
func spanText(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day:
		return fmt.Sprintf("%dd", d/day)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%ds", max(d, 0)/time.Second)
}
