package server_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/server"
)

// twoTokens are one for everything and one for reading.
var twoTokens = []server.Token{{Name: "deploy", Value: "deploy-0123456789"}, {Name: "grafana", Value: "grafana-0123456789", ReadOnly: true}}

func TestTokens(t *testing.T) {
	r := serve(t, server.Options{Tokens: twoTokens})
	bearer := func(i int) []string { return []string{"Authorization", "Bearer " + twoTokens[i].Value} }
	for _, c := range []struct {
		method, path, body string
		all, reading       int
	}{
		{"GET", "/v1/processes", "", 200, 200},
		{"GET", "/metrics", "", 200, 200},
		{"GET", "/", "", 200, 200},
		{"POST", "/v1/ids", `{"count":1}`, 200, 403},
		{"POST", "/v1/processes", `{"name":"a","pid":1}`, 201, 403},
		{"DELETE", "/v1/members/0123456789abcdef", "", 404, 403},
		{"POST", "/v1/census", "507f1f77bcf86cd799439011\n", 200, 200},
	} {
		for i, want := range []int{c.all, c.reading} {
			got := r.do(t, c.method, c.path, strings.NewReader(c.body), append(bearer(i), "Content-Type", "application/json")...)
			if got.status != want {
				t.Errorf("%s %s with %s: %d, want %d: %s", c.method, c.path, twoTokens[i].Name, got.status, want, got.body)
			}
			if want == 403 && !strings.Contains(got.body, "reading only") {
				t.Errorf("%s", got.body)
			}
		}
	}
	for name, bad := range map[string][]server.Token{
		"short":      {{Name: "a", Value: "short"}},
		"same name":  {{Name: "a", Value: "0123456789abcdef"}, {Name: "a", Value: "0123456789abcdeg"}},
		"same token": {{Name: "a", Value: "0123456789abcdef"}, {Name: "b", Value: "0123456789abcdef"}},
	} {
		if _, err := server.New(&server.Options{Tokens: bad}); !errors.Is(err, server.ErrToken) {
			t.Errorf("%s: %v, want ErrToken", name, err)
		}
	}
}

// logIn returns the cookie of a login.
func logIn(t *testing.T, r *running, token string) string {
	t.Helper()
	got := r.do(t, "POST", "/login", strings.NewReader("token="+token), "Content-Type", "application/x-www-form-urlencoded")
	cookie, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	if got.status != 303 || cookie == "" {
		t.Fatalf("login: %d %s", got.status, got.body)
	}
	return cookie
}

// A login ends after its time, with its token, and when its user logs out; others go
// on.
func TestSessions(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{Tokens: twoTokens, Session: time.Minute})
	one, two := logIn(t, r, twoTokens[1].Value), logIn(t, r, twoTokens[1].Value)
	if one == two {
		t.Error("two logins have the same cookie")
	}
	for _, c := range []string{one, two} {
		if got := r.get(t, "/v1/processes", "Cookie", c); got.status != 200 {
			t.Errorf("logged in: %d", got.status)
		}
		if got := r.post(t, "/v1/ids", `{}`, "Cookie", c); got.status != 403 {
			t.Errorf("a session of a token for reading: %d", got.status)
		}
	}
	page := r.get(t, "/range", "Cookie", one, "Accept", "text/html").body
	if !strings.Contains(page, `action="/logout"`) || !strings.Contains(page, `href="/openapi.json"`) {
		t.Error("the page has no way to log out, or to the description of the API")
	}
	if page := r.get(t, "/login", "Accept", "text/html").body; strings.Contains(page, "openapi.json") {
		t.Error("the login leads to the description of the API, which a stranger may not see")
	}
	out := r.do(t, "POST", "/logout", nil, "Cookie", one, "Accept", "text/html")
	if out.status != 303 || !strings.Contains(out.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("logout: %d %v", out.status, out.header)
	}
	if got := r.get(t, "/v1/processes", "Cookie", one); got.status != 401 {
		t.Errorf("after the logout: %d", got.status)
	}
	if got := r.get(t, "/v1/processes", "Cookie", two); got.status != 200 {
		t.Errorf("the other session: %d", got.status)
	}
	// A session outlives the server, but not its token.
	again := serve(t, server.Options{Tokens: twoTokens, Session: time.Minute})
	if got := again.get(t, "/v1/processes", "Cookie", two); got.status != 200 {
		t.Errorf("after a restart: %d", got.status)
	}
	without := serve(t, server.Options{Tokens: twoTokens[:1]})
	if got := without.get(t, "/v1/processes", "Cookie", two); got.status != 401 {
		t.Errorf("without its token: %d", got.status)
	}
	short := serve(t, server.Options{Tokens: twoTokens, Session: time.Second})
	three := logIn(t, short, twoTokens[1].Value)
	time.Sleep(2 * time.Second)
	if got := short.get(t, "/v1/processes", "Cookie", three); got.status != 401 {
		t.Errorf("after its time: %d", got.status)
	}
}

// Those who guess wait longer and longer, each address by itself, and the log shows
// them. A client whose token was right goes on.
func TestGuessing(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{Token: token, TrustedProxies: everywhere})
	try := func(from, token string) reply {
		return r.get(t, "/v1/range?since=1h", "Authorization", "Bearer "+token, "X-Forwarded-For", from)
	}
	if got := try("10.0.0.1", token); got.status != 200 {
		t.Fatalf("%d", got.status)
	}
	checked, refused := 0, 0
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		switch got := try("10.0.0.1", "wrong"); got.status {
		case 401:
			checked++
		case 429:
			refused++
			if got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "wait") {
				t.Errorf("%v %s", got.header, got.body)
			}
		default:
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	// 4 without a delay, then after 0.5 s and 1 s.
	if checked < 5 || checked > 6 || refused == 0 {
		t.Errorf("%d tokens were looked at in 2 s and %d not, want 6, or 5 on a slow machine", checked, refused)
	}
	if got := try("10.0.0.1", token); got.status != 200 {
		t.Errorf("the right token of a client that had it before: %d", got.status)
	}
	if got := try("10.0.0.2", token); got.status != 200 {
		t.Errorf("another address: %d", got.status)
	}
	testenv.Await(t, "the next token that is looked at", func() error { // then none is for 4 s
		if got := try("10.0.0.1", "wrong"); got.status != 401 {
			return fmt.Errorf("status %d", got.status)
		}
		return nil
	})
	checked++
	login := r.do(t, "POST", "/login", strings.NewReader("token=x"), "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html", "X-Forwarded-For", "10.0.0.1")
	if login.status != 429 || !strings.Contains(login.body, "Wait") {
		t.Errorf("the form: %d", login.status)
	}
	right := r.do(t, "POST", "/login", strings.NewReader("token="+token), "Content-Type", "application/x-www-form-urlencoded", "X-Forwarded-For", "10.0.0.1")
	if right.status != 303 {
		t.Errorf("the form with the right token: %d", right.status)
	}
	log := r.log.String()
	if n := strings.Count(log, `msg="wrong token" from=10.0.0.1 wrong=`); n != checked || strings.Contains(log, "some length") {
		t.Errorf("%d lines in the log, want %d:\n%s", n, checked, log)
	}
}
