package server_test

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/server"
)

// twoTokens are one for everything and one for reading.
var twoTokens = []server.Token{{Name: "deploy", Value: "Deploy-0123456789abcdef"}, {Name: "grafana", Value: "Grafana-0123456789abcdef", ReadOnly: true}}

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
			if want == 403 && !strings.Contains(got.body, "read-only") {
				t.Errorf("%s", got.body)
			}
		}
	}
	for name, bad := range map[string][]server.Token{
		"same name":  {{Name: "a", Value: token}, {Name: "a", Value: token + "x"}},
		"same token": {{Name: "a", Value: token}, {Name: "b", Value: token}},
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

// However many wrong tokens an address sends, the log has them, and the right one passes.
func TestWrongTokens(t *testing.T) {
	r := serve(t, server.Options{Token: token})
	const wrong = "wrong-0123456789abcdef"
	for range 50 {
		if got := r.get(t, "/v1/range?since=1h", "Authorization", "Bearer "+wrong); got.status != 401 {
			t.Fatalf("a wrong token: %d %s", got.status, got.body)
		}
	}
	if got := r.do(t, "POST", "/login", strings.NewReader("token="+wrong), "Content-Type", "application/x-www-form-urlencoded"); got.status != 401 {
		t.Errorf("the form: %d", got.status)
	}
	logIn(t, r, token)
	if got := r.get(t, "/v1/range?since=1h", "Authorization", "Bearer "+token); got.status != 200 {
		t.Errorf("the right token: %d", got.status)
	}
	log := r.log.String()
	if n := strings.Count(log, `msg="wrong token" from=127.0.0.1:`); n != 51 || strings.Contains(log, wrong) {
		t.Errorf("%d lines in the log, want 51 without the token:\n%s", n, log)
	}
}

// A token must be long enough for 128 random bits.
func TestWeakTokens(t *testing.T) {
	for _, c := range []struct{ value, weakness string }{
		{"", "0 decimal digits, want 39"},
		{"012345678901234567890123456789012345678", "repeats"},
		{"012345678998765432101234567899876543201", ""},
		{"01234567899876543210123456789987654320", "38 decimal digits, want 39"},
		{"0123456789abcdeffedcba9876543210", ""},
		{"0123456789abcdefFEDCBA987654321", "31 hexadecimal digits, want 32"},
		{"0123456789abcdef0123456789abcdef", "repeats"},
		{"01234567a01234567a01234567a01234567", "repeats"},
		{"012345aa5432100012345aa543210000", "7 different characters, want 8"},
		{"012345aa5432100012345aa54321000b", ""},
		{"abcdefghijklmnopqrstuvwxyz", ""},
		{"abcdefghijklmnopqrstuvwxy", "25 digits and lower-case letters, want 26"},
		{"ABCDEFGHIJKLMNOPQRSTUVWXY2", ""},
		{"ABCDEFGHIJKLMNOPQRSTUVWX2", "25 digits and upper-case letters, want 26"},
		{"abcdefghijklmnopqrst-Z", ""},
		{"abcdefghijklmnopqrs-Z", "21 letters, digits and -._~+/, want 22"},
		{strings.Repeat("a", 100), "1 different characters, want 8"},
		{"a token with blanks in it, and long", "U+0020 at offset 1 "},
		{"0123456789abcdeffedcba987654321é", "U+00E9 at offset 31 "},
		{"\ufeff0123456789abcdeffedcba9876543210", "U+FEFF at offset 0 "},
		{"0123456789abcdef!fedcba9876543210", "U+0021 at offset 16 "},
		{"0123456789abcdef=fedcba9876543210", "U+003D at offset 16 "},
		{"0123456789abcdeffedcba987654321\x00", "U+0000 at offset 31 "},
		{"0123456789abcdeffedcba987654321\xff", "U+FFFD at offset 31 "},
		// Padding does not count.
		{"abcdefghijklmnopqrstuZ==", ""},
		{"abcdefghijklmnopqrstZ==", "21 letters, digits and -._~+/, want 22"},
		{"0123456789abcdeffedcba987654321=", "31 hexadecimal digits, want 32"},
		{"=======================================", "0 decimal digits, want 39"},
		// Signs between groups of other tokens do not count either.
		{"01234-56789-abcde-ffedc-ba987-65432-10", ""},
		{"01234-56789-abcde-ffedc-ba987-65432-1", "31 hexadecimal digits, want 32"},
		{"correct-horse-battery-staple", "25 digits and lower-case letters, want 26"},
		{"0123456789abcdef-0123456789abcdef", "repeats"},
		{"----------------------------------------", "0 decimal digits, want 39"},
		// At most 122 bits of a UUID are random.
		{"f47ac10b-58cc-4372-a567-0e02b2c3d479", "a UUID, of which at most 122 bits are random"},
		{"F47AC10B-58CC-1372-A567-0E02B2C3D479", "a UUID, of which at most 122 bits are random"},
		{"{f47ac10b-58cc-4372-a567-0e02b2c3d479}", "U+007B at offset 0 "},
		{"urn:uuid:f47ac10b-58cc-4372-a567-0e02b2c3d479", "U+003A at offset 3 "},
		{"f47ac10b58cc4372a5670e02b2c3d479", ""}, // cannot be told from other hexadecimal digits
	} {
		_, err := server.New(&server.Options{Tokens: []server.Token{{Name: "deploy", Value: c.value}}})
		if c.weakness == "" {
			if err != nil {
				t.Errorf("%q: %v", c.value, err)
			}
			continue
		}
		if !errors.Is(err, server.ErrToken) || !strings.Contains(fmt.Sprint(err), c.weakness) || !strings.Contains(fmt.Sprint(err), "token 1 of 1: ") || !strings.Contains(fmt.Sprint(err), "openssl rand -hex 16") {
			t.Errorf("%q: %v, want ErrToken with its number, %q and a command", c.value, err, c.weakness)
		}
		if err != nil && c.value != "" && strings.Contains(err.Error(), c.value) {
			t.Errorf("the error has the token: %v", err)
		}
	}
	// A user who swaps the columns of a line writes the token as its name.
	swapped := "0123456789abcdeffedcba9876543210"
	for _, all := range [][]server.Token{{{Name: swapped, Value: "alice"}}, {{Name: swapped, Value: rand.Text()}, {Name: swapped, Value: rand.Text()}}} {
		if _, err := server.New(&server.Options{Tokens: all}); err == nil || strings.Contains(err.Error(), swapped) {
			t.Errorf("%v: %v, want an error without the name", all, err)
		}
	}
	// Errors name where a token was read.
	there := "in tokens.txt, line 3"
	for what, all := range map[string][]server.Token{
		"is a UUID":                    {{Name: "a", Value: "f47ac10b-58cc-4372-a567-0e02b2c3d479", Position: there}},
		"has the name of another one":  {{Name: "a", Value: rand.Text()}, {Name: "a", Value: rand.Text(), Position: there}},
		"has the value of another one": {{Name: "a", Value: token}, {Name: "b", Value: token, Position: there}},
	} {
		_, err := server.New(&server.Options{Tokens: all})
		if text := fmt.Sprint(err); !strings.Contains(text, "token in tokens.txt, line 3: it "+what) || !strings.Contains(text, "openssl rand -hex 16") {
			t.Errorf("%v, want the position, %q and a command", err, what)
		}
	}
	// Less than one in 10,000 random tokens is refused, so these are always the same ones.
	source := mathrand.NewChaCha8([32]byte{})
	var random []server.Token
	for range 1000 {
		bytes := make([]byte, 16)
		_, _ = source.Read(bytes)
		for _, value := range []string{hex.EncodeToString(bytes), base64.RawURLEncoding.EncodeToString(bytes), base64.StdEncoding.EncodeToString(bytes), base32.StdEncoding.EncodeToString(bytes)} {
			random = append(random, server.Token{Name: value, Value: value})
		}
	}
	if _, err := server.New(&server.Options{Tokens: random}); err != nil {
		t.Errorf("random tokens: %v", err)
	}
}
