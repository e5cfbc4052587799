package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/report"
)

func page(t *testing.T, r *census.Report) string {
	t.Helper()
	var b strings.Builder
	if err := report.WriteHTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func has(t *testing.T, what, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("%s: no %q", what, part)
		}
	}
}

// TestPage holds what a browser and a screen reader need, and that all numbers of a
// report are on its page.
func TestPage(t *testing.T) {
	r := small()
	r.Events = append(r.Events,
		census.Event{Kind: census.KindResumed, Start: day(12), End: day(13), Process: "b2b2b2b2b2", Confidence: census.ConfidenceCertain})
	for i := range r.TopProcesses {
		r.TopProcesses[i].Timeline = make([]int64, len(r.Timeline.Buckets))
		r.TopProcesses[i].Timeline[3] = 7
	}
	got := page(t, r)
	has(t, "page", got,
		`<!doctype html><html lang="en">`, `<meta charset="utf-8">`, `<meta name="viewport" content="width=device-width, initial-scale=1">`,
		"<title>Census of 1,101 ids</title>", `tabindex="0" role="region" aria-label="Timeline"`,
		"1,101 ObjectIds, 1,090 different, 3 more outside the range", "2 without _id", "1 id is outside this timeline.",
		"gaps unknown", "cannot be told: few ids", "too few of their ids are here", "65920080b2b2b2b2b2000001", "Evidence. Why.", `class="bar wrong"`, "3 of them, those with the most ids or with a finding. ",
		"document 7: bad length", "no such file", "Reference time 2024-01-30 00:00:00 UTC",
		"<time>2024-01-12 00:00</time> <span>resumed state: process b2b2b2b2b2 used the same counters again until 2024-01-13 00:00</span>",
		"<strong>1 id occurs twice</strong>")
	lanes := strings.SplitAfter(got, `<div class="lane-name">`)[1:]
	for i, marked := range []bool{false, false, true} {
		if got := strings.Contains(lanes[i], `<line class="event"`); got != marked {
			t.Errorf("process %d is marked with an event: %v, want %v", i, got, marked)
		}
	}

	many := small()
	for len(many.Events) < 31 {
		many.Events = append(many.Events, many.Events[0])
	}
	has(t, "page of 31 events", page(t, many), "And 7 more.")
	has(t, "text of 31 events", text(t, many, 0), "\nand 1 more\n")

	few := small()
	few.Collection = "shop.few"
	few.Findings, few.IDs = nil, 2
	few.Timeline.Buckets = few.Timeline.Buckets[:2]
	r.Collection = "shop.many"
	both := &census.Report{Field: "_id", Collections: []*census.Report{few, r}}
	has(t, "page of collections", page(t, both), "<strong>1 id occurs twice</strong>", "shop.few", "shop.many")
	var one, most strings.Builder
	if err := report.WritePlot(&one, r); err != nil {
		t.Fatal(err)
	}
	if err := report.WritePlot(&most, both); err != nil {
		t.Fatal(err)
	}
	if one.String() != most.String() {
		t.Error("the plot of two collections is not that of the one with the most ids")
	}
}

// TestZone holds that all times of a report are in the zone of its timeline.
func TestZone(t *testing.T) {
	r := small()
	r.Timeline.Zone = "two"
	for i := range r.Timeline.Buckets {
		b := &r.Timeline.Buckets[i]
		b.Start = b.Start.In(time.FixedZone("two", -2*60*60))
	}
	r.Collection = "shop.orders"
	wide := text(t, r, 130)
	has(t, "text", wide,
		"created     2023-12-31 23:00:00 to 2024-01-20 00:00:00 two",
		"2024-01-02 22:00  outage: no id for 6h, until 2024-01-03 04:00",
		"1,000 2023-12-31 23:00:00 2024-01-20 00:00:00",
		"65920080a1a1a1a1a1000001 2023-12-31 22:00:00")
	both := &census.Report{Field: "_id", Timeline: r.Timeline, Collections: []*census.Report{r}}
	has(t, "text of collections", text(t, both, 0), "shop.orders      1,101 ids  2023-12-31 to 2024-01-20")
	has(t, "page", page(t, r),
		"2023-12-31 23:00:00 to 2024-01-20 00:00:00 two",
		"<time>2024-01-02 22:00</time>", "until 2024-01-03 04:00", "2023-12-31 to 2024-01-20", "<time>2023-12-31 22:00:00</time>",
		"Reference time 2024-01-29 22:00:00 two")
}

// TestHostileText holds that no text of a source steers a terminal or is read as HTML.
func TestHostileText(t *testing.T) {
	const hostile = "\x1b[31m<script>"
	r := small()
	r.Partial, r.Collection = hostile, hostile
	for _, s := range r.Sources {
		s.Name, s.Error = hostile, hostile
		s.Problems = append(s.Problems, census.Problem{Position: census.Position{Unit: "line"}, Error: hostile})
	}
	r.Sources[0].Collection = hostile
	r.Others[0].Examples[0] = census.Value{Text: hostile, Position: census.Position{Source: hostile, Collection: hostile, Unit: "line"}}
	r.TopProcesses[1].Name = hostile
	f := &r.Findings[0]
	f.Title, f.Reason, f.Examples[0].Position.Source = hostile, hostile, hostile
	both := &census.Report{Field: "_id", Sources: r.Sources, Others: r.Others, Collections: []*census.Report{r}}
	difference := census.Difference{A: census.Side{Sources: r.Sources, Examples: f.Examples, Only: 1, Others: 1}}
	var b strings.Builder
	if err := report.WriteDifference(&b, &difference, 0); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{
		"text": text(t, r, 0), "collections": text(t, both, 0), "difference": b.String(),
	} {
		if strings.Contains(got, "\x1b") || !strings.Contains(got, "\ufffd[31m<script>") {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, r := range []*census.Report{r, both} {
		if got := page(t, r); strings.Contains(got, "<script") || !strings.Contains(got, "&lt;script&gt;") {
			t.Errorf("the page has a script: %s", got)
		}
	}
}

// TestLines holds how many buckets are one line of the text, and how a line begins.
func TestLines(t *testing.T) {
	of := func(by census.Interval, n int, step time.Duration, chosen bool) string {
		r := &census.Report{Field: "_id", Timeline: census.Timeline{By: by, Zone: "UTC", Chosen: chosen}}
		for i := range n {
			r.Timeline.Buckets = append(r.Timeline.Buckets, census.Bucket{Start: day(1).Add(time.Duration(i) * step), IDs: 1})
		}
		r.Timeline.End = day(1).Add(time.Duration(n) * step)
		r.Events = []census.Event{
			{Kind: census.KindImport, Start: day(1).Add(-2 * step), End: day(1).Add(-1)}, // before the timeline
			{Kind: census.KindDeletion, Start: day(1).Add(-2 * step), End: day(1), Share: 0.5},
			{Kind: census.KindClockStep, Start: day(1).Add(3 * step), Size: 3600},
			{Kind: census.KindResumed, Start: day(1).Add(4*step - 1)},
			{Kind: census.KindSharedValue, Start: r.Timeline.End.Add(-1)},
			{Kind: census.KindOutage, Start: r.Timeline.End, End: r.Timeline.End.Add(step)}, // after it
		}
		for i := range r.Events {
			if e := &r.Events[i]; e.End.IsZero() {
				e.End = e.Start
			}
		}
		_, lines, _ := strings.Cut(text(t, r, 100), "\nids by ")
		lines, _, _ = strings.Cut(lines, "\nevents")
		return strings.Join(strings.Fields(lines), " ")
	}
	bar, third := strings.Repeat("█", 53), strings.Repeat("█", 17)+"▋"
	for _, test := range []struct{ got, want string }{
		{of(census.IntervalHour, 97, time.Hour, true), "3 hours, UTC 2024-01-01 00:00 3 " + bar + " < deleted 50 % 2024-01-01 03:00 3 " + bar + " < clock -1h, resumed 2024-01-01 06:00 3 "},
		{of(census.IntervalHour, 97, time.Hour, true), " 2024-01-05 00:00 1 " + third + " < several at once"},
		{of(census.IntervalHour, 96, time.Hour, true), "2 hours, UTC 2024-01-01 00:00 2 "},
		{of(census.IntervalHour, 97, time.Hour, false), "hour, UTC 2024-01-01 00:00 1 "},

		{of(census.IntervalMonth, 2, 31*24*time.Hour, true), "month, UTC 2024-01 1 "},
		{of(census.IntervalYear, 2, 366*24*time.Hour, true), "year, UTC 2024 1 "},
	} {
		has(t, "lines", test.got, test.want)
	}
}

// TestSummary holds what a summary says of few ids, of ids that are strings, and of
// sources that could not be read.
func TestSummary(t *testing.T) {
	r := small()
	r.Distinct = 101
	has(t, "101 ids", text(t, r, 0), "an outage shorter")
	r.Distinct = 100
	if got := text(t, r, 0); strings.Contains(got, "an outage shorter") {
		t.Errorf("outages of 100 ids: %s", got)
	}
	r.Strings = 1000
	has(t, "strings", text(t, r, 0), "1,101 ids, 1,000 stored as strings")
	r.Strings = 1101
	has(t, "strings", text(t, r, 0), "1,101 ids, stored as strings")
	const year = 31_556_952 * time.Second
	for _, test := range []struct {
		length time.Duration
		want   string
	}{{2 * year, "(2.0 years)"}, {2*year - time.Second, "(730d11h)"}} {
		last := r.First.Add(test.length)
		r.Last = &last
		has(t, fmt.Sprint(test.length), text(t, r, 0), test.want)
	}
	unread := &census.Report{Field: "_id", Sources: []*census.Source{{Name: "a", Error: "no such file"}}}
	if got := text(t, unread, 0); strings.Contains(got, "findings") {
		t.Errorf("something is said of what was not read: %s", got)
	}
	// Without ids there is no verdict.
	none := &census.Report{Field: "_id", Unjudged: &census.Unjudged{Unit: "line", Read: 7, Looked: 7, Elsewhere: []census.Elsewhere{{Field: "a.*", IDs: 9, InText: true}}}}
	for _, got := range []string{text(t, none, 200), page(t, none)} {
		has(t, "no ids", got, "ids are in other fields; in the first 7 lines, `a.*` (JSON within text) has 9 ids: write --field ")
		if strings.Contains(strings.ToLower(got), "findings") {
			t.Errorf("findings without ids: %s", got)
		}
	}
	none.Unjudged.Elsewhere = nil
	both := &census.Report{Field: "_id", Collections: []*census.Report{none, none}}
	if got := text(t, both, 0); strings.Contains(got, "findings") {
		t.Errorf("findings of collections without ids: %s", got)
	}
}
