package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/memstore"
	"github.com/oidkit/oid/store/sqlitestore"
)

// running is a server that serves until the test ends.
type running struct {
	url    string
	client *http.Client
	log    *lockedBuffer
	stop   func() error // ends it and returns what Serve returned
	fails  bool         // Serve is to return an error
}

// serve starts a server on a free port, and waits for its store. Without o.Open it gets a
// store of its own.
func serve(t testing.TB, o server.Options) *running {
	t.Helper()
	if o.Open == nil {
		o.Open = memoryStore
	}
	r := serveAsIs(t, o, "127.0.0.1:0")
	base, err := url.Parse(o.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the store", func() bool { return r.get(t, strings.TrimSuffix(base.Path, "/")+"/readyz").body == "ready\n" })
	return r
}

// memoryStore opens a store for one server, and fileStore one for several or for one that
// starts again.
func memoryStore(context.Context) (store.Store, error) { return memstore.New(), nil }

func fileStore(path string) func(context.Context) (store.Store, error) {
	return func(ctx context.Context) (store.Store, error) { return sqlitestore.Open(ctx, path, nil) }
}

func serveAsIs(t testing.TB, o server.Options, listen string) *running {
	t.Helper()
	r := &running{log: &lockedBuffer{}, client: &http.Client{Timeout: 60 * time.Second}}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	if o.Drain == 0 {
		o.Drain = 10 * time.Millisecond
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		t.Fatal(err)
	}
	r.url = "http://" + l.Addr().String()
	if behindNginx(t) {
		r.putBehindNginx(t, &o)
	}
	s, err := server.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-served
	})
	t.Cleanup(func() {
		r.client.CloseIdleConnections()
		if err := r.stop(); (err != nil) != r.fails {
			t.Errorf("Serve: %v", err)
		}
		if t.Failed() {
			t.Logf("the server's log:\n%s", r.log)
		}
	})
	return r
}

// lockedBuffer is a log that may be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// reply is an answer, read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a request; headers are names and values in turn.
func (r *running) do(t testing.TB, method, path string, body io.Reader, headers ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		} else {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	client := *r.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	if to := res.Header.Get("Location"); behindNginx(t) {
		res.Header.Set("Location", strings.TrimPrefix(to, "/oid")) // r.url has it
	}
	return reply{res.StatusCode, res.Header, string(data)}
}

func (r *running) get(t testing.TB, path string, headers ...string) reply {
	t.Helper()
	return r.do(t, http.MethodGet, path, nil, headers...)
}

func (r *running) post(t testing.TB, path, body string, headers ...string) reply {
	t.Helper()
	return r.do(t, http.MethodPost, path, strings.NewReader(body), append([]string{"Content-Type", "application/json"}, headers...)...)
}

// memberPath is where the requests of a registered process go.
func memberPath(key string) string { return "/v1/members/" + key }

// decode reads a JSON answer, whose status must be want.
func decode[T any](t testing.TB, r reply, want int) (v T) {
	t.Helper()
	if r.status != want {
		t.Fatalf("status %d, want %d: %s", r.status, want, r.body)
	}
	if err := json.Unmarshal([]byte(r.body), &v); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	return v
}

// problem is an error of the API.
type problem struct {
	Status int
	Title  string
	Detail string
}

// wantProblem checks that an answer is a problem whose text has want in it.
func wantProblem(t testing.TB, r reply, status int, want string) {
	t.Helper()
	var p problem
	err := json.Unmarshal([]byte(r.body), &p)
	if r.status != status || r.header.Get("Content-Type") != "application/problem+json" || err != nil || p.Status != status || !strings.Contains(r.body, want) {
		t.Errorf("status %d %s, want a problem with status %d and %q: %s", r.status, r.header.Get("Content-Type"), status, want, r.body)
	}
}

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
