package main

import (
	"strings"
	"testing"
	"time"
)

func TestPlot(t *testing.T) {
	first := time.Unix(1795166651, 0)
	c := newColumns(8, first, first.Add(7*time.Second))
	for i, v := range []float64{0, 1, 2, 4, -1, 8, 6, 7} {
		if v >= 0 {
			c.add(first.Add(time.Duration(i)*time.Second), v)
		}
	}
	var b strings.Builder
	c.plot(&b, "files", countText)
	want := `files              8 │     █ ▄
                     │     ███
                     │   █ ███
                   0 │▁▄██ ███
`
	if b.String() != want {
		t.Errorf("plot:\n%swant:\n%s", b.String(), want)
	}
	if empty := newColumns(8, first, first); empty.used() {
		t.Error("empty columns are used")
	}
	flat := newColumns(2, first, first)
	flat.add(first, 0)
	b.Reset()
	flat.plot(&b, "cpu", cpuText)
	if b.String() != "cpu               0% │▁\n" {
		t.Errorf("plot of a zero:\n%s", b.String())
	}
}

func TestLoadTexts(t *testing.T) {
	for got, want := range map[string]string{
		bytesText(0): "0 B", bytesText(1023): "1023 B", bytesText(1536): "1.5 KiB", bytesText(50 << 20): "50 MiB", bytesText(1 << 60): "1.0 EiB",
		cpuText(0): "0%", cpuText(0.00002): "0.002%", cpuText(0.001): "0.1%", cpuText(0.015): "1.5%", cpuText(1.5): "150%",
		known(-1, countText): "-", known(12, countText): "12",
		printable("a\x1b[2Jb\tc\nü"): "a?[2Jb?c?ü",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
