package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/filelock"
	"github.com/oidkit/oid/lock/lockmetrics"
)

const (
	dashboardFile = "../../examples/deploy/locks-dashboard.json"
	alertsFile    = "../../examples/deploy/locks-alerts.yaml"
)

// dashboard is what the tests read of a dashboard of Grafana.
type dashboard struct {
	Panels []struct {
		ID      int
		Type    string
		Title   string
		GridPos struct{ H, W, X, Y int }
		Targets []struct{ RefID, Expr string }
	}
	Templating struct {
		List []struct{ Name, Definition string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	if err := json.Unmarshal(testenv.Must(os.ReadFile(dashboardFile))(t), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// queries returns the queries of all panels by PANEL/QUERY, with values for the variables of
// Grafana.
func (d dashboard) queries(interval string) map[string]string {
	all := make(map[string]string)
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			all[fmt.Sprintf("%d %s/%s", p.ID, p.Title, q.RefID)] = strings.NewReplacer("$__rate_interval", interval, "$lock", ".*").Replace(q.Expr)
		}
	}
	return all
}

// Every panel has its place and a query, Prometheus can parse the queries, and these ask only
// for metrics, labels and events that are there.
func TestDashboardAndAlertsAskForWhatIsThere(t *testing.T) {
	promtool := testenv.Program(t, "promtool", "prometheus")
	d := readDashboard(t)
	ids, taken := make(map[int]bool), make(map[[2]int]string)
	for _, p := range d.Panels {
		if ids[p.ID] || p.ID == 0 || p.Title == "" || (p.Type != "row") != (len(p.Targets) > 0) {
			t.Errorf("panel %d %q of type %s: want an id of its own, a title and, but for rows, queries", p.ID, p.Title, p.Type)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if taken[at] != "" || at[0] >= 24 {
					t.Errorf("panel %q is at %v, as is %q; a row has 24 columns", p.Title, at, taken[at])
				}
				taken[at] = p.Title
			}
		}
	}
	queries := d.queries("5m")
	var rules strings.Builder
	rules.WriteString("groups:\n- name: panels\n  rules:\n")
	for name, query := range queries {
		if strings.Contains(query, "$") {
			t.Errorf("%s: an unknown variable in %s", name, query)
		}
		rules.WriteString(fmt.Sprintf("  - record: panel%d\n    expr: %q\n", len(rules.String()), query))
	}
	file := filepath.Join(t.TempDir(), "panels.yaml")
	if err := os.WriteFile(file, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	testenv.Run(t, exec.Command(promtool, "check", "rules", file))

	_, url, _ := startServe(t.Context(), t)
	exported := string(fetch(t, url+"/metrics")) + string(metricsOfLocks(t)) + string(metricsOfJobs(t))
	var names, events []string
	for _, m := range regexp.MustCompile(`(?m)^(oid_\w+)`).FindAllStringSubmatch(exported, -1) {
		names = append(names, m[1])
	}
	for _, m := range regexp.MustCompile(`event="([a-z-]+)"`).FindAllStringSubmatch(exported, -1) {
		events = append(events, m[1])
	}
	alerts := string(testenv.Must(os.ReadFile(alertsFile))(t))
	for _, v := range d.Templating.List {
		queries["variable "+v.Name] = v.Definition
	}
	queries["alerts"] = strings.ReplaceAll(alerts, "- name: oid-locks", "")
	for where, query := range queries {
		for _, name := range regexp.MustCompile(`\boid_\w+`).FindAllString(query, -1) {
			if !slices.Contains(names, name) {
				t.Errorf("%s asks for %s, which nothing exports", where, name)
			}
		}
		for _, m := range regexp.MustCompile(`event=~?"([^"]+)"`).FindAllStringSubmatch(query, -1) {
			for event := range strings.SplitSeq(m[1], "|") {
				if !slices.Contains(events, event) {
					t.Errorf("%s asks for the event %s, which nothing exports", where, event)
				}
			}
		}
	}
}

// The alerts fire when they should, and only then.
func TestLockAlerts(t *testing.T) {
	promtool := testenv.Program(t, "promtool", "prometheus")
	testenv.Run(t, exec.Command(promtool, "check", "rules", alertsFile))
	testenv.Run(t, exec.Command(promtool, "test", "rules", strings.Replace(alertsFile, ".yaml", ".test.yaml", 1)))
}

// On a real Prometheus, which reads a program, the state of jobs and oid serve, every query of
// the dashboard finds something.
func TestDashboardShowsAll(t *testing.T) {
	testenv.Long(t, "waits for Prometheus")
	t.Parallel()
	program := testenv.Program(t, "prometheus", "prometheus")
	registry := prometheus.NewRegistry()
	locker := testenv.Must(filelock.New(t.TempDir(), &filelock.Options{Events: lockmetrics.New(registry, nil)}))(t)
	defer locker.Close()
	work := func() {
		lease := testenv.Must(locker.Acquire(t.Context(), "import", nil))(t)
		testenv.WantError(t, "Release", lease.Release(), nil)
	}
	work()
	targets := http.NewServeMux()
	targets.Handle("/program", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	targets.HandleFunc("/jobs", func(w http.ResponseWriter, _ *http.Request) {
		run := lock.Run{Outcome: lock.OutcomeDone, Start: at(1), End: at(2), ExitCode: new(0)}
		due := lock.Run{Outcome: lock.OutcomeDue, Tick: lock.Tick{Time: at(3)}}
		_ = writeLockMetrics(w, []lockDetails{{Status: lock.Status{Name: "report"}, runs: []lock.Run{run, due}}})
	})
	exporter := httptest.NewServer(targets)
	defer exporter.Close()
	_, serve, _ := startServe(t.Context(), t)
	config := filepath.Join(t.TempDir(), "prometheus.yml")
	var text strings.Builder
	text.WriteString("global: {scrape_interval: 500ms}\nrule_files: [" + testenv.Must(filepath.Abs(alertsFile))(t) + "]\nscrape_configs:\n")
	for _, target := range []string{exporter.URL + "/program", exporter.URL + "/jobs", serve + "/metrics"} {
		u := testenv.Must(url.Parse(target))(t)
		text.WriteString(fmt.Sprintf("- {job_name: %q, metrics_path: %q, static_configs: [{targets: [%q]}]}\n", target, u.Path, u.Host))
	}
	if err := os.WriteFile(config, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	address := "127.0.0.1:" + strconv.Itoa(testenv.FreePort(t))
	testenv.Start(t, program, "--config.file="+config, "--storage.tsdb.path="+t.TempDir(), "--web.listen-address="+address)
	missing := readDashboard(t).queries("10s")
	for began := time.Now(); len(missing) > 0; time.Sleep(200 * time.Millisecond) {
		work()
		for name, query := range missing {
			if found, err := seriesOf(address, query); err == nil && found > 0 {
				delete(missing, name)
			} else if time.Since(began) > 90*time.Second {
				t.Fatalf("%s finds nothing: %s: %v", name, query, err)
			}
		}
	}
}

// seriesOf returns how many series a query finds that are numbers.
func seriesOf(address, query string) (found int, err error) {
	res, err := http.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	var answer struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	for _, series := range answer.Data.Result {
		if series.Value[1] != "NaN" {
			found++
		}
	}
	return found, err
}
