package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/report"
)

// deployed returns the deploy of a version at a time.
func deployed(version, kind string, at time.Time) census.Event {
	return census.Event{Kind: census.KindDeploy, Start: at, End: at, Confidence: census.ConfidenceLikely, Deploy: &census.Deploy{
		Name: "orders", Namespace: "eu", Version: version, Kind: kind, Time: at,
	}}
}

// Deploys are ticks below the timeline with a title, and are listed. They are no marks above it.
func TestDeploys(t *testing.T) {
	r := small()
	before := strings.Count(page(t, r), `<circle`)
	r.Events = append(r.Events, deployed("1.4.2", "new-version", day(5)), deployed("1.4.1\u202e", "earlier-version", day(15).Add(time.Hour)))
	got := page(t, r)
	has(t, "page", got,
		`<title>2024-01-05 00:00:00 deploy: orders 1.4.2 eu (likely)</title></line>`,
		`<li class="deploy"><time>2024-01-15 01:00</time> <span>deploy: orders 1.4.1`+"\ufffd"+` eu, again (likely)</span>`)
	if n := strings.Count(got, `<line class="deploy"`); n != 4 || strings.Count(got, `<circle`) != before { // wide and narrow
		t.Errorf("%d ticks, %d marks, want 4 and %d", n, strings.Count(got, `<circle`), before)
	}
	var text strings.Builder
	if err := report.WriteText(&text, r, 0); err != nil {
		t.Fatal(err)
	}
	has(t, "text", text.String(), "\n2024-01-05 00:00  deploy: orders 1.4.2 eu (likely)\n", "\n2024-01-15 01:00  deploy: orders 1.4.1\ufffd eu, again (likely)\n")
	if strings.Contains(text.String(), "< deploy") || strings.Contains(text.String(), "a deploy before") {
		t.Errorf("%s", &text)
	}

	// Deploys leave room for other events, and one tick is enough for a pixel.
	for i := range 1000 {
		r.Events = append(r.Events, deployed(fmt.Sprint(i), "new-version", day(10).Add(time.Duration(i)*time.Minute)))
	}
	r.Events = append(r.Events, census.Event{Kind: census.KindOutage, Start: day(19), End: day(20), Size: 7, Confidence: census.ConfidenceCertain})
	r.Events[4].Deploy.Since = day(4)
	text.Reset()
	if err := report.WriteText(&text, r, 0); err != nil {
		t.Fatal(err)
	}
	got = page(t, r)
	has(t, "text", text.String(), "deploy: orders 999 eu", "until 2024-01-20", "\nand 977 more\n", "- a deploy before 2024-01-04 00:00:00: the registry has no records of all")
	has(t, "page", got, "deploy: orders 999 eu", "until 2024-01-20", "And 983 more.", "a deploy before 2024-01-04 00:00:00")
	if n := strings.Count(got, `<line class="deploy"`); n < 20 || n > 100 {
		t.Errorf("%d ticks for 1000 deploys within 17 of 480 hours", n)
	}
}
