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

What package ` + "`lock/lockmetrics`" + ` adds to the metrics of a program in Go, see
[Watch locks with Prometheus](../how-to/watch-locks.md). The label ` + "`lock`" + ` is the name of the lock. After
100 names, all further locks have the label ` + "`{other}`" + ` together.

`)
	locks, jobs := metricsOfLocks(t), metricsOfJobs(t)
	writeMetrics(&b, locks)
	b.WriteString(`
| event | counts |
|---|---|
| ` + "`waiting`" + ` | calls that had to wait because somebody else held the lock |
| ` + "`unanswered`" + ` | times that the backend stopped answering a waiting call |
| ` + "`refused`" + ` | calls that ended without a lease because somebody else held the lock |
| ` + "`failed`" + ` | calls that ended without a lease for another reason, such as a backend that did not answer |
| ` + "`acquired`" + ` | leases that began |
| ` + "`renewed-late`" + ` | leases that were renewed after a renewal had failed |
| ` + "`lost`" + ` | leases that ended before they were released |
| ` + "`released`" + ` | leases that were released |
| ` + "`release-failed`" + ` | leases whose release failed: the lock may stay held until its TTL has passed |

[Slots](https://pkg.go.dev/github.com/oidkit/oid/lock#Slots) of a lock are counted under the name of the
lock, and their queue under ` + "`NAME#queue`" + `. Each caller waits in the queue, so its waits are those of
` + "`NAME#queue`" + `. A call asks several slots, and each slot that is held counts as refused.

## Locks and jobs of a host

What ` + "`oid lock --status --format prometheus NAME...`" + ` writes. The label ` + "`lock`" + ` is the name of the
lock. Names under which no command has run with ` + "`--once`" + ` have only the first two metrics. Times
are by the clock of the backend.

`)
	writeMetrics(&b, jobs)
	b.WriteString(`
## What to watch

- ` + "`oid_http_requests_total`" + ` with ` + "`code=\"503\"`" + `: the server is full or stops, or its store or
  locks are missing or silent.
- ` + "`oid_generator_ahead_seconds`" + ` above 1: the clock was set back.
- ` + "`oid_memory_taken_bytes`" + ` near three quarters of ` + "`--max-memory`" + `: uploads and long lists wait.
- ` + "`oid_lock_events_total`" + ` with ` + "`event=\"lost\"`" + `: work went on without its lock until it noticed.
- ` + "`oid_job_due_timestamp_seconds`" + ` above 0 for minutes: no host has begun the job.
- ` + "`oid_job_last_missed_timestamp_seconds`" + ` changes: a tick was missed.
- ` + "`oid_job_last_start_timestamp_seconds`" + ` above ` + "`oid_job_last_success_timestamp_seconds`" + ` while
  ` + "`oid_lock_holders`" + ` is 0: the last run has failed, or its host died.
`)
	text = bytes.Join([][]byte{text, locks, jobs}, nil)
	for _, m := range regexp.MustCompile("`(oid_\\w+)`").FindAllStringSubmatch(b.String(), -1) {
		if !bytes.Contains(text, []byte("# HELP "+m[1]+" ")) {
			t.Errorf("there is no metric %s", m[1])
		}
	}
	generated(t, "docs/reference/metrics.md", b.String())
}
