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
func deployed(version string, at time.Time) census.Event {
	return census.Event{Kind: census.KindDeploy, Start: at, End: at, Confidence: census.ConfidenceLikely, Service: "eu/orders", Version: version}
}

// Deploys are ticks below the timeline with a title, and are listed. They are no marks above it.
func TestDeploys(t *testing.T) {
	r := small()
	before := strings.Count(page(t, r), `<circle`)
	r.Deploys = []census.Event{deployed("1.4.2", day(5)), deployed("1.4.1\u202e", day(15).Add(time.Hour))}
	got := page(t, r)
	has(t, "page", got,
		`<title>2024-01-05 00:00:00 deploy: eu/orders 1.4.2 (likely)</title></line>`,
		`<li class="deploy"><time>2024-01-15 01:00</time> <span>deploy: eu/orders 1.4.1`+"\ufffd"+` (likely)</span>`)
	if n := strings.Count(got, `<line class="deploy"`); n != 4 || strings.Count(got, `<circle`) != before { // wide and narrow
		t.Errorf("%d ticks, %d marks, want 4 and %d", n, strings.Count(got, `<circle`), before)
	}
	text := func() string {
		var b strings.Builder
		if err := report.WriteText(&b, r, 0); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	has(t, "text", text(), "\ndeploys\n2024-01-05 00:00  deploy: eu/orders 1.4.2 (likely)\n2024-01-15 01:00  deploy: eu/orders 1.4.1\ufffd (likely)\n")
	for i := range 98 {
		r.Deploys = append(r.Deploys, deployed(fmt.Sprint(i), day(16).Add(time.Duration(i)*time.Minute)))
	}
	has(t, "text", text(), "\nand 70 more\n")
	has(t, "page", page(t, r), "And 76 more.")
}
