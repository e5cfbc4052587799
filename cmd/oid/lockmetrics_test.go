package main

import (
	"bytes"
	"io"
	"maps"
	"math"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

// parseMetrics parses the text format of Prometheus with its library, and returns the values
// by the name of the metric and the label.
func parseMetrics(t testing.TB, text []byte) map[string]map[string]float64 {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	all := make(map[string]map[string]float64)
	for name, family := range testenv.Must(parser.TextToMetricFamilies(bytes.NewReader(text)))(t) {
		all[name] = make(map[string]float64)
		for _, m := range family.GetMetric() {
			if len(m.GetLabel()) != 1 || m.GetLabel()[0].GetName() != "lock" {
				t.Errorf("%s has the labels %v, want lock", name, m.GetLabel())
			}
			all[name][m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
		}
	}
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	return all
}

// at returns a time: hours after a moment in 2026.
func at(hours float64) time.Time {
	return time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC).Add(time.Duration(hours * float64(time.Hour)))
}

func TestLockMetricsOfJobs(t *testing.T) {
	run := func(outcome lock.Outcome, start, end float64, code int) lock.Run {
		r := lock.Run{Tick: lock.Tick{Time: at(start)}, Outcome: outcome, Attempt: 1, Start: at(start + 0.25), End: at(end), ExitCode: &code}
		if outcome == lock.OutcomeRunning || outcome == lock.OutcomeDied {
			r.End, r.ExitCode = time.Time{}, nil
		}
		return r
	}
	tick := func(outcome lock.Outcome, hours float64) lock.Run {
		return lock.Run{Tick: lock.Tick{Time: at(hours)}, Outcome: outcome}
	}
	done, failed := run(lock.OutcomeDone, 1, 2, 0), run(lock.OutcomeFailed, 3, 4, 7)
	running, died := run(lock.OutcomeRunning, 5, 0, 0), run(lock.OutcomeDied, 5, 0, 0)
	key := lock.Run{Tick: lock.Tick{Key: "k"}, Outcome: lock.OutcomeDone, Start: at(9), End: at(9.5), ExitCode: new(0)}
	noCode := run(lock.OutcomeFailed, 3, 4, 7)
	noCode.ExitCode = nil
	unix := func(hours float64) float64 { return float64(at(hours).Unix()) }
	nan := math.NaN()
	for _, test := range []struct {
		name string
		of   lockDetails
		want []float64 // holders, runs, start, success, code, duration, missed, last missed, due
	}{
		{"never used", lockDetails{}, []float64{0, 0}},
		{"held", lockDetails{Status: lock.Status{Held: true}}, []float64{1, 0}},
		{"slots", lockDetails{slots: make([]lock.Status, 3)}, []float64{3, 0}},
		{"done", lockDetails{runs: []lock.Run{done}}, []float64{0, 1, unix(1.25), unix(2), 0, 2700, 0, 0, 0}},
		{"never successful", lockDetails{runs: []lock.Run{failed}}, []float64{0, 1, unix(3.25), 0, 7, 2700, 0, 0, 0}},
		{"failed after a success", lockDetails{runs: []lock.Run{done, failed}}, []float64{0, 2, unix(3.25), unix(2), 7, 2700, 0, 0, 0}},
		{"failed without a code", lockDetails{runs: []lock.Run{done, noCode}}, []float64{0, 2, unix(3.25), unix(2), nan, 2700, 0, 0, 0}},
		{"running after a failure", lockDetails{Status: lock.Status{Held: true}, runs: []lock.Run{done, failed, running}}, []float64{1, 3, unix(5.25), unix(2), 7, 2700, 0, 0, 0}},
		{"the first runs", lockDetails{Status: lock.Status{Held: true}, runs: []lock.Run{running}}, []float64{1, 1, unix(5.25), 0, nan, nan, 0, 0, 0}},
		{"died", lockDetails{runs: []lock.Run{done, died}}, []float64{0, 2, unix(5.25), unix(2), nan, nan, 0, 0, 0}},
		{"missed", lockDetails{runs: []lock.Run{done, tick(lock.OutcomeMissed, 2), tick(lock.OutcomeMissed, 3), run(lock.OutcomeDone, 4, 5, 0)}}, []float64{0, 2, unix(4.25), unix(5), 0, 2700, 2, unix(3), 0}},
		{"due", lockDetails{runs: []lock.Run{done, tick(lock.OutcomeDue, 6)}}, []float64{0, 1, unix(1.25), unix(2), 0, 2700, 0, 0, unix(6)}},
		{"a key after ticks", lockDetails{runs: []lock.Run{key, done, failed}}, []float64{0, 3, unix(9), unix(9.5), 0, 1800, 0, 0, 0}},
		{"a tick that was caught up", lockDetails{runs: []lock.Run{{Tick: lock.Tick{Time: at(1)}, Outcome: lock.OutcomeFailed, Start: at(7), End: at(8), ExitCode: new(9)}, done}}, []float64{0, 2, unix(7), unix(2), 9, 3600, 0, 0, 0}},
	} {
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if got := test.of.metrics(); !slices.EqualFunc(got, test.want, same) {
			t.Errorf("%s:\n%v, want\n%v", test.name, got, test.want)
		}
	}
}

// What is written is valid and keeps every name.
func TestLockMetricsText(t *testing.T) {
	names := []string{"report", `a"b\c\n`, "名 前", strings.Repeat("x", lock.MaxName), "a#1", `\`, `"`, "report"}
	var all []lockDetails
	for _, name := range names {
		all = append(all, lockDetails{Status: lock.Status{Name: name}, runs: []lock.Run{{Outcome: lock.OutcomeDone, Start: at(1), End: at(1).Add(1234567 * time.Nanosecond), ExitCode: new(0)}}})
	}
	all = append(all, lockDetails{Status: lock.Status{Name: "without runs"}})
	all = append(all, lockDetails{Status: lock.Status{Name: "died"}, runs: []lock.Run{{Outcome: lock.OutcomeDied, Start: at(1)}}})
	var text bytes.Buffer
	if err := writeLockMetrics(&text, all); err != nil {
		t.Fatal(err)
	}
	got := parseMetrics(t, text.Bytes())
	for _, m := range lockMetrics {
		want := names[:len(names)-1]
		if m[0] != "oid_job_last_exit_code" && m[0] != "oid_job_last_duration_seconds" {
			want = append(want[:len(want):len(want)], "died")
		}
		if m[0] == "oid_lock_holders" || m[0] == "oid_job_runs_remembered" {
			want = append(want[:len(want):len(want)], "without runs")
		}
		if of := slices.Sorted(maps.Keys(got[m[0]])); !slices.Equal(of, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s has the locks %q, want %q", m[0], of, want)
		}
	}
	if end, want := got["oid_job_last_success_timestamp_seconds"]["report"], 1795482000.001234; end != want {
		t.Errorf("end %f, want %f", end, want)
	}
	if len(got) != len(lockMetrics) {
		t.Errorf("%d metrics, want %d", len(got), len(lockMetrics))
	}
}

// The crontab of the page fills the folder of node_exporter, which shows what oid has written.
// If oid fails, the last file stays.
func TestWatchLocksCrontab(t *testing.T) {
	exporter := testenv.Program(t, "prometheus-node-exporter", "prometheus-node-exporter")
	folder, locks := t.TempDir(), "file:"+filepath.ToSlash(t.TempDir())
	minute := func(url string) error {
		line := testenv.DocBlock(t, "../../docs/how-to/watch-locks.md", "text", 0, "/var/lib/prometheus/node-exporter", folder, "redis://redis:6379", url)
		return exec.Command("sh", "-c", strings.TrimPrefix(line, "* * * * *")).Run()
	}
	if err := exec.Command("oid", "lock", "report", "--once", "key=a", "--locks", locks, "--", "true").Run(); err != nil {
		t.Fatal(err)
	}
	if err := minute(locks); err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(testenv.FreePort(t))
	server := exec.Command(exporter, "--web.listen-address=127.0.0.1:"+port, "--collector.disable-defaults", "--collector.textfile", "--collector.textfile.directory="+folder)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	show := func(want string) {
		t.Helper()
		var body []byte
		for began := time.Now(); !strings.Contains(string(body), want); time.Sleep(20 * time.Millisecond) {
			if time.Since(began) > 30*time.Second {
				t.Fatalf("node_exporter does not show %s:\n%s", want, body)
			}
			if res, err := http.Get("http://127.0.0.1:" + port + "/metrics"); err == nil {
				body, _ = io.ReadAll(res.Body)
				res.Body.Close()
			}
		}
		if !strings.Contains(string(body), "node_textfile_scrape_error 0\n") {
			t.Errorf("node_exporter finds a fault:\n%s", body)
		}
	}
	show(`oid_job_last_exit_code{lock="report"} 0`)
	show(`/oid.prom"} `) // node_textfile_mtime_seconds, for an alert
	if err := minute("redis://127.0.0.1:1"); err == nil {
		t.Error("the line succeeds without a backend")
	}
	show(`oid_job_last_exit_code{lock="report"} 0`)
}
