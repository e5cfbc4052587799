package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// recorded is what a server has accepted, as its answers say.
type recorded struct {
	mu      sync.Mutex
	answers map[int]int // by status
	members map[string]bool
	ended   map[string]bool
	beats   map[string]int // of members, without the one of the registration
	failed  []string       // requests that were answered with 5xx
}

var aboutOne = regexp.MustCompile(`^/v1/members/([0-9a-f]{16})(/\w+)?$`)

// add reads one exchange.
func (a *recorded) add(r *http.Request, sent []byte, status int, answer []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[status]++
	if status >= 500 {
		a.failed = append(a.failed, r.Method+" "+r.URL.String()+" "+strconv.Itoa(status)+" "+string(answer))
	}
	if status/100 != 2 {
		return
	}
	one := aboutOne.FindStringSubmatch(r.URL.Path)
	switch {
	case r.Method == "POST" && r.URL.Path == "/v1/processes":
		var got wire.Registered
		_ = json.Unmarshal(answer, &got) // Schemathesis reads it as well
		a.members[got.Member] = true
	case r.Method == "DELETE" && one != nil:
		a.ended[one[1]] = true
	case one != nil && one[2] == "/heartbeats":
		a.beats[one[1]]++
	case r.Method == "POST" && r.URL.Path == "/v1/members/heartbeats":
		var beats wire.Heartbeats
		var got wire.HeartbeatResults
		_, _ = json.Unmarshal(sent, &beats), json.Unmarshal(answer, &got)
		for _, b := range beats.Heartbeats {
			if !slices.ContainsFunc(got.Problems, func(p wire.HeartbeatProblem) bool { return p.Member == b.Member && len(p.Rivals) == 0 }) {
				a.beats[b.Member]++
			}
		}
	}
}

// watch puts a proxy in front of a server, which changes nothing and records what the server
// accepts.
func watch(t *testing.T, to string) (*recorded, string) {
	a := &recorded{answers: map[int]int{}, members: map[string]bool{}, ended: map[string]bool{}, beats: map[string]int{}}
	target := testenv.Must(url.Parse(to))(t)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(sent)), int64(len(sent))
		proxy := httputil.ReverseProxy{
			Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(target) },
			ModifyResponse: func(res *http.Response) error {
				answer, err := io.ReadAll(res.Body)
				res.Body = io.NopCloser(bytes.NewReader(answer))
				if err == nil {
					a.add(r, sent, res.StatusCode, answer)
				}
				return err
			},
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close)
	return a, between.URL
}

// Schemathesis reads the description of the API and sends requests that conform to it and
// requests that do not. No answer is a failure of the server, all conform to the description,
// and the server has recorded exactly what it has accepted.
//
// The checks that are left out hold a request to be wrong, or right, by its schema alone. A
// null or an empty parameter counts as absent, and values that conform to the schema may still
// be impossible, such as an id that is older than its process.
func TestSchemathesis(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "sends requests for seconds")
	packages := testenv.PythonPackage(t, "schemathesis", "4.32.5")
	const token = "A-token-0f-some-length"
	for _, test := range []struct {
		name, has, sends, phases string
	}{{"open", "", "", "coverage"}, {"token", token, token, "examples"}, {"no token", token, "", "examples"}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, server.Options{Token: test.has, Limits: server.Limits{Store: time.Minute}, Open: fileStore(filepath.Join(t.TempDir(), "db")), OpenLocks: withLocks(t, "a/b")})
			var auth []string
			if test.has != "" {
				auth = []string{"Authorization", "Bearer " + test.has}
			}
			description := filepath.Join(t.TempDir(), "openapi.json")
			testenv.NoError(t, os.WriteFile(description, []byte(r.get(t, "/openapi.json", auth...).body), 0o600))
			accepted, at := watch(t, r.url)
			bound := []string{"--phases", test.phases}
			if seconds := testenv.Rounds(0, 600); seconds > 0 {
				bound = []string{"--max-time", strconv.Itoa(seconds)} // of all phases
			}
			args := []string{
				"-c", "from schemathesis.cli import schemathesis; schemathesis()",
				"run", description, "--url", at, "--continue-on-failure", "--no-color", "--warnings", "off",
				"--exclude-checks", "positive_data_acceptance,negative_data_rejection", "--generation-database", "none",
			}
			args = append(args, bound...)
			if test.sends != "" {
				args = append(args, "-H", "Authorization: Bearer "+test.sends)
			}
			run := exec.CommandContext(t.Context(), "python3", args...)
			run.Dir = t.TempDir()
			run.Env = append(os.Environ(), "PYTHONPATH="+packages, "SCHEMATHESIS_HOOKS=")
			out, err := run.CombinedOutput()
			if t.Logf("%s", out); err != nil {
				t.Error(err)
			}
			accepted.mu.Lock()
			defer accepted.mu.Unlock()
			if len(accepted.failed) > 0 {
				t.Errorf("answered with 5xx: %s", strings.Join(accepted.failed, "\n"))
			}
			t.Logf("answers by status: %v; %d members, %d ended", accepted.answers, len(accepted.members), len(accepted.ended))
			if tried := accepted.answers[200] + accepted.answers[201]; (tried == 0) != (test.has != test.sends) {
				t.Errorf("%d requests were accepted", tried)
			}
			found := map[string]bool{}
			for after := ""; ; {
				page := decode[wire.Processes](t, r.get(t, "/v1/processes?limit=1000&after="+url.QueryEscape(after), auth...), 200)
				for _, p := range page.Processes {
					if p.Name == "oid serve" && !p.Remote {
						continue
					}
					found[p.Member] = true
					if !accepted.members[p.Member] || (p.End != nil) != accepted.ended[p.Member] || p.LastHeartbeat.Number > 1 && accepted.beats[p.Member] == 0 && p.End == nil {
						t.Errorf("recorded %+v; accepted: registration %t, end %t, %d heartbeats", p, accepted.members[p.Member], accepted.ended[p.Member], accepted.beats[p.Member])
					}
				}
				if after = page.Next; after == "" {
					break
				}
			}
			for member := range accepted.members {
				if !found[member] {
					t.Errorf("%s was accepted, and is not recorded", member)
				}
			}
		})
	}
}
