package server_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store"
)

const token = "A-token-0f-some-length"

// everywhere makes a test's client a trusted proxy.
var everywhere = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}

func TestTokenIsWanted(t *testing.T) {
	// Without a token no other address than a loopback one is served.
	s, err := server.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context(), l); !errors.Is(err, server.ErrToken) {
		t.Fatalf("Serve on every address without a token: %v, want ErrToken", err)
	}
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
		c.Close()
		t.Error("the listener is still open")
	}
	if _, err := server.New(&server.Options{Token: "short"}); !errors.Is(err, server.ErrToken) {
		t.Errorf("a token of 5 characters: %v, want ErrToken", err)
	}

	r := serveAsIs(t, server.Options{Token: token, TrustedProxies: everywhere}, "0.0.0.0:0")
	for _, path := range []string{"/v1/ids/507f1f77bcf86cd799439011", "/v1/processes", "/metrics", "/openapi.json", "/", "/range", "/v1/nothing", "/nothing"} {
		for name, header := range map[string]string{
			"none": "", "wrong": "Bearer A-token-0f-some-lengtH", "prefix": "Bearer A-token-0f-some", "longer": "Bearer " + token + "x",
			"basic": "Basic " + token, "bare": token,
		} {
			got := r.get(t, path, "Authorization", header)
			if got.status != 401 || got.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s with token %s: status %d, want 401", path, name, got.status)
			}
		}
	}
	if got := r.get(t, "/v1/ids/507f1f77bcf86cd799439011", "Authorization", "bearer "+token); got.status != 200 {
		t.Errorf("with the token: %d %s", got.status, got.body)
	}
	for _, path := range []string{"/livez", "/readyz", "/login"} {
		if got := r.get(t, path); got.status != 200 {
			t.Errorf("%s without the token: status %d", path, got.status)
		}
	}
}

func TestLoggingIn(t *testing.T) {
	r := serve(t, server.Options{Token: token})
	got := r.get(t, "/range?since=1h", "Accept", "text/html")
	if got.status != 303 || got.header.Get("Location") != "/login?next="+url.QueryEscape("/range?since=1h") {
		t.Fatalf("%d %v", got.status, got.header)
	}
	logIn := func(with, next string) reply {
		t.Helper()
		form := url.Values{"token": {with}, "next": {next}}.Encode()
		return r.do(t, "POST", "/login", strings.NewReader(form), "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
	}
	if got := logIn("wrong", "/"); got.status != 401 || got.header.Get("Set-Cookie") != "" {
		t.Errorf("a wrong token: %d %v", got.status, got.header)
	}
	for next, want := range map[string]string{"/range?since=1h": "/range?since=1h", "//evil.example": "/", "https://evil.example": "/", `/\evil.example`: "/", "": "/"} {
		if got := logIn(token, next); got.status != 303 || got.header.Get("Location") != want {
			t.Errorf("next %q: %d to %q, want %q", next, got.status, got.header.Get("Location"), want)
		}
	}
	set := logIn(token, "/").header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(set, want) {
			t.Errorf("the cookie lacks %s: %s", want, set)
		}
	}
	cookie, _, _ := strings.Cut(set, ";")
	if strings.Contains(set, url.QueryEscape(token)) || strings.Contains(set, token) {
		t.Error("the cookie holds the token itself")
	}
	if got := r.get(t, "/range", "Cookie", cookie, "Accept", "text/html"); got.status != 200 {
		t.Errorf("with the cookie: %d", got.status)
	}
	if got := r.get(t, "/range", "Cookie", cookie+"0", "Accept", "text/html"); got.status != 303 {
		t.Errorf("with another cookie: %d", got.status)
	}
	// Who needs no login, or has one, gets on.
	next := "/login?next=" + url.QueryEscape("/range?since=1h")
	if got := r.get(t, next, "Cookie", cookie); got.status != 303 || got.header.Get("Location") != "/range?since=1h" {
		t.Errorf("the form for one who is logged in: %d to %q", got.status, got.header.Get("Location"))
	}
	if got := r.get(t, next, "Cookie", cookie+"0"); got.status != 200 || !strings.Contains(got.body, `name="token"`) {
		t.Errorf("the form with another cookie: %d", got.status)
	}
	open := serve(t, server.Options{})
	for _, got := range []reply{open.get(t, next), open.do(t, "POST", "/login", strings.NewReader("next=%2Frange%3Fsince%3D1h"), "Content-Type", "application/x-www-form-urlencoded")} {
		if got.status != 303 || got.header.Get("Location") != "/range?since=1h" || got.header.Get("Set-Cookie") != "" {
			t.Errorf("a server without tokens: %d to %q", got.status, got.header.Get("Location"))
		}
	}
}

// A web site can point its own name at 127.0.0.1. The browser then sends that
// name.
func TestHostOnLoopback(t *testing.T) {
	r := serve(t, server.Options{})
	port := r.url[strings.LastIndexByte(r.url, ':'):]
	for host, want := range map[string]int{
		"localhost" + port: 200, "LOCALHOST" + port: 200, "127.0.0.1" + port: 200, "127.9.9.9": 200, "[::1]" + port: 200, "localhost": 200, "[::1]": 200,
		"evil.example": 421, "evil.example" + port: 421, "localhost.evil.example" + port: 421, "127.0.0.1.evil.example": 421, "10.0.0.1" + port: 421, "0.0.0.0" + port: 421,
	} {
		for _, path := range []string{"/v1/range?since=1h", "/", "/livez", "/static/x/y"} {
			got := r.get(t, path, "Host", host)
			if (got.status == 421) != (want == 421) {
				t.Errorf("%s with Host %s: status %d, want %d", path, host, got.status, want)
			}
		}
	}
}

func TestCrossOrigin(t *testing.T) {
	r := serve(t, server.Options{})
	for _, c := range []struct {
		header, value string
		want          int
	}{
		{"Sec-Fetch-Site", "same-origin", 200},
		{"Sec-Fetch-Site", "none", 200},
		{"Sec-Fetch-Site", "cross-site", 403},
		{"Sec-Fetch-Site", "same-site", 403},
		{"Origin", r.url, 200},
		{"Origin", "https://evil.example", 403},
		{"Origin", "null", 403},
	} {
		if got := r.post(t, "/v1/ids", `{}`, c.header, c.value); got.status != c.want {
			t.Errorf("%s: %s: status %d, want %d", c.header, c.value, got.status, c.want)
		}
		login := r.do(t, "POST", "/login", strings.NewReader("token=x"), "Content-Type", "application/x-www-form-urlencoded", c.header, c.value)
		if (login.status == 403) != (c.want == 403) {
			t.Errorf("login with %s: %s: status %d", c.header, c.value, login.status)
		}
	}
}

func TestHeaders(t *testing.T) {
	r := serve(t, server.Options{OpenLocks: withLocks(t)})
	for _, path := range []string{"/", "/nothing", "/v1/range?since=1h", "/v1/nothing", "/livez"} {
		h := r.get(t, path, "Accept", "text/html").header
		if p := h.Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none';") || strings.Contains(p, "unsafe") || !strings.Contains(p, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", path, p)
		}
		if p := h.Get("Cross-Origin-Resource-Policy"); p != "same-origin" {
			t.Errorf("%s: resource policy %q", path, p)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, h)
		}
	}
	// The page needs nothing from elsewhere, and nothing that the policy forbids.
	for _, path := range append(viewPaths, "/login", "/nothing") {
		body := r.get(t, path, "Accept", "text/html").body
		for _, bad := range []string{"<style", " style=", " onclick=", "src=\"http", "href=\"http", "//cdn"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s has %q in it", path, bad)
			}
		}
	}
}

// What went wrong inside is in the log and not in the answer.
func TestNothingOfTheInsideIsTold(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret-folder", "oid.db")
	r := serveAsIs(t, server.Options{
		Open: func(context.Context) (store.Store, error) {
			return nil, errors.New("open " + secret + ": no such file")
		},
		Limits: server.Limits{Store: time.Second},
	}, "127.0.0.1:0")
	for _, path := range []string{"/v1/processes", "/processes", "/v1/ids/507f1f77bcf86cd799439011", "/?id=507f1f77bcf86cd799439011", "/readyz", "/range", "/metrics"} {
		got := r.get(t, path, "Accept", "text/html")
		if strings.Contains(got.body, "secret-folder") || strings.Contains(got.body, "goroutine ") && path != "/metrics" {
			t.Errorf("%s reveals internals: %s", path, got.body)
		}
	}
	wantProblem(t, r.get(t, "/v1/processes"), 503, "the store does not answer")
	if r.get(t, "/v1/processes").header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if !strings.Contains(r.log.String(), "secret-folder") {
		t.Error("the log does not say what is wrong with the store")
	}
	// The rest goes on.
	if got := r.post(t, "/v1/ids", `{"count":3}`); got.status != 200 {
		t.Errorf("ids: %d", got.status)
	}
	if got := decode[wire.Inspection](t, r.get(t, "/v1/ids/507f1f77bcf86cd799439011"), 200); got.TraceError == "" {
		t.Error("an id is not traced, and it is not said why")
	}
	if got := r.get(t, "/readyz"); got.status != 200 || !strings.Contains(got.body, "store") {
		t.Errorf("readyz: %+v", got)
	}
}

// A store that comes later is found, and the generator is then the registry's.
func TestStoreComesLater(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "not-yet", "oid.db")
	r := serveAsIs(t, server.Options{Open: fileStore(path)}, "127.0.0.1:0")
	before := decode[wire.IDs](t, r.post(t, "/v1/ids", `{}`), 200).IDs[0]
	wantProblem(t, r.get(t, "/v1/processes"), 503, "store")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	await(t, "the registry", func() bool { return r.get(t, "/v1/processes").status == 200 })
	after := decode[wire.IDs](t, r.post(t, "/v1/ids", `{}`), 200).IDs[0]
	if got := decode[wire.Inspection](t, r.get(t, "/v1/ids/"+after.String()), 200); got.Trace == nil || got.Trace.Verdict != "known" {
		t.Errorf("trace of an id made afterwards: %+v", got.Trace)
	}
	if before.String()[8:16] == after.String()[8:16] {
		t.Error("both generators have the same block")
	}
}

// The store is locked by another program in the middle.
func TestStoreIsLocked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "oid.db")
	r := serve(t, server.Options{Open: fileStore(path), Limits: server.Limits{Store: 500 * time.Millisecond}})
	await(t, "the registry", func() bool { return r.get(t, "/v1/processes").status == 200 })
	unlock := lockDatabase(t, path)
	join := `{"name":"x","pid":1}`
	began := time.Now()
	wantProblem(t, r.post(t, "/v1/processes", join), 503, "the store does not answer")
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("it took %v to say so", took)
	}
	if got := r.post(t, "/v1/ids", `{"count":3}`); got.status != 200 {
		t.Errorf("ids: %d", got.status)
	}
	if got := r.get(t, "/?id=507f1f77bcf86cd799439011", "Accept", "text/html"); got.status != 200 || !strings.Contains(got.body, "2012-10-17") {
		t.Errorf("the page: %d", got.status)
	}
	unlock()
	await(t, "the store", func() bool { return r.post(t, "/v1/processes", join).status == 201 })
}

// A store may take longer to answer than a client may take to ask.
func TestStoreIsSlow(t *testing.T) {
	testenv.Long(t, "takes seconds")
	t.Parallel()
	path := filepath.Join(t.TempDir(), "oid.db")
	r := serve(t, server.Options{Open: fileStore(path), Limits: server.Limits{Header: 300 * time.Millisecond, Request: 300 * time.Millisecond, Store: 30 * time.Second}})
	await(t, "the registry", func() bool { return r.get(t, "/v1/processes").status == 200 })
	unlock := lockDatabase(t, path)
	go func() {
		time.Sleep(7 * time.Second)
		unlock()
	}()
	if got := r.post(t, "/v1/processes", `{"name":"x","pid":1}`); got.status != 201 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func await(t testing.TB, what string, check func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !check(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not after %v", what, patience)
		}
	}
}
