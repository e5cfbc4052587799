package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/client"
	"github.com/oidkit/oid/server/wire"
)

// In containers every replica has pid 1, the same port and often the same second of its
// start. Two such processes have one GPID and are two members all the same: each has its
// heartbeats, its load, its ids and its end.
func TestPods(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:8080", "127.0.0.1:8080", "[::]:8080", "10.0.0.7:8080"} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			r := serve(t, server.Options{})
			started := time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
			clock := func() string { return time.Now().UTC().Format(time.RFC3339Nano) }
			register := func(host string) wire.Registered {
				t.Helper()
				body := fmt.Sprintf(`{"name":"shop","pid":1,"address":%q,"started":%q,"host":%q,"clock":%q}`, address, started, host, clock())
				return decode[wire.Registered](t, r.post(t, "/v1/processes", body), 201)
			}
			a, b := register("podA"), register("podB")
			if a.GPID != b.GPID || a.Member == b.Member || a.ProcessBlock == b.ProcessBlock {
				t.Fatalf("registered as %+v and %+v, want one GPID and two members", a, b)
			}
			beat := func(m wire.Registered, bytes int) {
				t.Helper()
				body := fmt.Sprintf(`{"memory_bytes":%d,"clock":%q}`, bytes, clock())
				if got := decode[wire.Registered](t, r.post(t, memberPath(m.Member)+"/heartbeats", body), 200); got.Member != m.Member || got.ProcessBlock != m.ProcessBlock {
					t.Errorf("heartbeat of %s: %+v", m.Member, got)
				}
			}
			for range 3 {
				beat(a, 1<<20)
			}
			beat(b, 2<<20)
			many, err := json.Marshal(wire.Heartbeats{Heartbeats: []wire.HeartbeatOf{
				{Member: a.Member, Heartbeat: wire.Heartbeat{Load: wire.Load{MemoryBytes: new(int64(1 << 20))}}},
				{Member: b.Member, Heartbeat: wire.Heartbeat{Load: wire.Load{MemoryBytes: new(int64(2 << 20))}}},
			}})
			if err != nil {
				t.Fatal(err)
			}
			if got := decode[wire.HeartbeatResults](t, r.post(t, "/v1/members/heartbeats", string(many)), 200); got.Recorded != 2 || got.Problems != nil {
				t.Errorf("heartbeats of both: %+v", got)
			}

			named := "/v1/processes/" + url.PathEscape(a.GPID)
			for _, c := range []struct {
				wire.Registered
				host  string
				beats int64
				bytes int64
			}{{a, "podA", 5, 1 << 20}, {b, "podB", 3, 2 << 20}} {
				id := fmt.Sprintf("%08x%s00000001", time.Now().Unix(), c.ProcessBlock)
				trace := decode[wire.Inspection](t, r.get(t, "/v1/ids/"+id), 200).Trace
				if trace.Verdict != string(registry.Known) || !trace.Certain || trace.Processes[0].Member != c.Member || trace.Processes[0].Host != c.host ||
					trace.Before == nil || *trace.Before.MemoryBytes != c.bytes {
					t.Errorf("an id of %s: %+v", c.host, trace)
				}
				h := decode[wire.History](t, r.get(t, named+"?member="+c.Member), 200)
				if len(h.Processes) != 1 || h.Processes[0].Host != c.host || h.Processes[0].LastHeartbeat.Number != c.beats || int64(len(h.Samples)) != c.beats {
					t.Errorf("%s alone: %d samples of %+v", c.host, len(h.Samples), h.Processes)
				}
			}
			h := decode[wire.History](t, r.get(t, named), 200)
			if len(h.Processes) != 2 || len(h.Samples) != 8 {
				t.Errorf("both: %d records, %d samples", len(h.Processes), len(h.Samples))
			}
			load := map[string]int64{a.Member: 1 << 20, b.Member: 2 << 20}
			for i, sample := range h.Samples {
				if sample.MemoryBytes != nil && *sample.MemoryBytes != load[sample.Member] || i > 0 && sample.Time.Before(h.Samples[i-1].Time) {
					t.Errorf("sample %d of %s: %+v", i, sample.Member, sample)
				}
			}

			decode[wire.Registered](t, r.do(t, "DELETE", memberPath(a.Member)+"?reason=done", nil), 200)
			beat(b, 2<<20)
			states := map[string]string{}
			for _, p := range decode[wire.Processes](t, r.get(t, "/v1/processes?name=shop"), 200).Processes {
				states[p.Host+" "+p.Member] = p.State
			}
			if len(states) != 2 || states["podA "+a.Member] != "ended" || states["podB "+b.Member] != "alive" {
				t.Errorf("after the end of one: %v", states)
			}
			wantProblem(t, r.post(t, memberPath(a.Member)+"/heartbeats", `{}`), 409, "has ended")

			list := r.get(t, "/processes", "Accept", "text/html").body
			for _, m := range []wire.Registered{a, b} {
				page := r.get(t, "/processes/"+m.GPID+"?member="+m.Member, "Accept", "text/html")
				for _, text := range []string{"podA", "podB", "?member=" + a.Member, "?member=" + b.Member} {
					if !strings.Contains(list, text) || page.status != 200 || !strings.Contains(page.body, text) {
						t.Errorf("the list or the page of %s (%d) lack %s", m.Member, page.status, text)
					}
				}
				if want := fmt.Sprintf(`<dt>member</dt><dd><span class="id">%s</span>`, m.Member); !strings.Contains(page.body, want) {
					t.Errorf("the page of %s is that of another", m.Member)
				}
			}
			if got := r.get(t, "/processes/"+a.GPID+"?member=0123456789abcdef", "Accept", "text/html"); got.status != 404 {
				t.Errorf("the page of no member: status %d", got.status)
			}
		})
	}
}

// The history of two members goes on where it was cut, without a sample twice or none.
func TestHistoryOfMembersGoesOn(t *testing.T) {
	r := serve(t, server.Options{})
	start := time.Now().UTC().Format(time.RFC3339)
	var beats []string
	path := ""
	for range 3 {
		p := decode[wire.Registered](t, r.post(t, "/v1/processes", fmt.Sprintf(`{"name":"a","pid":1,"started":%q}`, start)), 201)
		beats = append(beats, fmt.Sprintf(`{"member":%q}`, p.Member))
		path = "/v1/processes/" + url.PathEscape(p.GPID)
	}
	slices.Sort(beats) // the first is read first, and at first the others have nothing
	for i := range 16 {
		now := beats[:1+i/8*2]
		r.post(t, "/v1/members/heartbeats", `{"heartbeats":[`+strings.Join(now, ",")+`]}`) // often in one millisecond
	}
	want := decode[wire.History](t, r.get(t, path), 200).Samples
	if len(want) != 35 {
		t.Errorf("%d samples", len(want))
	}
	for _, limit := range []int{1, 2, 3, 5, 34, 35} {
		seen := map[string]bool{}
		for since, n := "24h", 0; since != "" && n < 40; n++ {
			h := decode[wire.History](t, r.get(t, fmt.Sprintf("%s?limit=%d&since=%s", path, limit, url.QueryEscape(since))), 200)
			for _, sample := range h.Samples {
				key := sample.Member + sample.Time.String()
				if seen[key] {
					t.Errorf("limit %d: %s twice", limit, key)
				}
				seen[key] = true
			}
			since = h.Next
		}
		if len(seen) != len(want) {
			t.Errorf("limit %d: %d samples, want %d", limit, len(seen), len(want))
		}
	}
}

// An address that is the same on every host is replaced by that of the request, if this one
// tells hosts apart: also through a proxy that the server was told about, and no other.
func TestAddressOfThePod(t *testing.T) {
	const token = "0123456789abcdeffedcba9876543210"
	trusting := serve(t, server.Options{Token: token, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	plain := serve(t, server.Options{Token: token})
	for _, c := range []struct{ address, from, want string }{
		{"0.0.0.0:8080", "10.1.0.5", "10.1.0.5:8080"},
		{"[::]:8080", "10.1.0.6", "10.1.0.6:8080"},
		{"[::ffff:0.0.0.0]:8080", "10.1.0.6", "10.1.0.6:8080"},
		{"127.0.0.1:8080", "2001:db8::7", "[2001:db8::7]:8080"},
		{"127.8.0.1:80", "10.1.0.7", "10.1.0.7:80"},
		{"[::1]:80", "10.1.0.7", "10.1.0.7:80"},
		{"", "10.1.0.7", "10.1.0.7:0"},
		{"10.9.9.9:80", "10.1.0.7", "10.9.9.9:80"}, // it tells hosts apart
		{"0.0.0.0:8080", "", "0.0.0.0:8080"},       // the request comes from this host
		{"127.0.0.1:8080", "127.0.0.1", "127.0.0.1:8080"},
		{"", "", "127.0.0.1:0"},
	} {
		for _, r := range []*running{trusting, plain} {
			want := c.want
			if r == plain && c.want != c.address { // whom it does not believe
				want = strings.Replace(c.address, "[::ffff:0.0.0.0]", "0.0.0.0", 1)
				if c.address == "" {
					want = "127.0.0.1:0"
				}
			}
			body := fmt.Sprintf(`{"name":"a","pid":1,"address":%q}`, c.address)
			got := decode[wire.Registered](t, r.post(t, "/v1/processes", body, "Authorization", "Bearer "+token, "X-Forwarded-For", c.from), 201)
			if at := gpid.MustParse(got.GPID).Addr().String(); at != want {
				t.Errorf("%q from %q is at %s, want %s", c.address, c.from, at, want)
			}
		}
	}
}

// A registration with a key makes one member, however often it is sent, also to another
// server of the store and after a restart. The key is for that registration alone.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	store := fileStore(filepath.Join(t.TempDir(), "oid.db"))
	one, two := serve(t, server.Options{Open: store}), serve(t, server.Options{Open: store})
	const key = "4d0cf6a9-62b1-4f3e"
	body := `{"name":"shop","pid":1,"address":"0.0.0.0:8080","host":"podA"}`
	register := func(r *running, body string, headers ...string) reply {
		t.Helper()
		return r.post(t, "/v1/processes", body, headers...)
	}
	first := decode[wire.Registered](t, register(one, body, "Idempotency-Key", key), 201)
	time.Sleep(1100 * time.Millisecond) // its start, which it does not say, would be another
	for _, r := range []*running{one, two} {
		if again := decode[wire.Registered](t, register(r, body, "Idempotency-Key", key), 201); again.Member != first.Member || again.GPID != first.GPID || again.ProcessBlock != first.ProcessBlock {
			t.Errorf("again: %+v, want %+v", again, first)
		}
	}
	if err := two.stop(); err != nil {
		t.Fatal(err)
	}
	two = serve(t, server.Options{Open: store})
	await(t, "the registry", func() bool { return two.get(t, "/v1/processes").status == 200 })
	decode[wire.Registered](t, register(two, body, "Idempotency-Key", key), 201)
	for _, other := range []string{
		strings.Replace(body, `"pid":1`, `"pid":2`, 1), strings.Replace(body, "8080", "8081", 1), strings.Replace(body, "podA", "podB", 1),
		strings.Replace(body, "shop", "mail", 1), strings.Replace(body, "{", `{"started":"2026-01-01T00:00:00Z",`, 1), strings.Replace(body, "{", `{"evidence_ids":["`+objectid.New().String()+`"],`, 1),
	} {
		wantProblem(t, register(two, other, "Idempotency-Key", key), 409, "another process was registered with the same key")
	}
	for _, bad := range []string{"0123456789abcde", strings.Repeat("x", 201), "0123456789 abcdef", "0123456789abcdé"} {
		wantProblem(t, register(one, body, "Idempotency-Key", bad), 422, "header.Idempotency-Key")
	}
	shops := func() int {
		return len(decode[wire.Processes](t, one.get(t, "/v1/processes?name=shop"), 200).Processes)
	}
	if n := shops(); n != 1 {
		t.Errorf("%d members with one key", n)
	}
	decode[wire.Registered](t, register(one, body), 201)
	decode[wire.Registered](t, register(two, body), 201)
	if n := shops(); n != 3 {
		t.Errorf("%d members, want that of the key and two without", n)
	}
	decode[wire.Registered](t, one.do(t, "DELETE", memberPath(first.Member), nil), 200)
	wantProblem(t, register(one, body, "Idempotency-Key", key), 409, "has ended")
}

// A client whose answers get lost on the way registers once.
func TestLostAnswerOfARegistration(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{})
	server, err := url.Parse(r.url)
	if err != nil {
		t.Fatal(err)
	}
	var lose atomic.Int64
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(server) },
		ModifyResponse: func(res *http.Response) error {
			if res.StatusCode == http.StatusCreated && lose.Add(-1) >= 0 {
				panic(http.ErrAbortHandler)
			}
			return nil
		},
		ErrorLog: log.New(io.Discard, "", 0),
	})
	defer proxy.Close()
	members := func(name string) int {
		t.Helper()
		return len(decode[wire.Processes](t, r.get(t, "/v1/processes?name="+name), 200).Processes)
	}
	// The transport of Go repeats a request with such a key by itself, on a connection that it
	// has used before.
	c := &client.Client{URL: proxy.URL, HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	lose.Store(2)
	if _, err := c.Register(t.Context(), wire.Registration{Name: "patient", PID: 1}); err != nil || members("patient") != 1 {
		t.Errorf("two lost answers: %v, %d members", err, members("patient"))
	}
	c.Retries = -1
	lose.Store(1)
	mine := wire.Registration{Name: "again", PID: 1, Key: "a-key-of-the-caller"}
	if _, err := c.Register(t.Context(), mine); err == nil {
		t.Error("a lost answer is no error")
	}
	if _, err := c.Register(t.Context(), mine); err != nil || members("again") != 1 {
		t.Errorf("again with the same key: %v, %d members", err, members("again"))
	}
	lose.Store(1)
	for range 2 {
		_, _ = c.Register(t.Context(), wire.Registration{Name: "forgetful", PID: 1})
	}
	if n := members("forgetful"); n != 2 {
		t.Errorf("%d members with two keys", n)
	}
}
