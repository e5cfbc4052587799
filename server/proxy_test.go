package server_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// Without a token only this machine may use the server, and a proxy would let in
// everybody that it lets in.
func TestProxyWithoutToken(t *testing.T) {
	r := serve(t, server.Options{BaseURL: "https://ids.example/oid/", TrustedProxies: everywhere})
	for _, header := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded", "Via", "X-Real-Ip"} {
		for _, path := range []string{"/v1/range?since=1h", "/", "/login", "/static/x/y", "/metrics"} {
			got := r.get(t, path, header, "1.2.3.4")
			if got.status != 403 || !strings.Contains(got.body, "--token-file") || !strings.Contains(got.body, header) {
				t.Errorf("%s with %s: %d %s", path, header, got.status, got.body)
			}
		}
	}
	if got := r.get(t, "/livez", "Via", "1.1 proxy"); got.status != 200 {
		t.Errorf("livez: %d", got.status)
	}
	got := r.get(t, "/v1/range?since=1h", "Host", "ids.example")
	if got.status != 421 || !strings.Contains(got.body, "--base-url") || !strings.Contains(got.body, "--token-file") {
		t.Errorf("another host: %d %s", got.status, got.body)
	}
}

// With a token and a base URL everything is under the path of that URL, however the
// proxy passes it on.
func TestBaseURL(t *testing.T) {
	const token = "0123456789abcdeffedcba9876543210"
	r := serve(t, server.Options{Token: token, BaseURL: "https://ids.example/oid/", OpenLocks: withLocks(t)})
	auth := []string{"Authorization", "Bearer " + token}
	for host, want := range map[string]int{
		"ids.example": 200, "IDS.example": 200, "127.0.0.1:8024": 200, "localhost": 200, "10.1.2.3:8024": 200,
		"other.example": 421, "ids.example.evil.example": 421,
	} {
		for _, path := range []string{"/oid/v1/range?since=1h", "/v1/range?since=1h"} {
			if got := r.get(t, path, append(auth, "Host", host)...); got.status != want {
				t.Errorf("%s at %s: %d, want %d", path, host, got.status, want)
			}
		}
	}
	for _, path := range append(viewPaths, "/login", "/nothing") {
		body := r.get(t, "/oid"+path, append(auth, "Accept", "text/html")...).body
		for _, attribute := range []string{` href="/`, ` src="/`, ` action="/`} {
			if n, under := strings.Count(body, attribute), strings.Count(body, attribute+"oid/"); n != under {
				t.Errorf("%s: %d of %d links begin with%soid/", path, under, n, attribute)
			}
		}
	}
	got := r.get(t, "/oid/processes?state=dead", "Host", "ids.example", "Accept", "text/html")
	if want := "/oid/login?next=%2Fprocesses%3Fstate%3Ddead"; got.status != 303 || got.header.Get("Location") != want {
		t.Errorf("%d to %q, want %q", got.status, got.header.Get("Location"), want)
	}
	login := r.do(t, "POST", "/oid/login", strings.NewReader("token="+token+"&next=%2Fprocesses"), "Content-Type", "application/x-www-form-urlencoded",
		"Host", "127.0.0.1:8024", "Origin", "https://ids.example") // as behind a proxy that changes the host
	set := login.header.Get("Set-Cookie")
	if login.status != 303 || login.header.Get("Location") != "/oid/processes" || !strings.Contains(set, "Path=/oid/;") || !strings.Contains(set, "Secure") {
		t.Errorf("login: %d to %q, cookie %q", login.status, login.header.Get("Location"), set)
	}
	if got := r.get(t, "/oid", append(auth, "Accept", "text/html")...); got.status != 308 && got.status != 303 && got.status != 301 || got.header.Get("Location") != "/oid/" {
		t.Errorf("without the slash: %d to %q", got.status, got.header.Get("Location"))
	}
	if got := r.get(t, "/oidx/v1/range", auth...); got.status != 404 {
		t.Errorf("a path that only begins alike: %d", got.status)
	}
	if got := r.get(t, "/openapi.json", auth...); !strings.Contains(got.body, `"url":"/oid/"`) {
		t.Errorf("the description: %.300s", got.body)
	}
	for _, bad := range []string{"ids.example", "ftp://ids.example/", "https://", "https://ids.example/?a=b", "https://ids.example/a\"b/", "https://u:p@ids.example/", "::"} {
		if _, err := server.New(&server.Options{BaseURL: bad}); err == nil {
			t.Errorf("base URL %q is accepted", bad)
		}
	}
}

// The address of a client is what a trusted proxy says, and nothing that the client
// says itself.
func TestForwardedFor(t *testing.T) {
	const token = "0123456789abcdeffedcba9876543210"
	register := func(r *running, header ...string) string {
		t.Helper()
		got := r.post(t, "/v1/processes", `{"name":"a","pid":1}`, append([]string{"Authorization", "Bearer " + token}, header...)...)
		gpid := decode[wire.Registered](t, got, 201).GPID
		return gpid[:strings.LastIndex(gpid[:strings.LastIndex(gpid[:strings.LastIndex(gpid, ":")], ":")], ":")]
	}
	trusting := serve(t, server.Options{Token: token, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}})
	plain := serve(t, server.Options{Token: token})
	for _, c := range []struct{ header, want string }{
		{"203.0.113.7", "203.0.113.7"},
		{"9.9.9.9, 203.0.113.7", "203.0.113.7"}, // the first was made up
		{"203.0.113.7, 10.1.1.1", "203.0.113.7"},
		{"203.0.113.7:4711", "203.0.113.7"},
		{"2001:db8::7", "[2001:db8::7]"},
		{"unknown", "127.0.0.1"},
		{"203.0.113.7, nonsense", "127.0.0.1"},
		{"", "127.0.0.1"},
	} {
		if got := register(trusting, "X-Forwarded-For", c.header); got != c.want {
			t.Errorf("X-Forwarded-For %q: the process is at %s, want %s", c.header, got, c.want)
		}
		if got := register(plain, "X-Forwarded-For", c.header); got != "127.0.0.1" {
			t.Errorf("X-Forwarded-For %q from anybody: the process is at %s", c.header, got)
		}
	}
	// Nor is the scheme.
	for r, want := range map[*running]bool{trusting: true, plain: false} {
		login := r.do(t, "POST", "/login", strings.NewReader("token="+token), "Content-Type", "application/x-www-form-urlencoded", "X-Forwarded-Proto", "https")
		if secure := strings.Contains(login.header.Get("Set-Cookie"), "Secure"); secure != want {
			t.Errorf("the cookie is %q, want Secure %t", login.header.Get("Set-Cookie"), want)
		}
	}
}
