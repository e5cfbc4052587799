package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// recorder is a transport that keeps every exchange.
type recorder struct {
	exchanges []testenv.Exchange
	bad       bool // what is sent now breaks the description
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	var sent []byte
	if req.Body != nil {
		var err error
		if sent, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(sent))
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	got, err := io.ReadAll(res.Body)
	res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(got))
	r.exchanges = append(r.exchanges, testenv.Exchange{
		Method: req.Method, URL: req.URL.String(), RequestHeader: req.Header, Request: sent,
		Status: res.StatusCode, ResponseHeader: res.Header, Response: got, BadRequest: r.bad,
	})
	return res, err
}

// Every endpoint keeps what the description says, with each status that can be
// brought about.
func TestContract(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{Version: "v1.0.0", Limits: server.Limits{UploadIDs: 10}, OpenLocks: withLocks(t, "a", "b")})
	record := &recorder{}
	r.client.Transport = record
	join := func(body string) wire.Registered {
		t.Helper()
		return decode[wire.Registered](t, r.post(t, "/v1/processes", body, "Idempotency-Key", "a-key-for-"+body[9:10]+"-of-some-length"), 201)
	}
	a := join(`{"name":"a","pid":1,"address":"10.0.0.7:80","labels":{"k":"v"},"version":"1","interval_seconds":1}`)
	b := join(`{"name":"b","pid":2,"evidence_ids":["` + decode[wire.IDs](t, r.post(t, "/v1/ids", `{"count":3}`), 200).IDs[0].String() + `"]}`)
	one, two, named := memberPath(a.Member), memberPath(b.Member), "/v1/processes/"+url.PathEscape(a.GPID)
	traced := decode[wire.IDs](t, r.post(t, "/v1/ids", `{}`), 200).IDs[0]
	numbers := map[string]int{}
	for i, f := range registry.LoadFields() {
		numbers[f.Name] = i + 1
	}
	load, err := json.Marshal(numbers)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		accept             string
	}{
		{"POST", "/v1/ids", "", 200, ""},
		{"POST", "/v1/ids", `{"count":3}`, 200, "text/plain"},
		{"POST", "/v1/ids", `{"count":3.0}`, 200, ""},
		{"POST", "/v1/ids", `{"count":1e1}`, 200, ""},
		{"POST", "/v1/ids", `{"count":3}`, 200, "application/octet-stream"},
		{"GET", "/v1/ids/" + traced.String(), "", 200, ""},
		{"GET", "/v1/ids/507f1f77bcf86cd799439011?layout=java", "", 200, ""},
		{"GET", "/v1/ids/507f1f77bcf86cd799439011?trace=false", "", 200, ""},
		{"GET", "/v1/ids/01ARZ3NDEKTSV4RRFFQ69G5FAV", "", 200, ""},
		{"GET", "/v1/ids/c232ab00-9414-11ec-b3c8-9f6bdeced846", "", 200, ""},
		{"GET", "/v1/ids/175928847299117063", "", 200, ""},
		{"GET", "/v1/ids/zzz", "", 422, ""},
		{"GET", "/v1/ids/000000000000000000000000", "", 200, ""},
		{"GET", "/v1/ids/ffffffffffffffffffffffff", "", 200, ""},
		{"GET", "/v1/range?from=1970-01-01&to=2106-02-07T06:28:15Z", "", 200, ""},
		{"GET", "/v1/range", "", 200, ""},
		{"GET", "/v1/range?from=2026-11-01&to=2026-12-01&column=id", "", 200, ""},
		{"GET", "/v1/range?from=soon", "", 422, ""},
		{"GET", "/v1/range?since=24h&process=0A1B2C3D4E", "", 200, ""},
		{"GET", "/v1/range?since=24h&process=0a1b2c3d4", "", 422, ""},
		{"GET", "/v1/range?since=24h&process=0a1b2c3g", "", 422, ""},
		{"GET", "/v1/range?from=2026-11-01&tz=Europe%2FBerlin", "", 200, ""},
		{"GET", "/v1/range?from=2026-11-01&tz=Nowhere", "", 422, ""},
		{"GET", "/v1/locks", "", 200, ""},
		{"GET", "/v1/locks?limit=1", "", 200, ""},
		{"GET", "/v1/locks?limit=1&after=a", "", 200, ""},
		{"GET", "/v1/locks/a", "", 200, ""},
		{"GET", "/v1/locks/free", "", 404, ""},
		{"GET", "/v1/locks/%7B", "", 422, ""},
		{"GET", "/v1/processes", "", 200, ""},
		{"GET", "/v1/processes?state=ended&limit=5", "", 200, ""},
		{"POST", "/v1/processes", `{"name":"a","pid":1,"evidence_ids":["507f1f77bcf86cd799439011"]}`, 422, ""},
		{"GET", named, "", 200, ""},
		{"GET", named + "?since=1h&limit=1&member=" + a.Member, "", 200, ""},
		{"GET", named + "?member=" + b.Member, "", 404, ""},
		{"POST", one + "/heartbeats", `{}`, 200, ""},
		{"POST", two + "/heartbeats", string(load), 200, ""},
		{"GET", "/v1/processes?name=a&host=h&limit=1", "", 200, ""},
		{"POST", two + "/evidence", `{"evidence_ids":["` + traced.String() + `"]}`, 200, ""},
		{"GET", "/v1/processes?label=k", "", 422, ""},
		{"GET", "/v1/processes?q=a", "", 200, ""},
		{"GET", "/v1/processes?after=x", "", 422, ""},
		{"POST", "/v1/members/heartbeats", `{"heartbeats":[{"member":"` + a.Member + `","cpu_seconds":1},{"member":"` + b.Member + `"},{"member":"0123456789abcdef"}]}`, 200, ""},
		{"DELETE", one + "?reason=done", "", 200, ""},
		{"DELETE", one, "", 409, ""},
		{"POST", one + "/heartbeats", `{}`, 409, ""},
		{"GET", "/v1/processes/10.0.0.9:1:1795166651598985:1", "", 404, ""},
		{"POST", memberPath("0123456789abcdef") + "/heartbeats", `{}`, 404, ""},
		{"POST", "/v1/census?name=x&by=day", "{\"_id\":{\"$oid\":\"507f1f77bcf86cd799439011\"}}\n{\"_id\":\"s\"}\n{broken\n{\"_id\":{\"$oid\":\"507f1f77bcf86cd799439011\"}}\n", 200, ""},
		{"POST", "/v1/census", strings.Repeat("000000000000000000000000\n", 3) + "ffffffffffffffffffffffff\n", 200, ""},
		{"POST", "/v1/census", "\x89PNG", 422, ""},
		{"POST", "/v1/census", strings.Repeat("507f1f77bcf86cd799439011\n", 11), 413, ""},
	} {
		contentType := "application/json"
		if strings.HasPrefix(c.path, "/v1/census") {
			contentType = "application/octet-stream"
		}
		var body io.Reader
		if c.body != "" {
			body = strings.NewReader(c.body)
		}
		if got := r.do(t, c.method, c.path, body, "Content-Type", contentType, "Accept", c.accept); got.status != c.status {
			t.Errorf("%s %s: status %d, want %d: %s", c.method, c.path, got.status, c.status, got.body)
		}
	}
	record.bad = true
	for path, bodies := range map[string][]string{
		"/v1/ids":                {`{"count":0}`, `{"count":"x"}`, `{"count":1.5}`, `{`, `{"other":1}`},
		"/v1/processes":          {`{}`, `{"name":"","pid":1}`, `{"name":"a","pid":-1}`},
		"/v1/members/heartbeats": {`{}`, `{"heartbeats":[{}]}`, `{"heartbeats":[{"member":1}]}`, `{"heartbeats":[{"member":"x"}]}`},
		two + "/heartbeats":      {`{"memory_bytes":-1}`},
		two + "/evidence":        {`{}`, `{"evidence_ids":["x"]}`},
		"/v1/census?by=days":     {"x"},
	} {
		for _, body := range bodies {
			if got := r.post(t, path, body); got.status < 400 || got.status > 422 {
				t.Errorf("%s %s: status %d", path, body, got.status)
			}
		}
	}
	record.bad = false
	r.client.Transport = nil

	for path, exchanges := range map[string][]testenv.Exchange{"/openapi.json": record.exchanges, "/openapi-3.0.json": nil} {
		description := []byte(r.get(t, path).body)
		t.Run("check"+path, func(t *testing.T) { testenv.CheckOpenAPI(t, description, exchanges) })
		t.Run("lint"+path, func(t *testing.T) { testenv.LintOpenAPI(t, description) })
	}
	checkComplete(t, []byte(r.get(t, "/openapi.json").body), record.exchanges)
}

// checkComplete fails the test for an operation of the description that no
// exchange belongs to.
func checkComplete(t *testing.T, description []byte, exchanges []testenv.Exchange) {
	t.Helper()
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(description, &doc); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1.") || len(doc.Paths) < 6 {
		t.Errorf("version %s with %d paths", doc.OpenAPI, len(doc.Paths))
	}
	mux := http.NewServeMux()
	for path, operations := range doc.Paths {
		for method := range operations {
			mux.HandleFunc(fmt.Sprintf("%s %s", strings.ToUpper(method), path), func(http.ResponseWriter, *http.Request) {})
		}
	}
	seen := map[string]bool{}
	for _, e := range exchanges {
		req, err := http.NewRequest(e.Method, e.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, pattern := mux.Handler(req)
		seen[pattern] = true
	}
	for path, operations := range doc.Paths {
		for method := range operations {
			if pattern := strings.ToUpper(method) + " " + path; !seen[pattern] {
				t.Errorf("no request to %s", pattern)
			}
		}
	}
}

// A client that a well-known generator makes from the description works.
func TestGeneratedClient(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{})
	out := testenv.GeneratedClient(t, []byte(r.get(t, "/openapi-3.0.json").body), r.url)
	if want := "1000 true known 8\n"; out != want {
		t.Errorf("the client writes %q, want %q", out, want)
	}
}
