package plot_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/plot"
)

// values returns the first submatch of each match of pattern.
func values(drawing, pattern string) (out []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(drawing, -1) {
		out = append(out, m[1])
	}
	return out
}

// numbers are the labels of the vertical axis, labels those of the horizontal one.
func numbers(drawing string) []string { return values(drawing, `<text class="number"[^>]*>([^<]*)<`) }
func labels(drawing string) []string  { return values(drawing, `<text x[^>]*>([^<]*)<`) }

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		most                   float64
		decimal, count, binary float64
	}{
		{0, 1, 1, 1},
		{0.07, 0.02, 1, 1},
		{1, 0.5, 1, 1},
		{2, 0.5, 1, 1},
		{4, 1, 1, 1},
		{5, 2, 2, 2},
		{9, 2, 2, 4},
		{10, 5, 5, 4},
		{16, 5, 5, 4},
		{17, 5, 5, 8},
		{49, 10, 10, 16},
		{50, 20, 20, 16},
		{1 << 20, 500_000, 500_000, 1 << 18},
		{1<<20 + 1, 500_000, 500_000, 1 << 19},
	} {
		got := []float64{plot.DecimalStep(c.most), plot.CountStep(c.most), plot.BinaryStep(c.most)}
		for i, want := range []float64{c.decimal, c.count, c.binary} {
			if math.Abs(got[i]-want) > 1e-9*want {
				t.Errorf("steps for %g: %v, want %g, %g and %g", c.most, got, c.decimal, c.count, c.binary)
				break
			}
		}
	}
	for most := 1.; most < 1e9; most *= 1.003 {
		if lines := math.Ceil(most / plot.DecimalStep(most)); lines < 2 || lines > 5 {
			t.Errorf("%g lines above zero for %g", lines, most)
		}
		if lines := math.Ceil(most / plot.BinaryStep(most)); lines < 1 || lines > 4 {
			t.Errorf("%g lines above zero for %g bytes", lines, most)
		}
	}
}

var usual = plot.Size{Width: 960, High: 200}

func counts(n ...int64) plot.Counts {
	return plot.Counts{
		Counts: n,
		Name:   func(i int) string { return fmt.Sprintf("<%d>", i) },
		Number: func(n int64) string { return fmt.Sprint(n) },
		Title:  func(n int64) string { return fmt.Sprintf("%d & no more", n) },
		Year:   func(int) int { return 2024 },
	}
}

func TestBars(t *testing.T) {
	drawing := string(counts(10, 0, 40, 1).Marked(`ids "by" day`, usual, nil, nil))
	if got := numbers(drawing); !slices.Equal(got, []string{"0", "10", "20", "30", "40"}) {
		t.Errorf("numbers %v", got)
	}
	if got := labels(drawing); !slices.Equal(got, []string{"&lt;0&gt;", "&lt;1&gt;", "&lt;2&gt;", "&lt;3&gt;"}) {
		t.Errorf("labels %v", got)
	}
	if got := values(drawing, `<title>([^<]*)<`); !slices.Equal(got, []string{"&lt;0&gt;: 10 &amp; no more", "&lt;2&gt;: 40 &amp; no more", "&lt;3&gt;: 1 &amp; no more"}) {
		t.Errorf("titles %v", got)
	}
	// The plot is 200 high, from 10 to 210, and the axis ends at 40.
	if got := values(drawing, `<rect[^>]* (y="[^"]*" width="[^"]*" height="[^"]*")`); !slices.Equal(got, []string{
		`y="160.00" width="64.00" height="50.00"`, `y="10.00" width="64.00" height="200.00"`, `y="205.00" width="64.00" height="5.00"`,
	}) {
		t.Errorf("bars %v", got)
	}
	if !strings.Contains(drawing, `aria-label="ids &#34;by&#34; day"`) {
		t.Errorf("no label: %.100s", drawing)
	}
	if got := counts(0, 0).Marked("nothing", usual, nil, nil); got != "" {
		t.Errorf("without a count: %s", got)
	}
}

// TestManyBars draws more counts than there is room for bars.
func TestManyBars(t *testing.T) {
	for n, want := range map[int]struct {
		bars, labels int
		last         string
	}{
		7: {7, 7, "&lt;6&gt;: 1 &amp; no more"}, 8: {8, 4, "&lt;7&gt;: 1 &amp; no more"},
		640: {640, 7, "&lt;639&gt;: 1 &amp; no more"}, 641: {321, 7, "&lt;640&gt;: 1 &amp; no more"}, 1280: {640, 7, "&lt;1278&gt; to &lt;1279&gt;: 2 &amp; no more"},
	} {
		drawing := string(counts(slices.Repeat([]int64{1}, n)...).Marked("", usual, nil, nil))
		titles := values(drawing, `<title>([^<]*)<`)
		if len(titles) != want.bars || len(labels(drawing)) != want.labels || titles[len(titles)-1] != want.last {
			t.Errorf("%d counts: %d bars, %d labels, the last is %s; want %v", n, len(titles), len(labels(drawing)), titles[len(titles)-1], want)
		}
	}
}

func TestStrip(t *testing.T) {
	drawing := string(counts(1, 0, 2).Strip("<ids>", "bar wrong"))
	if got := values(drawing, `<rect class="bar wrong"[^>]* height="([^"]*)"`); !slices.Equal(got, []string{"12.00", "24.00"}) {
		t.Errorf("heights %v", got)
	}
	if !strings.Contains(drawing, `aria-label="&lt;ids&gt;"`) || len(numbers(drawing))+len(labels(drawing)) != 0 {
		t.Errorf("strip %s", drawing)
	}
	if got := string(counts(0).Strip("none", "bar")); strings.Contains(got, "<rect") || !strings.HasSuffix(got, "</svg>") {
		t.Errorf("without a count: %s", got)
	}
}

// every returns points of the given values, one each second; NaN is a point that is
// missing.
func every(values ...float64) (out []plot.Point) {
	for i, v := range values {
		if !math.IsNaN(v) {
			out = append(out, plot.Point{Time: time.Unix(int64(i), 0), Value: v})
		}
	}
	return out
}

// over is the axis from the first to the last of points.
func over(points []plot.Point) (axis plot.Axis) {
	if len(points) > 0 {
		axis.From, axis.To = points[0].Time, points[len(points)-1].Time
	}
	return axis
}

func TestLine(t *testing.T) {
	missing := math.NaN()
	for _, c := range []struct {
		name   string
		points []plot.Point
		want   []string // coordinates of lines, and centres of dots
	}{
		{"no point", nil, nil},
		{"one", every(1), nil},
		{"two", every(0, 4), []string{"8.0,160.0 888.0,10.0"}},
		{"unknown", every(4, 4, -1, 4, 4), []string{"8.0,10.0 228.0,10.0", "668.0,10.0 888.0,10.0"}},
		{"alone", every(4, 4, -1, 4, -1), []string{"8.0,10.0 228.0,10.0", `cx="668.0" cy="10.0"`}},
		{"two missing", every(4, missing, missing, 4, 4), []string{"8.0,10.0 668.0,10.0 888.0,10.0"}},
		{"three missing", every(4, 4, missing, missing, missing, 4), []string{"8.0,10.0 184.0,10.0", `cx="888.0" cy="10.0"`}},
	} {
		drawing := string(plot.Line("load", over(c.points), c.points, time.Second, plot.DecimalStep, func(v float64) string { return fmt.Sprint(v) }))
		got := append(values(drawing, `points="([^"]*)"`), values(drawing, `<circle class="bar" (.*?) r=`)...)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if len(c.points) < 2 {
			continue
		}
		if got := numbers(drawing); !slices.Equal(got, []string{"0", "1", "2", "3", "4"}) {
			t.Errorf("%s: numbers %v", c.name, got)
		}
		small := values(string(plot.Spark("load", c.points, time.Second)), `points="([^"]*)"`)
		if want := len(values(drawing, `points="([^"]*)"`)); len(small) != want {
			t.Errorf("%s: %d lines in the small plot, want %d", c.name, len(small), want)
		}
	}
}

// Ticks are at round times, also where the axis begins at an odd one, and midnight is the
// date.
func TestTimes(t *testing.T) {
	for _, c := range []struct {
		from   int64 // milliseconds
		length time.Duration
		want   string
	}{
		{0, 30 * time.Millisecond, "01-01 00:00:00.01 00:00:00.02"},
		{1250, 3 * time.Second, "00:00:01.50 00:00:02.00 00:00:02.50 00:00:03.00 00:00:03.50 00:00:04.00"},
		{13*3600e3 + 28*60e3 + 48e3, time.Hour, "13:30 13:40 13:50 14:00 14:10 14:20"},
		{13*3600e3 + 28*60e3 + 48e3, time.Hour + time.Millisecond, "13:30 13:45 14:00 14:15"},
		{13*3600e3 + 28*60e3 + 48e3, time.Minute, "13:28:50 13:29:00 13:29:10 13:29:20 13:29:30 13:29:40"},
		{23 * 3600e3, 2 * time.Hour, "23:00 23:30 01-02 00:30 01:00"},
		{3600e3, 36 * time.Hour, "06:00 12:00 18:00 01-02 06:00 12:00"},
		{3600e3, 6 * 24 * time.Hour, "01-02 01-03 01-04 01-05 01-06 01-07"},
		{3600e3, 20 * 24 * time.Hour, "01-05 01-09 01-13 01-17 01-21"},
	} {
		from := time.UnixMilli(c.from)
		points := []plot.Point{{Time: from, Value: 1}, {Time: from.Add(c.length), Value: 1}}
		drawing := string(plot.Line("", over(points), points, time.Second, plot.CountStep, func(v float64) string { return fmt.Sprint(v) }))
		if got := strings.Join(labels(drawing), " "); got != c.want {
			t.Errorf("%v from %v: %s, want %s", c.length, from.UTC(), got, c.want)
		}
	}
}

// Plots with one axis have a time at one place, whatever their points; a mark has its label.
func TestOneAxis(t *testing.T) {
	axis := plot.Axis{From: time.Unix(0, 0), To: time.Unix(100, 0), Mark: time.Unix(75, 0), Label: "this <id>"}
	late := []plot.Point{{Time: time.Unix(50, 0), Value: 1}, {Time: time.Unix(100, 0), Value: 1}}
	drawing := string(plot.Line("", axis, late, 50*time.Second, plot.CountStep, func(v float64) string { return fmt.Sprint(v) }))
	if got := values(drawing, `points="([^"]*)"`); !slices.Equal(got, []string{"448.0,25.0 888.0,25.0"}) {
		t.Errorf("half of the axis: %v", got)
	}
	if got := values(drawing, `(x1="668.00" x2="668.00")`); len(got) != 1 || !strings.Contains(drawing, "this &lt;id&gt;") {
		t.Errorf("the mark: %v in %s", got, drawing)
	}
}

// TestManyPoints draws more points than there is room for: neighbours are averaged.
func TestManyPoints(t *testing.T) {
	points := slices.Repeat([]float64{1, 3, -1, -1, -1, 4}, 200)
	drawing := string(plot.Line("", over(every(points...)), every(points...), time.Second, plot.DecimalStep, func(v float64) string { return fmt.Sprint(v) }))
	if got := numbers(drawing); !slices.Equal(got, []string{"0", "1", "2", "3", "4"}) {
		t.Errorf("numbers %v", got)
	}
	// Of each six points, the first two have the mean 2, the next two none and the
	// last two 4: lines are from 4 to 2, and at both ends is a dot.
	lines := values(drawing, `points="([^"]*)"`)
	if len(lines) != 199 || len(values(drawing, `(<circle)`)) != 2 || lines[0] != "10.9,10.0 12.4,85.0" {
		t.Errorf("%d lines, the first is %s", len(lines), lines[0])
	}
	for n, want := range map[int]int{600: 600, 601: 301} {
		drawing := string(plot.Line("", over(every(slices.Repeat([]float64{1}, n)...)), every(slices.Repeat([]float64{1}, n)...), time.Second, plot.CountStep, func(v float64) string { return fmt.Sprint(v) }))
		if got := values(drawing, `points="([^"]*)"`); len(got) != 1 || strings.Count(got[0], ",") != want {
			t.Errorf("%d points: %d lines, %d points are left", n, len(got), strings.Count(got[0], ","))
		}
	}
}
