package report

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/phrase"
)

// minEmpty is the number of consecutive empty buckets from which one line replaces them.
const minEmpty = 4

func (t *textWriter) timeline(r *census.Report) {
	lines := group(r.Timeline, maxLines)
	var most int64
	for _, l := range lines {
		most = max(most, l.IDs)
	}
	if most == 0 {
		return
	}
	by := string(r.Timeline.By)
	if each := (len(r.Timeline.Buckets) + len(lines) - 1) / len(lines); each > 1 {
		by = fmt.Sprintf("%d %ss", each, by)
	}
	t.printf("\nids by %v, %s\n", by, r.Timeline.Zone)
	format := steps[r.Timeline.By].format
	numbers := len(humanize.Comma(most))
	room := t.columns - len(format) - numbers - 3
	marks := marksOf(shown(r), lines)
	if len(marks) > 0 {
		room = room * 2 / 3
	}
	for i := 0; i < len(lines); i++ {
		empty := 0
		for i+empty < len(lines) && lines[i+empty].IDs == 0 && marks[i+empty] == "" {
			empty++
		}
		if empty >= minEmpty {
			t.printf("%*s\n", len(format), fmt.Sprintf("(%d empty)", empty))
			i += empty - 1
			continue
		}
		b := lines[i]
		bar := t.bar(b.IDs, most, room)
		line := fmt.Sprintf("%s %*s %s", b.Start.Format(format), numbers, humanize.Comma(b.IDs), bar)
		if marks[i] != "" {
			line += strings.Repeat(" ", room-utf8.RuneCountInString(bar)) + " < " + marks[i]
			line = cut(line, t.columns)
		}
		t.printf("%s\n", strings.TrimRight(line, " "))
	}
	if r.Timeline.Beyond > 0 {
		t.printf("and %s\n", phrase.Count(r.Timeline.Beyond, "id outside this timeline", "ids outside this timeline"))
	}
}

// maxLines is the most lines of a timeline, unless the user chose the interval.
const maxLines = 48

// group returns the buckets of a timeline. If they are more than limit, it adds up groups of
// consecutive buckets.
func group(t census.Timeline, limit int) []census.Bucket {
	each := 1
	for _, each = range steps[t.By].round {
		if (len(t.Buckets)+each-1)/each <= limit {
			break
		}
	}
	if !t.Chosen || each == 1 {
		return t.Buckets
	}
	var out []census.Bucket
	for i := 0; i < len(t.Buckets); i += each {
		sum := census.Bucket{Start: t.Buckets[i].Start}
		for _, b := range t.Buckets[i:min(i+each, len(t.Buckets))] {
			sum.IDs += b.IDs
		}
		out = append(out, sum)
	}
	return out
}

// steps has, for each interval, the format of a bucket's start and the sizes of groups of
// buckets that make round steps, such as 10 minutes.
var steps = map[census.Interval]struct {
	format string
	round  []int
}{
	census.IntervalMinute: {"2006-01-02 15:04", []int{1, 2, 5, 10, 15, 30}}, census.IntervalHour: {"2006-01-02 15:04", []int{1, 2, 3, 6, 12, 24}},
	census.IntervalDay: {"2006-01-02", []int{1, 2, 7, 14}}, census.IntervalWeek: {"2006-01-02", []int{1, 2, 4, 13, 26}},
	census.IntervalMonth: {"2006-01", []int{1, 3, 6, 12, 24}}, census.IntervalYear: {"2006", []int{1, 2, 5, 10}},
}

// shown returns the events of r that overlap its timeline.
func shown(r *census.Report) (out []census.Event) {
	buckets := r.Timeline.Buckets
	for _, e := range r.Events {
		if len(buckets) > 0 && e.Start.Before(r.Timeline.End) && !e.End.Before(buckets[0].Start) {
			out = append(out, e)
		}
	}
	return out
}

// marksOf returns the labels of the events that begin in each line, by its index.
func marksOf(events []census.Event, lines []census.Bucket) map[int]string {
	out := map[int]string{}
	for _, e := range events {
		i := 0
		for i+1 < len(lines) && !lines[i+1].Start.After(e.Start) {
			i++
		}
		if out[i] != "" {
			out[i] += ", "
		}
		label, _ := eventTexts(e, time.UTC)
		out[i] += label
	}
	return out
}

// bar draws n as a bar whose length is room columns if n is equal to most.
func (t *textWriter) bar(n, most int64, room int) string {
	if n == 0 {
		return ""
	}
	eighths := max(int(float64(n)/float64(most)*float64(room)*8), 1)
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return bar
}
