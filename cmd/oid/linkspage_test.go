package main

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store/sqlitestore"
)

// Each template of the page on links makes a URL that its program reads as the query for the pod,
// in the ten minutes around the id.
func TestLinksOfThePage(t *testing.T) {
	const page = "docs/how-to/from-an-id-to-the-logs.md"
	blocks := testenv.Must(fencedBlocks(page, readDocuments(t)[page]))(t)
	file := filepath.Join(t.TempDir(), "oid.db")
	s := testenv.Must(sqlitestore.Open(t.Context(), file, nil))(t)
	g := testenv.Must(gpid.New(netip.MustParseAddrPort("10.0.0.7:8080"), time.Now().Add(-time.Hour), 1))(t)
	p := testenv.Must(registry.New(s, nil).RegisterRemote(t.Context(), g, &registry.RemoteOptions{
		Name: "shop", Version: "1.4.2", Clock: time.Now(), Labels: map[string]string{"k8s.pod.name": "shop-7d4b9cf6d5-x2xkp"},
	}))(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Truncate(time.Second)
	id := fmt.Sprintf("%08x%s00a1b2c3", at.Unix(), p.Block)
	from, to := at.Add(-5*time.Minute), at.Add(5*time.Minute)
	in := func(tx time.Time) string { return strconv.FormatInt(tx.UnixMilli(), 10) }
	// panes checks Grafana's state of its view Explore.
	panes := func(datasource, field, query string) func(*url.URL) error {
		return func(u *url.URL) error {
			var all map[string]struct {
				Datasource string
				Queries    []map[string]any
				Range      struct{ From, To string }
			}
			if err := json.Unmarshal([]byte(u.Query().Get("panes")), &all); err != nil {
				return err
			}
			one := all["oid"]
			if len(all) != 1 || one.Datasource != datasource || one.Range.From != in(from) || one.Range.To != in(to) || len(one.Queries) != 1 || one.Queries[0][field] != query {
				return fmt.Errorf("%+v", all)
			}
			return nil
		}
	}
	values := func(want url.Values) func(*url.URL) error {
		return func(u *url.URL) error {
			if got := u.Query(); got.Encode() != want.Encode() {
				return fmt.Errorf("%v", got)
			}
			return nil
		}
	}
	checks := map[string]func(*url.URL) error{
		"https://logs.example/search":            values(url.Values{"pod": {"shop-7d4b9cf6d5-x2xkp"}, "from": {in(from)}, "to": {in(to)}}),
		"https://grafana.example/explore logs":   panes("loki", "expr", `{service_name="shop"}|k8s_pod_name="shop-7d4b9cf6d5-x2xkp"`),
		"https://grafana.example/explore traces": panes("tempo", "query", `{resource.service.instance.id="`+p.GPID.InstanceID()+`"}`),
		"https://kibana.example/app/discover": func(u *url.URL) error {
			state, err := url.ParseQuery(strings.TrimPrefix(u.Fragment, "/?"))
			want := fmt.Sprintf("(time:(from:'%s',to:'%s'))", from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339))
			if err != nil || state.Get("_g") != want || state.Get("_a") != `(query:(language:kuery,query:'kubernetes.pod.name:"shop-7d4b9cf6d5-x2xkp"'))` {
				return fmt.Errorf("%q, %w", state, err)
			}
			return nil
		},
		"https://app.datadoghq.com/logs": values(url.Values{"query": {"service:shop pod_name:shop-7d4b9cf6d5-x2xkp"}, "from_ts": {in(from)}, "to_ts": {in(to)}, "live": {"false"}}),
	}
	n := 0
	for _, b := range blocks {
		script := b.text
		switch {
		case strings.Contains(script, "curl"):
			script, _, _ = strings.Cut(script, "curl") // TestLinksOfTheAPI sends that
		case strings.Contains(script, "oid serve"):
			script = strings.Replace(script, "oid serve", "oid trace --json "+id, 1)
		case strings.Contains(script, "oid trace"):
			script = strings.Replace(script, "oid trace 6b043fb13363c62b009969ff", "oid trace --json "+id, 1)
		default:
			script += "oid trace --json " + id
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script) // TestMain has put oid into the path
		cmd.Env = append(os.Environ(), "OID_STORE=sqlite:"+file)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s:%d: %v: %s", page, b.line, err, stderr.String())
			continue
		}
		if strings.Contains(script, "oid ps") {
			if !strings.Contains(string(out), g.String()) {
				t.Errorf("%s:%d: %s", page, b.line, out)
			}
			continue
		}
		var trace wire.Trace
		if err := json.Unmarshal(out, &trace); err != nil || len(trace.Links) != 1 || trace.Links[0].Problem != "" {
			t.Errorf("%s:%d: %v: %s", page, b.line, err, out)
			continue
		}
		l := trace.Links[0]
		u := testenv.Must(url.Parse(l.URL))(t)
		place := u.Scheme + "://" + u.Host + u.Path
		check, ok := checks[place]
		if !ok {
			check, ok = checks[place+" "+l.Name]
		}
		if !ok {
			t.Errorf("%s:%d: nothing checks %s", page, b.line, l.URL)
		} else if err := check(u); err != nil {
			t.Errorf("%s:%d: %s: %v", page, b.line, l.URL, err)
		}
		n++
	}
	if n != 6 {
		t.Errorf("%d blocks have a template, want 6", n)
	}
}
