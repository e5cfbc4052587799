package main

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/agent"
)

// metricsOfAgent returns the metrics of a running agent.
func metricsOfAgent(t *testing.T) []byte {
	folder := t.TempDir()
	_, said := startOid(t, "listens on", "agent", "--listen", folder+"/s", "--metrics", "127.0.0.1:0", "--store", "sqlite:"+folder+"/db")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		text := fetch(t, regexp.MustCompile(`http://\S+`).FindString(said)+"/metrics")
		if bytes.Contains(text, []byte("oid_agent_failing{")) { // they are added last
			return text
		}
		if time.Now().After(deadline) {
			t.Fatalf("no metrics of the agent: %s", text)
		}
	}
}

// refusals says what each reason of the agent means.
var refusals = [][2]string{
	{"line", "the line was invalid"},
	{"id", "the process cannot have created the id"},
	{"writer", "another process wrote to the connection, for example a child that a fork has made"},
	{"silent", "a connection sent no line in ten seconds"},
	{"namespace", "the agent does not see the PID namespace of the process: run the agent in that of the host"},
	{"unreadable", "the kernel did not show the agent what it needs to know about the process"},
	{"ended", "the process ended before the agent could tell which one it was"},
	{"limit", "the program, its user or the agent reached a limit; the log says which"},
	{"store", "the store or the server will never accept the process or its id; the log says why"},
	{"attributes", "not all that the process says of itself by OpenTelemetry can be recorded; the process is recorded without the rest, and the log says why"},
}

// The reference of the metrics is what a running server and a running agent show, after a
// request of each kind.
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
## Agent

What ` + "`oid agent --metrics ADDRESS`" + ` shows at ` + "`/metrics`" + `, besides the metrics of the Go runtime and of the
process.

`)
	ofAgent := metricsOfAgent(t)
	writeMetrics(&b, ofAgent)
	b.WriteString(`
The label ` + "`reason`" + `, which the log has, too:

| reason | refused because |
|---|---|
`)
	for i, r := range refusals {
		fmt.Fprintf(&b, "| `%s` | %s |\n", r[0], r[1])
		if len(refusals) != len(agent.Reasons) || agent.Reasons[i] != agent.Reason(r[0]) || !bytes.Contains(ofAgent, []byte(`refused_total{reason="`+r[0]+`"} 0`)) {
			t.Errorf("reason %d, %s, is not that of the agent", i, r[0])
		}
	}
	b.WriteString(`
The log has each reason once an hour for each process, with its pid and user. If more than 1,000 refusals of a
user come in an hour, it then has a line with their number at 1,024, 2,048 and so on.

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
- ` + "`oid_agent_refused_total`" + ` increases: ids of programs will stay unknown. The log of the agent names the
  programs.
- ` + "`oid_agent_failing`" + ` stays 1: with ` + "`part=\"socket\"`" + `, programs cannot connect; with
  ` + "`part=\"store\"`" + `, nothing is recorded; with ` + "`part=\"state\"`" + `, an agent that is killed forgets processes.
- ` + "`oid_generator_ahead_seconds`" + ` above 1: the clock was set back.
- ` + "`oid_memory_taken_bytes`" + ` near three quarters of ` + "`--max-memory`" + `: uploads and long lists wait.
- ` + "`oid_lock_events_total`" + ` with ` + "`event=\"lost\"`" + `: work went on without its lock until it noticed.
- ` + "`oid_job_due_timestamp_seconds`" + ` above 0 for minutes: no host has begun the job.
- ` + "`oid_job_last_missed_timestamp_seconds`" + ` changes: a tick was missed.
- ` + "`oid_job_last_start_timestamp_seconds`" + ` above ` + "`oid_job_last_success_timestamp_seconds`" + ` while
  ` + "`oid_lock_holders`" + ` is 0: the last run has failed, or its host died.
`)
	text = bytes.Join([][]byte{text, ofAgent, locks, jobs}, nil)
	for _, m := range regexp.MustCompile("`(oid_\\w+)`").FindAllStringSubmatch(b.String(), -1) {
		if !bytes.Contains(text, []byte("# HELP "+m[1]+" ")) {
			t.Errorf("there is no metric %s", m[1])
		}
	}
	generated(t, "docs/reference/metrics.md", b.String())
}
