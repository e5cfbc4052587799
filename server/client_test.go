package server_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/client"
	"github.com/oidkit/oid/server/wire"
)

// read returns the answer to a GET with a token.
func read[Out any](t *testing.T, r *running, token, path string) Out {
	t.Helper()
	return decode[Out](t, r.get(t, path, "Authorization", "Bearer "+token), 200)
}

func TestClient(t *testing.T) {
	r := serve(t, server.Options{Token: "A-token-0f-some-length"})
	ctx := t.Context()
	c := &client.Client{URL: r.url + "/", Token: "A-token-0f-some-length"}
	ids := make([]objectid.ID, 10_000)
	if err := c.NewIDs(ctx, ids); err != nil {
		t.Fatal(err)
	}
	for i := range ids[1:] {
		if ids[i+1].Compare(ids[i]) <= 0 {
			t.Fatalf("id %d is %v and comes after %v", i+1, ids[i+1], ids[i])
		}
	}
	in := read[wire.Inspection](t, r, c.Token, "/v1/ids/"+ids[0].String())
	if in.Trace == nil || in.Trace.Verdict != string(registry.Known) || in.Trace.Processes[0].Name != "oid serve" {
		t.Errorf("Inspect = %+v", in)
	}
	if got := read[wire.Range](t, r, c.Token, "/v1/range?from=2026-11-01"); got.From.ID.String() != "6ae681000000000000000000" || got.To != nil {
		t.Errorf("Range = %+v", got)
	}
	joined, err := c.Register(ctx, wire.Registration{Name: "php", PID: 7, Address: "[2001:db8::1]:80"})
	if err != nil || len(joined.ProcessBlock) != 8 {
		t.Fatalf("Register = %+v, %v", joined, err)
	}
	name := joined.Member
	rss := int64(1 << 20)
	if _, err := c.Heartbeat(ctx, name, wire.Load{MemoryBytes: &rss}); err != nil {
		t.Errorf("Heartbeat: %v", err)
	}
	if h := read[wire.History](t, r, c.Token, "/v1/processes/"+joined.GPID+"?since=1h"); len(h.Samples) != 2 || *h.Samples[1].MemoryBytes != rss || h.Samples[1].CPUSeconds != nil {
		t.Errorf("History = %+v", h)
	}
	if p := read[wire.Processes](t, r, c.Token, "/v1/processes?state=alive"); len(p.Processes) != 2 {
		t.Errorf("Processes = %+v", p)
	}
	if err := c.End(ctx, name, "done", 0); err != nil {
		t.Errorf("End: %v", err)
	}
	var problem *client.Error
	if _, err := c.Heartbeat(ctx, name, wire.Load{}); !errors.As(err, &problem) || problem.Status != 409 {
		t.Errorf("Heartbeat after End: %v, want status 409", err)
	}
	c = &client.Client{URL: r.url}
	if err := c.NewIDs(ctx, ids); !errors.As(err, &problem) || problem.Status != 401 {
		t.Errorf("NewIDs without the token: %v, want status 401", err)
	}
}

// All requests of a client, also those that fail, use one connection.
func TestClientReusesItsConnection(t *testing.T) {
	r := serve(t, server.Options{})
	ctx := t.Context()
	var dials atomic.Int64
	transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		dials.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}}
	defer transport.CloseIdleConnections()
	c := &client.Client{URL: r.url, HTTP: &http.Client{Transport: transport}}
	ids := make([]objectid.ID, 10_000)
	for range 20 {
		if err := c.NewIDs(ctx, ids); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Heartbeat(ctx, "nonsense", wire.Load{}); err == nil {
			t.Fatal("nonsense is a member")
		}
		if _, err := c.Register(ctx, wire.Registration{Name: "a", PID: 7}); err != nil {
			t.Fatal(err)
		}
		if err := c.End(ctx, "0123456789abcdef", "gone", 0); err == nil {
			t.Fatal("an unknown process was ended")
		}
	}
	if n := dials.Load(); n != 1 {
		t.Errorf("80 requests used %d connections, want 1", n)
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write([]byte("<html>" + strings.Repeat("long ", 20_000)))
	}))
	defer proxy.Close()
	c.URL = proxy.URL
	for range 20 {
		if _, err := c.Heartbeat(ctx, "0123456789abcdef", wire.Load{}); err == nil {
			t.Fatal("a bad gateway is no error")
		}
	}
	if n := dials.Load(); n != 2 {
		t.Errorf("20 long error pages used %d connections, want 1", n-1)
	}
}

// An error has all that the server reported: where in the request what is wrong.
func TestClientErrors(t *testing.T) {
	r := serve(t, server.Options{})
	c := &client.Client{URL: r.url}
	var problem *client.Error
	_, err := c.Register(t.Context(), wire.Registration{PID: 7})
	if !errors.As(err, &problem) || problem.Status != 422 || len(problem.Errors) != 1 || problem.Errors[0].Location != "body.name" {
		t.Fatalf("Register without a name: %v, %+v; want status 422 and a detail about body.name", err, problem)
	}
	for _, part := range []string{"client: server: 422 ", problem.Title, problem.Detail, "body.name", problem.Errors[0].Message} {
		if part == "" || !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q lacks %q", err, part)
		}
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/ids" {
			http.Error(w, "<html>", http.StatusBadGateway)
			return
		}
		_, _ = w.Write([]byte("<html>"))
	}))
	defer other.Close()
	c.URL = other.URL
	if err := c.NewIDs(t.Context(), make([]objectid.ID, 1)); !errors.Is(err, client.ErrResponse) || errors.As(err, &problem) || !strings.Contains(err.Error(), `status 502, content type "text/plain; charset=utf-8": "<html>"`) {
		t.Errorf("an error that is not problem+json: %v, want %v and the status", err, client.ErrResponse)
	}
	if _, err := c.Heartbeat(t.Context(), "0123456789abcdef", wire.Load{}); !errors.Is(err, client.ErrResponse) {
		t.Errorf("a page instead of JSON: %v, want %v", err, client.ErrResponse)
	}
	other.Close()
	if _, err := c.Heartbeat(t.Context(), "0123456789abcdef", wire.Load{}); err == nil || errors.As(err, &problem) || !strings.HasPrefix(err.Error(), "client: ") {
		t.Errorf("without a server: %v, want an error of the client", err)
	}
}

func Example() {
	s, err := server.New(&server.Options{Open: memoryStore, Drain: time.Millisecond, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	served := make(chan error)
	go func() { served <- s.Serve(ctx, l) }()

	c := &client.Client{URL: "http://" + l.Addr().String()}
	ids := make([]objectid.ID, 1000)
	if err := c.NewIDs(ctx, ids); err != nil {
		fmt.Println(err)
		return
	}
	in, err := testenv.Get[wire.Inspection](ctx, c.HTTP, c.URL+"/v1/ids/"+ids[999].String())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(in.Readings[0].Variant, in.Trace.Verdict, in.Trace.Processes[0].Name)

	stop()
	fmt.Println(<-served)
	// Output:
	// modern known oid serve
	// <nil>
}
