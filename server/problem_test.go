package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/oidkit/oid/server"
)

// A problem names what is wrong in a request, and does not repeat the request.
func TestProblemsAreShort(t *testing.T) {
	t.Parallel()
	const longest = 3000
	r := serve(t, server.Options{})
	long := strings.Repeat("x", 900_000)
	for name, got := range map[string]reply{
		"value":      r.post(t, "/v1/ids", `{"count":"`+long+`"}`),
		"no JSON":    r.post(t, "/v1/ids", long),
		"property":   r.post(t, "/v1/ids", `{"`+long+`":1}`),
		"object":     r.post(t, "/v1/ids", `{"count":1,"a":[`+strings.Repeat("1,", 400_000)+`1]}`),
		"id":         r.post(t, "/v1/processes", `{"name":"x","pid":1,"evidence_ids":["`+long+`"]}`),
		"many":       r.post(t, "/v1/members/heartbeats", `{"heartbeats":[`+strings.Repeat(`{"member":1},`, 9999)+`{}]}`),
		"path":       r.get(t, "/v1/ids/"+long[:5000]),
		"query":      r.get(t, "/v1/range?since="+long[:5000]),
		"form field": r.post(t, "/new", "count="+long, "Content-Type", "application/x-www-form-urlencoded", "Accept", "*/*"),
	} {
		if got.status < 400 || got.status > 422 || len(got.body) > longest && name != "form field" || len(got.body) > 20_000 {
			t.Errorf("%s: status %d with %d bytes: %.500s", name, got.status, len(got.body), got.body)
		}
	}
	many := r.post(t, "/v1/members/heartbeats", `{"heartbeats":[`+strings.Repeat(`{"member":1},`, 9999)+`{}]}`)
	if !strings.Contains(many.body, `{"message":"and 9980 more"}`) {
		t.Errorf("many: %s", many.body)
	}
}

// Every problem has a type, and says what is wrong in numbers that people read.
func TestProblemsHaveTypes(t *testing.T) {
	r := serve(t, server.Options{OpenLocks: withLocks(t, "a")})
	for _, c := range []struct {
		got        reply
		kind, text string
	}{
		{r.post(t, "/v1/processes", `{"name":"shop","pid":4294967296}`), "invalid", "expected number <= 4294967295"},
		{r.post(t, "/v1/ids", `{`), "malformed", "not valid JSON"},
		{r.post(t, "/v1/ids", `{}`, "Accept", "image/png"), "not-acceptable", "text/plain"},
		{r.post(t, "/v1/ids", `{}`, "Content-Type", "text/xml"), "media-type", "text/xml"},
		{r.get(t, "/v1/nothing"), "no-endpoint", "no such endpoint"},
		{r.get(t, "/v1/range", "Host", "example.org"), "wrong-host", "localhost"},
		{r.do(t, "DELETE", "/v1/ids", nil), "method-not-allowed", "POST"},
		{r.get(t, "/v1/locks/free"), "no-lock", `lock \"free\"`},
		{r.get(t, "/v1/processes/10.0.0.7:1:1795166651598985:1?member=0123456789abcdef"), "not-found", "10.0.0.7:1:1795166651598985:1 and the member key 0123456789abcdef"},
		{r.post(t, memberPath("0123456789abcdef")+"/heartbeats", `{}`), "not-found", "0123456789abcdef"},
		{r.do(t, "DELETE", memberPath("0123456789abcdef"), nil), "not-found", "0123456789abcdef"},
	} {
		var p struct{ Type string }
		if err := json.Unmarshal([]byte(c.got.body), &p); err != nil || !strings.HasSuffix(p.Type, "/docs/reference/api.md#"+c.kind) || !strings.Contains(c.got.body, c.text) {
			t.Errorf("want the type %s and %q: %s", c.kind, c.text, c.got.body)
		}
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct{ Headers map[string]any }
		}
	}
	if err := json.Unmarshal([]byte(r.get(t, "/openapi.json").body), &doc); err != nil {
		t.Fatal(err)
	}
	for path, operations := range doc.Paths {
		for method, op := range operations {
			if op.Responses["503"].Headers["Retry-After"] == nil {
				t.Errorf("%s %s: 503 has no Retry-After", method, path)
			}
		}
	}
	for _, path := range []string{"/v1/ids/507f1f77bcf86cd799439011", "/v1/ids/no", "/v1/no", "/v1/members/0123456789abcdef", "/no", "/readyz", "/healthz"} {
		if got := r.get(t, path).header["Cache-Control"]; len(got) != 1 || got[0] != "no-store" {
			t.Errorf("Cache-Control of %s: %q", path, got)
		}
	}
}
