package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/report"
	"github.com/oidkit/oid/objectid"
)

// day returns midnight of a day of 2024.
func day(n int) time.Time { return time.Date(2024, 1, n, 0, 0, 0, 0, time.UTC) }

// small returns a report with one of everything.
func small() *census.Report {
	first, last := day(1).Add(time.Hour), day(20).Add(2*time.Hour)
	r := &census.Report{
		Field: "_id", Partial: "stopped by the \x1b[31muser", ReferenceTime: day(30),
		Sources: []*census.Source{
			{Name: "a.bson", Format: "bson", Unit: "document", Units: 1200, IDs: 1100, Broken: 1, Problems: []census.Problem{{Position: census.Position{Unit: "document", Number: 7}, Error: "bad length"}}},
			{Name: "b.archive", Format: "archive", Collections: 2},
			{Name: "c.json", Error: "no such file"},
			{Name: "one", Format: "list", Unit: "line", Units: 1, IDs: 1},
		},
		IDs: 1101, Distinct: 1090, Outside: 3, Without: 2,
		Others: []census.Other{{Type: "string", Count: 4, Examples: []census.Value{{Text: "\"x\u202e\"", Position: census.Position{Source: "a.bson", Unit: "document", Number: 3}}}}},
		First:  &first, Last: &last,
		Timeline:  census.Timeline{By: census.IntervalDay, Zone: "UTC", Beyond: 1, End: day(21)},
		Processes: 1234, Gaps: 5678,
		ShortestOutage: [2]time.Duration{time.Hour, 3 * time.Hour},
		Events: []census.Event{
			{Kind: census.KindClockStep, Start: day(-30), End: day(-30), Size: 3600, Process: "0102030405", Confidence: census.ConfidenceCertain}, // before the timeline
			{Kind: census.KindOutage, Start: day(3), End: day(3).Add(6 * time.Hour), Size: 70, Confidence: census.ConfidenceCertain},
			{Kind: census.KindImport, Start: day(9), End: day(9).Add(time.Minute), Size: 100, Confidence: census.ConfidenceLikely},
			{Kind: census.KindResumed, Start: day(21), End: day(21), Process: "0102030405", Confidence: census.ConfidenceCertain}, // after it
		},
		TopProcesses: []census.Process{
			{Value: "0102030405", IDs: 1000, First: first, Last: last, Gaps: 12},
			{Value: "a1a1a1a1a1", Name: "orders", IDs: 90, First: first, Last: last, Findings: []census.Kind{census.KindSharedValue}, Jumps: 2},
			{Value: "b2b2b2b2b2", IDs: 11, First: first, Last: last, Findings: []census.Kind{census.KindClockStep, census.KindResumed}, Doubt: census.DoubtFewIDs, Jumps: 1},
		},
		Doubts: []census.Doubt{{Kind: census.DoubtFewIDs, Processes: 1, Reason: "whether 1 process has a shared process value or clock steps: too few of their ids are here", Examples: []census.Example{
			{ID: objectid.MustParse("65920080b2b2b2b2b2000001"), Time: day(2), Position: census.Position{Source: "a.bson", Unit: "document", Number: 9}},
		}}},
		Findings: []census.Finding{{
			Kind: census.KindDuplicate, Count: 1, Title: "1 id occurs twice", Reason: "Why.", Evidence: "Evidence.",
			Examples: []census.Example{{ID: objectid.MustParse("65920080a1a1a1a1a1000001"), Time: day(1), Position: census.Position{Source: "a.bson", Unit: "document", Number: 8}, Note: "again"}},
		}},
	}
	for n := range 20 {
		ids := int64(0)
		if n < 4 || n > 8 {
			ids = int64(n*5 + 1)
		}
		r.Timeline.Buckets = append(r.Timeline.Buckets, census.Bucket{Start: day(n + 1), IDs: ids})
	}
	return r
}

const smallText = `PARTIAL: stopped by the �[31muser; not every source was read to its end
a.bson: bson, 1,200 documents, 1,100 ids
  ! 1 document could not be read: document 7: bad length
c.json:
  ! no such file
one: list, 1 line, 1 id

created     2024-01-01 01:00:00 to 2024-01-20 02:00:00 UTC (19d1h)
ids         1,101 ObjectIds, 1,090 different, 3 more outside the range
others      4 string, for example "x�" (a.bson: document 3)
without     2 without _id
processes   1,234

findings: 1; 1 outage; 1 process cannot be told, see below
! 1 id occurs twice
  Evidence. Why.
    65920080a1a1a1a1a1000001 2024-01-01 00:00:00 a.bson: document 8, again

cannot be told
- whether 1 process has a shared process value or clock steps: too few of their
  ids are here
    65920080b2b2b2b2b2000001 2024-01-02 00:00:00 a.bson: document 9
- an outage shorter than about 1h in the busiest hours of the week and 3h in the
  quietest, or an outage with less than two periods of the collection's rhythm
  before or after it

ids by day, UTC
2024-01-01  1 ▍
2024-01-02  6 ██▋
2024-01-03 11 ████▉                                       < outage 6h
2024-01-04 16 ███████▏
 (4 empty)
2024-01-09  0                                             < import 100
2024-01-10 46 ████████████████████▌
2024-01-11 51 ██████████████████████▊
2024-01-12 56 █████████████████████████
2024-01-13 61 ███████████████████████████▎
2024-01-14 66 █████████████████████████████▌
2024-01-15 71 ███████████████████████████████▊
2024-01-16 76 ██████████████████████████████████
2024-01-17 81 ████████████████████████████████████▎
2024-01-18 86 ██████████████████████████████████████▌
2024-01-19 91 ████████████████████████████████████████▊
2024-01-20 96 ███████████████████████████████████████████
and 1 id outside this timeline

events
2023-12-01 00:00  clock step: the clock of process 0102030405 was set back by at
    least 1h
2024-01-03 00:00  outage: no id for 6h, until 2024-01-03 06:00, where there
    usually are about 70
2024-01-09 00:00  import: about 100 ids more than usual within 1m (likely)
2024-01-21 00:00  resumed state: process 0102030405 used the same counters again
    until 2024-01-21 00:00

processes: 3 of 1,234, those with the most ids or with a finding
process      ids first      last       gaps
0102030405 1,000 2024-01-01 2024-01-20   12
a1a1a1a1a1    90 2024-01-01 2024-01-20    ?
           ! several processes at once, orders, 2 restarts or jumps
b2b2b2b2b2    11 2024-01-01 2024-01-20    0
           ! clock step, resumed state, 1 restart or jump, cannot be told: few
           ids
`

// lines returns where two texts differ first.
func lines(t *testing.T, got, want string) {
	t.Helper()
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Errorf("line %d: %q, want %q", i+1, a[i], b[i])
			return
		}
	}
	if len(a) != len(b) {
		t.Errorf("%d lines, want %d", len(a), len(b))
	}
}

func text(t *testing.T, r *census.Report, columns int) string {
	t.Helper()
	var b strings.Builder
	if err := report.WriteText(&b, r, columns); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestText(t *testing.T) {
	lines(t, text(t, small(), 0), smallText)
}

const wideProcesses = `
processes: 3 of 1,234, those with the most ids or with a finding
process      ids first               last                gaps
0102030405 1,000 2024-01-01 01:00:00 2024-01-20 02:00:00   12
a1a1a1a1a1    90 2024-01-01 01:00:00 2024-01-20 02:00:00    ?  ! several processes at once, orders, 2 restarts or jumps
b2b2b2b2b2    11 2024-01-01 01:00:00 2024-01-20 02:00:00    0  ! clock step, resumed state, 1 restart or jump, cannot be told: few ids
`

func TestWideText(t *testing.T) {
	got := text(t, small(), 150)
	if _, from, _ := strings.Cut(got, "processes   1,234\n"); !strings.Contains(from, wideProcesses) || !strings.Contains(from, "2024-01-04 16 ███████████████\n") {
		t.Errorf("%s", from)
	}
}

// Chinese names take two columns for each character.
func TestChineseText(t *testing.T) {
	orders, users := small(), &census.Report{Collection: "商店.用户", Field: "_id", IDs: 5, Distinct: 5}
	orders.Collection, orders.Partial, orders.Sources = "商店.历史订单", "", nil
	got := text(t, &census.Report{Field: "_id", IDs: 1106, Distinct: 1106, Collections: []*census.Report{orders, users}}, 0)
	if want := "\ncollections\n商店.历史订单    1,101 ids  2024-01-01 to 2024-01-20\n    findings: 1; 1 outage; 1 process cannot be told, see below\n商店.用户            5 ids\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	broken := &census.Report{Field: "_id", Sources: []*census.Source{{Name: "日志.txt", Error: strings.Repeat("读不出来 ", 20)}}}
	for line := range strings.Lines(text(t, broken, 40)) {
		if n := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); n > 40 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestTextOfCollections holds that the findings of all collections come first, then the
// collections with their counts, however long their names are, and that those without ids
// are one line.
func TestTextOfCollections(t *testing.T) {
	orders, users := small(), &census.Report{Collection: "shop.users", Field: "_id", IDs: 5, Distinct: 5}
	long := "shop." + strings.Repeat("orders_of_customers_", 4)
	orders.Collection, orders.Partial, orders.Sources = long, "", nil
	empty := &census.Report{Collection: "shop.empty", Field: "_id"}
	numbers := &census.Report{Collection: "shop.numbers", Outside: 3, Others: []census.Other{{Type: "int", Count: 1234, Examples: []census.Value{{Text: "7"}}}}}
	r := &census.Report{Field: "_id", IDs: 1106, Distinct: 1106, Collections: []*census.Report{orders, empty, users, numbers}}
	inOrder(t, text(t, r, 0),
		"\nids         1,106 ObjectIds\n", "\nfindings: 1; 1 outage; 1 process cannot be told, see below\n! "+long+":\n  1 id occurs twice\n",
		"\ncollections\nshop.orders_of_customers_orders_of_custome~ 1,101 ids  2024-01-01 to 2024-01-20\n    findings: 1; 1 outage; 1 process cannot be told, see below\nshop.users                                      5 ids\n"+
			"2 collections without ids: shop.numbers (1,234 int, 3 outside the range),\n  shop.empty\n",
		"\n== "+long, "\nfindings: 1; 1 outage; 1 process", "\n== shop.users ==\n", "\nfindings: none\n")
	for range 11 {
		r.Collections = append(r.Collections, empty)
	}
	inOrder(t, text(t, r, 0), "13 collections without ids: shop.numbers", "and 1 more\n")
	r.Collections = r.Collections[:4]
	for range 20 {
		orders.Findings = append(orders.Findings, orders.Findings[0])
	}
	inOrder(t, text(t, r, 0), "\nfindings: 21; ", "\nand 1 more\n\ncollections\n")
	page := page(t, r)
	inOrder(t, page, "Findings: 21; ", `<a href="#c0">`+long+"</a>: 1 id occurs twice", "and 1 more", "Collections", `<a href="#c1">shop.users</a>`,
		"2 collections without ids: shop.numbers (1,234 int, 3 outside the range), shop.empty", `id="c0"`, `id="c1"`)
}

// TestTextOfSources holds that many sources are a line, with how many could not be read,
// and that everything about each is at the end.
func TestTextOfSources(t *testing.T) {
	r := &census.Report{Field: "_id"}
	for i := range 5 {
		r.Sources = append(r.Sources, &census.Source{Name: string(rune('a' + i)), Format: "bson", Unit: "document", Units: 1, IDs: 1})
	}
	inOrder(t, text(t, r, 0), "a: bson, 1 document, 1 id\n", "e: bson, 1 document, 1 id\n\nids ")
	r.Sources[4].Broken = 2
	for n := range 2 {
		r.Sources[4].Problems = append(r.Sources[4].Problems, census.Problem{Position: census.Position{Unit: "document", Number: int64(n)}, Error: "bad"})
	}
	inOrder(t, text(t, r, 0), "e: bson, 1 document, 1 id\n  ! 2 documents could not be read: document 0: bad\n  ! another one: document 1: bad\n\nids ")
	r.Sources = append(r.Sources, &census.Source{Name: "f", Format: "auto", Error: "no such file"})
	inOrder(t, text(t, r, 0), "6 sources: 1 auto, 5 bson; 2 could not be read, or only in part, see below\n\nids", "\nsources\na: bson", "another one: document 1: bad\nf:\n  ! no such file\n")
	inOrder(t, page(t, r), "6 sources: 1 auto, 5 bson; 2 could not be read", "another one: document 1: bad")
}

// inOrder holds that got has all parts, one after the other.
func inOrder(t *testing.T, got string, parts ...string) {
	t.Helper()
	at := 0
	for _, part := range parts {
		k := strings.Index(got[at:], part)
		if k < 0 {
			t.Fatalf("no %q in %s", part, got[at:])
		}
		at += k
	}
}

// TestRepeatedInText: a text may name an id several times, so that equal ids in it are no finding;
// the report does not pass over them.
func TestRepeatedInText(t *testing.T) {
	const want = "\ncannot be told\n- whether 6,000 ids that occur more than once were created more than once: a\n"
	text := func(f census.Format, repeated int64) string {
		r := &census.Report{IDs: 14_000, Distinct: 8000, Repeated: repeated, Sources: []*census.Source{{Name: "a", Format: f, IDs: 14_000}}}
		var out strings.Builder
		if err := report.WriteText(&out, r, 80); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got := text(census.FormatGrep, 6000); !strings.Contains(got, want) || !strings.Contains(got, "oid census --grep --compare FILE FILE") {
		t.Error(got)
	}
	if got := text(census.FormatJSON, 6000) + text(census.FormatGrep, 0); strings.Contains(got, "more than once") {
		t.Error(got)
	}
}
