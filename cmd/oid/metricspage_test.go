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

// lockMetrics returns what lockmetrics adds to the metrics of a program.
func lockMetrics(t *testing.T) []byte {
	t.Helper()
	r := prometheus.NewRegistry()
	lockmetrics.New(r, nil)(lock.Event{Kind: lock.EventAcquired, Name: "report"})
	out := httptest.NewRecorder()
	promhttp.HandlerFor(r, promhttp.HandlerOpts{}).ServeHTTP(out, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return out.Body.Bytes()
}

// The reference of the metrics is what a running server shows, after a request of each
// kind.
func TestMetricsPage(t *testing.T) {
	_, url, _ := startServe(t.Context(), t)
	if res, err := http.Post(url+"/v1/processes", "application/json", strings.NewReader(`{"name":"shop","pid":7}`)); err != nil || res.StatusCode != http.StatusCreated {
		t.Fatalf("%v, %v", res, err)
	}
	fetch(t, url+"/metrics")
	text := fetch(t, url+"/metrics")
	var b strings.Builder
	b.WriteString(`# Metrics

What ` + "`/metrics`" + ` of ` + "`oid serve`" + ` shows to Prometheus, besides the metrics of the Go runtime
(` + "`go_...`" + `) and of the process (` + "`process_...`" + `).

`)
	writeMetrics(&b, text)
	b.WriteString(`
## Locks of a program

What package ` + "`lock/lockmetrics`" + ` adds to the metrics of a program in Go, from the first event of each lock on.
The label ` + "`lock`" + ` is the name of the lock. After 100 names, further locks have the label ` + "`{other}`" + ` together.

`)
	locks := lockMetrics(t)
	writeMetrics(&b, locks)
	b.WriteString(`
## What to watch

- ` + "`oid_http_requests_total`" + ` with ` + "`code=\"503\"`" + `: the server is full or stops, or its store or
  locks are missing or silent.
- ` + "`oid_generator_ahead_seconds`" + ` above 1: the clock was set back.
- ` + "`oid_memory_taken_bytes`" + ` near three quarters of ` + "`--max-memory`" + `: uploads and long lists wait.
`)
	for _, m := range regexp.MustCompile("`(oid_\\w+)`").FindAllStringSubmatch(b.String(), -1) {
		if !bytes.Contains(append(text, locks...), []byte("# HELP "+m[1]+" ")) {
			t.Errorf("there is no metric %s", m[1])
		}
	}
	generated(t, "docs/reference/metrics.md", b.String())
}
