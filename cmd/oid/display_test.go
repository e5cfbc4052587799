package main

import (
	"testing"

	"github.com/oidkit/oid/internal/phrase"
)

func TestLoadTexts(t *testing.T) {
	for got, want := range map[string]string{
		bytesText(0): "0 B", bytesText(1023): "1023 B", bytesText(1536): "1.5 KiB", bytesText(50 << 20): "50 MiB", bytesText(1 << 60): "1.0 EiB",
		cpuText(0): "0%", cpuText(0.00002): "0.002%", cpuText(0.001): "0.1%", cpuText(0.015): "1.5%", cpuText(1.5): "150%",
		known(-1, countText): "-", known(12, countText): "12",
		phrase.Shown("a\x1b[2Jb\tc\nü"): "a\ufffd[2Jb\ufffdc\ufffdü",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
