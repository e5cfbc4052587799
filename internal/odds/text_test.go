package odds_test

import (
	"testing"

	"github.com/oidkit/oid/internal/odds"
)

// A chance is written so that people can compare it, with four digits that count.
func TestText(t *testing.T) {
	for p, want := range map[float64]string{
		0: "0", 1: "1 (certain)", 0.75: "0.75", 0.5: "0.5 (1 in 2)", 0.3935: "0.3935 (1 in 2.541)",
		1. / 999.96: "0.001 (1 in 1,000)", 1e-4: "0.0001 (1 in 10,000)", 6.0571e-7: "6.057e-07 (1 in 1,651,000)",
		1e-14: "1e-14 (1 in 100,000,000,000,000)", 8e-16: "8e-16 (1 in 1.25 × 10^15)", 1e-300: "1e-300 (1 in 1 × 10^300)",
	} {
		if got := odds.Text(p); got != want {
			t.Errorf("%g: %q, want %q", p, got, want)
		}
	}
}
