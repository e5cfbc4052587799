package main

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/lockmetrics"
)

var (
	metricHelp   = regexp.MustCompile(`(?m)^# HELP (oid_\w+) (.*)\n# TYPE \w+ (\w+)$`)
	metricSample = regexp.MustCompile(`(?m)^(oid_\w+?)(?:_bucket|_sum|_count)?\{(.*)\} `)
	metricLabel  = regexp.MustCompile(`(\w+)="`)
)

// writeMetrics writes a table of the metrics in text.
func writeMetrics(b *strings.Builder, text []byte) {
	labels := map[string]map[string]bool{}
	for _, m := range metricSample.FindAllSubmatch(text, -1) {
		name := string(m[1])
		if labels[name] == nil {
			labels[name] = map[string]bool{}
		}
		for _, label := range metricLabel.FindAllSubmatch(m[2], -1) {
			if string(label[1]) != "le" {
				labels[name][string(label[1])] = true
			}
		}
	}
	b.WriteString("| metric | type | labels | |\n|---|---|---|---|\n")
	for _, m := range metricHelp.FindAllSubmatch(text, -1) {
		name := string(m[1])
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", name, m[3], strings.Join(slices.Sorted(maps.Keys(labels[name])), ", "), m[2])
	}
}

// metricsOfLocks returns what lockmetrics adds to the metrics of a program.
func metricsOfLocks(t *testing.T) []byte {
	t.Helper()
	r := prometheus.NewRegistry()
	lockmetrics.New(r, nil)(lock.Event{Kind: lock.EventAcquired, Name: "report"})
	out := httptest.NewRecorder()
	promhttp.HandlerFor(r, promhttp.HandlerOpts{}).ServeHTTP(out, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return out.Body.Bytes()
}

// metricsOfJobs returns what "oid lock --status --format prometheus" writes about a job.
func metricsOfJobs(t *testing.T) []byte {
	t.Helper()
	var text bytes.Buffer
	run := lock.Run{Outcome: lock.OutcomeDone, Start: at(1), End: at(2), ExitCode: new(0)}
	if err := writeLockMetrics(&text, []lockDetails{{Status: lock.Status{Name: "report"}, runs: []lock.Run{run}}}); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}
