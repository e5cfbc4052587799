package plot_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/plot"
)

// A bar that would make all others flat is cut, with its count beside it; one that is just
// high is not, nor are many.
func TestCut(t *testing.T) {
	ten := slices.Repeat([]int64{10}, 100)
	with := func(some ...int64) []int64 { return append(append(slices.Clone(ten[:50]), some...), ten[50:]...) }
	for _, c := range []struct {
		name   string
		counts []int64
		cut    []string
		top    string
	}{
		{"none", ten, nil, "10"},
		{"just high enough to be whole", with(30), nil, "30"},
		{"one", with(31), []string{"31"}, "15"},
		{"an import", with(20_000), []string{"20000"}, "15"},
		{"five, which is one in twenty", with(20_000, 0, 20_001, 0, 20_002, 0, 20_003, 0, 20_004), []string{"20000", "20004"}, "15"},
		{"too many", with(20_000, 20_001, 20_002, 20_003, 20_004, 20_005), nil, "20000"},
		{"few bars", []int64{1, 1, 1, 100}, nil, "100"},
	} {
		drawing := string(counts(c.counts...).Marked("ids", usual, nil, nil))
		got := values(drawing, `<text class="cut"[^>]*>([^<]*)<`)
		if len(got) > 0 && len(c.cut) > 0 {
			got = []string{got[0], got[len(got)-1]}[:min(len(c.cut), len(got))]
		}
		all := numbers(drawing)
		if c.name == "five, which is one in twenty" {
			if n := strings.Count(drawing, `<path class="cut"`); n != 5 || len(got) == 0 || got[0] != "20000" {
				t.Errorf("%s: %d cuts, %v", c.name, n, got)
			}
		} else if !slices.Equal(got, c.cut) {
			t.Errorf("%s: cut %v, want %v", c.name, got, c.cut)
		}
		if all[len(all)-1] != c.top && c.name != "too many" {
			t.Errorf("%s: the axis ends at %s, want %s", c.name, all[len(all)-1], c.top)
		}
		for _, y := range values(drawing, `<rect class="bar"[^>]* y="([^"]*)"`) {
			if strings.HasPrefix(y, "-") {
				t.Errorf("%s: a bar leaves the plot at %s", c.name, y)
			}
		}
	}
}

// Counts of more than three years are labelled with the years that begin.
func TestYears(t *testing.T) {
	months := func(n int) plot.Counts {
		c := counts(slices.Repeat([]int64{1}, n)...)
		c.Year = func(i int) int { return 2016 + (i+3)/12 }
		return c
	}
	if got := labels(string(months(33).Marked("", usual, nil, nil))); got[0] != "&lt;0&gt;" {
		t.Errorf("of less than three years: %v", got)
	}
	if got := labels(string(months(34).Marked("", usual, nil, nil))); !slices.Equal(got, []string{"2017", "2018", "2019"}) {
		t.Errorf("of three years: %v", got)
	}
	got := labels(string(months(12*60).Marked("", plot.Size{Width: 380, High: 100}, nil, nil)))
	if len(got) < 3 || len(got) > 8 || !slices.IsSorted(got) {
		t.Errorf("of sixty years on a phone: %v", got)
	}
}
