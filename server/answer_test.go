package server_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// curl -X POST without anything else makes one id.
func TestPlainPost(t *testing.T) {
	r := serve(t, server.Options{})
	curl, err := exec.LookPath("curl")
	if err != nil {
		testenv.Missing(t, "curl (apt-get install curl)")
	}
	for _, args := range [][]string{{"-X", "POST"}, {"-X", "POST", "-H", "Content-Type: application/json"}, {"-X", "POST", "-H", "Accept: text/plain"}} {
		out, err := exec.Command(curl, append(args, "-sS", r.url+"/v1/ids")...).CombinedOutput()
		if n := strings.Count(string(out), "\n"); err != nil || n != 1 || len(strings.Trim(string(out), "\n{}[]\"ids:")) < 20 {
			t.Errorf("curl %s: %s, %v", args, out, err)
		}
	}
}

// An answer and the lines of the log have the same id; a client cannot choose it, a
// trusted proxy can.
func TestRequestIDs(t *testing.T) {
	var log lockedBuffer
	r := serve(t, server.Options{Access: slog.New(slog.NewTextHandler(&log, nil))})
	one, two := r.get(t, "/livez", "X-Request-Id", "mine"), r.get(t, "/v1/nothing")
	a, b := one.header.Get("X-Request-Id"), two.header.Get("X-Request-Id")
	if len(a) != 24 || len(b) != 24 || a == b {
		t.Errorf("ids %q and %q", a, b)
	}
	for _, id := range []string{a, b} {
		if !strings.Contains(log.String(), "request="+id) {
			t.Errorf("the log lacks %s: %s", id, log.String())
		}
	}
	proxied := serve(t, server.Options{Token: token, TrustedProxies: everywhere})
	if got := proxied.get(t, "/livez", "X-Request-Id", "from-nginx_1.2").header.Get("X-Request-Id"); got != "from-nginx_1.2" {
		t.Errorf("id %q", got)
	}
	if got := proxied.get(t, "/livez", "X-Request-Id", "a b\"").header.Get("X-Request-Id"); len(got) != 24 {
		t.Errorf("id %q", got)
	}
}

// Answers are compressed for those who accept it, and ids are not.
func TestGzip(t *testing.T) {
	r := serve(t, server.Options{})
	r.client.Transport = &http.Transport{DisableCompression: true}
	for path, want := range map[string]string{"/openapi.json": "gzip", "/": "gzip", "/range": "gzip", "/metrics": "gzip", "/livez": ""} {
		got := r.get(t, path, "Accept-Encoding", "gzip", "Accept", "text/html")
		if e := got.header.Get("Content-Encoding"); e != want {
			t.Errorf("%s: encoding %q, want %q", path, e, want)
		}
		if want != "" {
			plain := r.get(t, path, "Accept", "text/html")
			z, err := gzip.NewReader(strings.NewReader(got.body))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(z)
			if err != nil || len(text) < len(plain.body)/2 || len(got.body) > len(text)*2/3 || plain.header.Get("Content-Encoding") != "" {
				t.Errorf("%s: %d bytes for %d, %v", path, len(got.body), len(text), err)
			}
		}
	}
	if got := r.post(t, "/v1/ids", `{"count":1000}`, "Accept-Encoding", "gzip"); got.header.Get("Content-Encoding") != "" || got.header.Get("Content-Length") == "" {
		t.Errorf("ids: %v", got.header)
	}
}

// Problems say what is wrong in the words of JSON, not of Go.
func TestProblemsWithoutGo(t *testing.T) {
	r := serve(t, server.Options{})
	for body, want := range map[string]string{
		`{"count":1.5}`:   `"expected integer","location":"body.count","value":1.5`,
		`{"count":1e30}`:  "count: expected a smaller number, not number 1e30",
		`{"count":1e400}`: "expected a smaller number, not number 1e400",
		`{`:               "not valid JSON at byte 1",
		`{"count":"x"}`:   "expected integer",
	} {
		got := r.post(t, "/v1/ids", body)
		if got.status/100 != 4 || !strings.Contains(got.body, want) || strings.Contains(got.body, "Go ") || strings.Contains(got.body, "unmarshal") || strings.Contains(got.body, "struct") {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	for body, location := range map[string]string{
		`{"name":"a","pid":1,"evidence_ids":["zz"]}`: "body.evidence_ids[0]",
		`{"name":"a","pid":1,"evidence_ids":[""]}`:   "body.evidence_ids[0]",
		`{"name":"a","pid":1,"evidence_ids":["507f1f77bcf86cd799439011","507F1F77BCF86CD799439011","507f1f77bcf86cd79943901g"]}`: "body.evidence_ids[2]",
	} {
		if got := r.post(t, "/v1/processes", body); !strings.Contains(got.body, `"expected string to be 24 hexadecimal digits","location":"`+location+`"`) {
			t.Errorf("%s: %s", body, got.body)
		}
	}
	got := r.post(t, memberPath("0a1b2c3d4e5f6071")+"/evidence", `{"evidence_ids":["0"]}`)
	if !strings.Contains(got.body, `"location":"body.evidence_ids[0]"`) {
		t.Errorf("%s", got.body)
	}
}

// JSON has one type of numbers: an integer may be written with an exponent or with a fraction
// of zeros, in each field of the API. The rest of such a body stays as it is.
func TestIntegersInEachNotation(t *testing.T) {
	r := serve(t, server.Options{})
	for body, want := range map[string]int{`{"count":3.0}`: 3, `{"count":1e1}`: 10, `{"count":1E+4}`: 10_000, `{"count":20e-1}`: 2} {
		if got := decode[wire.IDs](t, r.post(t, "/v1/ids", body), 200).IDs; len(got) != want {
			t.Errorf("%s: %d ids, want %d", body, len(got), want)
		}
	}
	p := decode[wire.Registered](t, r.post(t, "/v1/processes", `{"name":"<a>\",1e1","pid":4.7e3,"labels":{"team":"a&b 1.0"},"kernel":{"boot_id":"b","pid_namespace":4294967297.0,"pid":1e1,"start_ticks":9007199254740993}}`), 201)
	decode[wire.Registered](t, r.post(t, memberPath(p.Member)+"/heartbeats", `{"memory_bytes":4.096e9,"files":3.0,"threads":4}`), 200)
	got := decode[wire.History](t, r.get(t, "/v1/processes/"+url.PathEscape(p.GPID)), 200).Processes[0]
	if last := got.LastHeartbeat; !strings.HasSuffix(got.GPID, ":4700") || got.Name != `<a>",1e1` || got.Labels["team"] != "a&b 1.0" ||
		got.Kernel.PID != 10 || got.Kernel.PIDNamespace != 1<<32+1 || got.Kernel.StartTicks != 1<<53+1 ||
		*last.MemoryBytes != 4_096_000_000 || *last.Files != 3 || *last.Threads != 4 {
		t.Errorf("recorded: %+v", got)
	}
	for path, body := range map[string]string{
		memberPath(p.Member) + "/heartbeats": `{"memory_bytes":1e19}`,
		"/v1/members/heartbeats":             `{"heartbeats":[{"member":"` + p.Member + `","files":1e19}]}`,
	} {
		if got := r.post(t, path, body); got.status != 422 || !strings.Contains(got.body, "expected number <= 9000000000000000000") || !strings.Contains(got.body, `"location":"body.`) {
			t.Errorf("%s %s: %d %s", path, body, got.status, got.body)
		}
	}
}

// In each endpoint, a request may have null for an optional field: it means that the field is
// absent. For a required field, in a list and as the value of a label, null is refused.
func TestNullInRequests(t *testing.T) {
	r := serve(t, server.Options{})
	if got := decode[wire.IDs](t, r.post(t, "/v1/ids", `{"count":null}`), 200).IDs; len(got) != 1 {
		t.Errorf("null ids: %d, want 1, as without a count", len(got))
	}
	p := decode[wire.Registered](t, r.post(t, "/v1/processes", `{"name":"a","pid":1,"address":null,"started":null,"version":null,"labels":null,"host":null,"evidence_ids":null,"layout":null,"interval_seconds":null,"clock":null,"age_seconds":null,"kernel":null,"executable":null}`), 201)
	if p.IntervalSeconds != 10 || p.ProcessBlock == "" {
		t.Errorf("registered with nulls: %+v", p)
	}
	one := memberPath(p.Member)
	decode[wire.Registered](t, r.post(t, one+"/heartbeats", `{"memory_bytes":null,"cpu_seconds":null,"clock":null}`), 200)
	for _, c := range []struct{ path, body, where string }{
		{"/v1/ids", `null`, "body"},
		{"/v1/processes", `{"name":null,"pid":1}`, "body.name"},
		{"/v1/processes", `{"name":"a","pid":null}`, "body.pid"},
		{"/v1/processes", `{"name":"a","pid":1,"labels":{"team":null}}`, "body.labels.team"},
		{"/v1/processes", `{"name":"a","pid":1,"evidence_ids":[null]}`, "body.evidence_ids[0]"},
		{one + "/heartbeats", `null`, "body"},
		{one + "/evidence", `{"evidence_ids":null}`, "body.evidence_ids"},
		{"/v1/members/heartbeats", `{"heartbeats":null}`, "body.heartbeats"},
		{"/v1/members/heartbeats", `{"heartbeats":[null]}`, "body.heartbeats[0]"},
		{"/v1/members/heartbeats", `{"heartbeats":[{"member":null}]}`, "body.heartbeats[0].member"},
	} {
		if got := r.post(t, c.path, c.body); got.status != 422 || !strings.Contains(got.body, `"message":"expected `) || !strings.Contains(got.body, `"location":"`+c.where+`"`) {
			t.Errorf("%s %s: %d %s, want 422 about %s", c.path, c.body, got.status, got.body, c.where)
		}
	}
}

// Names in which something is hidden are refused.
func TestHiddenCharacters(t *testing.T) {
	r := serve(t, server.Options{})
	for _, bad := range []string{"\u202eevil", "li\u200bve", "live\ufeff", "a\u2066b", "live\ufe0f", "a\u2028b", "tab\t"} {
		for _, body := range []string{
			fmt.Sprintf(`{"name":%q,"pid":1}`, bad), fmt.Sprintf(`{"name":"a","pid":1,"version":%q}`, bad),
			fmt.Sprintf(`{"name":"a","pid":1,"labels":{"k":%q}}`, bad), fmt.Sprintf(`{"name":"a","pid":1,"labels":{%q:"v"}}`, bad),
		} {
			body = strings.ReplaceAll(body, `\ufeff`, "\ufeff")
			if got := r.post(t, "/v1/processes", body); got.status != 422 || !strings.Contains(got.body, "printable") {
				t.Errorf("%s: %d %s", body, got.status, got.body)
			}
		}
	}
	if got := r.post(t, "/v1/processes", `{"name":"a","pid":1,"labels":{"team":"a\nb"}}`); got.status != 422 || !strings.Contains(got.body, `the value of the label \"team\" has U+000A at offset 1, want printable characters`) {
		t.Errorf("a label of two lines: %d %s", got.status, got.body)
	}
	for _, good := range []string{"café", "日本語", "a b", "ñandú", "работа"} {
		if got := r.post(t, "/v1/processes", fmt.Sprintf(`{"name":%q,"pid":1}`, good)); got.status != 201 {
			t.Errorf("%s: %d %s", good, got.status, got.body)
		}
	}
}

// What is not known of a process that has left is absent, and nothing is -1.
func TestUnknownLoad(t *testing.T) {
	r := serve(t, server.Options{})
	await(t, "the registry", func() bool { return r.get(t, "/v1/processes").status == 200 })
	p := decode[wire.Registered](t, r.post(t, "/v1/processes", `{"name":"a","pid":1}`), 201)
	path := "/v1/processes/" + url.PathEscape(p.GPID)
	r.post(t, memberPath(p.Member)+"/heartbeats", `{"memory_bytes":10000000}`)
	r.do(t, "DELETE", memberPath(p.Member), nil)
	for _, path := range []string{path, "/v1/processes", "/processes", strings.TrimPrefix(path, "/v1")} {
		if got := r.get(t, path, "Accept", "text/html"); got.status != 200 || strings.Contains(got.body, ":-1") || strings.Contains(got.body, ">-1") || strings.Contains(got.body, "-1 ") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// A history that is cut goes on where it ended.
func TestHistoryGoesOn(t *testing.T) {
	r := serve(t, server.Options{})
	p := decode[wire.Registered](t, r.post(t, "/v1/processes", `{"name":"a","pid":1}`), 201)
	path := "/v1/processes/" + url.PathEscape(p.GPID)
	for i := range 9 {
		r.post(t, memberPath(p.Member)+"/heartbeats", fmt.Sprintf(`{"memory_bytes":%d}`, i))
		time.Sleep(2 * time.Millisecond)
	}
	want := decode[wire.History](t, r.get(t, path), 200).Samples
	var got []wire.Sample
	since := "24h"
	for {
		h := decode[wire.History](t, r.get(t, path+"?limit=4&since="+url.QueryEscape(since)), 200)
		got = append(got, h.Samples...)
		if since = h.Next; since == "" {
			break
		}
	}
	if len(want) != 10 || len(got) != len(want) {
		t.Fatalf("%d samples in pieces, %d at once", len(got), len(want))
	}
	for i := range want {
		if !got[i].Time.Equal(want[i].Time) {
			t.Errorf("sample %d is from %v, want %v", i, got[i].Time, want[i].Time)
		}
	}
}

// A store whose file is replaced is opened again, at once.
func TestStoreFileIsReplaced(t *testing.T) {
	path := t.TempDir() + "/oid.db"
	r := serve(t, server.Options{Open: fileStore(path)})
	join := `{"name":"a","pid":1}`
	if got := r.post(t, "/v1/processes", join); got.status != 201 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && suffix == "" {
			t.Fatal(err)
		}
	}
	await(t, "the new store", func() bool { return r.post(t, "/v1/processes", join).status == 201 })
	list := decode[wire.Processes](t, r.get(t, "/v1/processes"), 200).Processes
	if len(list) != 2 { // the server, which has registered again, and the one that joined
		t.Errorf("%+v", list)
	}
	id := decode[wire.IDs](t, r.post(t, "/v1/ids", `{}`), 200).IDs[0]
	if got := decode[wire.Inspection](t, r.get(t, "/v1/ids/"+id.String()), 200); got.Trace == nil || got.Trace.Verdict != "known" {
		t.Errorf("an id afterwards: %+v", got.Trace)
	}
}
