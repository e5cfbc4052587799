package server_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/server"
)

// fuzzServer is a handler with a store, for requests that come without a network.
func fuzzServer(f testing.TB) *server.Server {
	f.Helper()
	s, err := server.New(&server.Options{
		Open:   memoryStore,
		Log:    slog.New(slog.DiscardHandler),
		Drain:  time.Millisecond,
		Limits: server.Limits{Upload: 1 << 20, UploadIDs: 1000},
	})
	if err != nil {
		f.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- s.Serve(ctx, l) }()
	f.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			f.Error(err)
		}
	})
	await(f, "the registry", func() bool {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1/v1/processes", nil))
		return w.Code == http.StatusOK
	})
	return s
}

// endpoints are where a fuzzed request goes; # is replaced by the fuzzed text.
var endpoints = []struct{ method, path, contentType string }{
	{"POST", "/v1/ids", "application/json"},
	{"GET", "/v1/ids/#", ""},
	{"GET", "/v1/ids/507f1f77bcf86cd799439011?layout=#&trace=#", ""},
	{"GET", "/v1/range?since=#", ""},
	{"GET", "/v1/range?from=#&to=#&column=#", ""},
	{"GET", "/v1/processes?state=#&address=#&limit=#", ""},
	{"GET", "/v1/processes/#", ""},
	{"GET", "/v1/processes/10.0.0.7:1:1795166651598985:1?since=#&to=#", ""},
	{"POST", "/v1/processes", "application/json"},
	{"POST", "/v1/members/#/heartbeats", "application/json"},
	{"POST", "/v1/members/0123456789abcdef/samples", "application/json"},
	{"POST", "/v1/members/heartbeats", "application/json"},
	{"DELETE", "/v1/members/#?reason=#", ""},
	{"POST", "/v1/census", "application/octet-stream"},
	{"POST", "/v1/census?field=#&column=#&collection=#&tz=#", "application/octet-stream"},
	{"GET", "/?id=#", ""},
	{"POST", "/", "application/x-www-form-urlencoded"},
	{"GET", "/range?from=#&to=#&column=#", ""},
	{"GET", "/odds?processes=#&rate=#&over=#&layout=#", ""},
	{"POST", "/census", "multipart/form-data; boundary=B"},
	{"GET", "/processes?state=#", ""},
	{"GET", "/processes/#?since=#&member=#", ""},
	{"POST", "/login", "application/x-www-form-urlencoded"},
	{"GET", "/login?next=#", ""},
	{"GET", "/static/#/#", ""},
	{"GET", "/#", ""},
	{"#", "/v1/ids", ""},
}

// Random bytes at every endpoint get an answer below 500, which shows what was
// sent only where it cannot do harm.
func FuzzEndpoints(f *testing.F) {
	s := fuzzServer(f)
	for i := range endpoints {
		for _, seed := range []string{
			"", "507f1f77bcf86cd799439011", `{"count":3}`, `{"name":"x","pid":1}`, "24h", "-7d", "10.0.0.7:1:1795166651598985:1", "0123456789abcdef", `{"heartbeats":[{"member":"0123456789abcdef"}]}`,
			"<script>alert(1)</script>", "\x00\xff\xfe", "id=507f1f77bcf86cd799439011", form("507f1f77bcf86cd799439011\n"),
			"{\"_id\":{\"$oid\":\"507f1f77bcf86cd799439011\"}}\n", "../../etc/passwd", strings.Repeat("9", 400),
		} {
			f.Add(uint8(i), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		e := endpoints[int(which)%len(endpoints)]
		var path string
		if before, query, ok := strings.Cut(e.path, "?"); ok {
			path = strings.ReplaceAll(before, "#", url.PathEscape(string(data))) + "?" + strings.ReplaceAll(query, "#", url.QueryEscape(string(data)))
		} else {
			path = strings.ReplaceAll(e.path, "#", url.PathEscape(string(data)))
		}
		method := e.method
		if method == "#" {
			method = string(data)
		}
		req, err := http.NewRequest(method, "http://127.0.0.1"+path, bytes.NewReader(data))
		if err != nil {
			return // nothing that could be sent
		}
		req.Header.Set("Accept", "text/html")
		if e.contentType != "" {
			req.Header.Set("Content-Type", e.contentType)
		}
		req.RemoteAddr = "127.0.0.1:1"
		w := httptest.NewRecorder()
		s.ServeHTTP(w, req)
		body, err := io.ReadAll(w.Result().Body)
		if err != nil {
			t.Fatal(err)
		}
		// A method that nobody knows may have any name, and be refused as such.
		if w.Code >= 500 && w.Code != http.StatusNotImplemented {
			t.Errorf("%s %s with %q: status %d: %s", method, path, data, w.Code, body)
		}
		if strings.Contains(w.Header().Get("Content-Type"), "text/html") && bytes.Contains(body, []byte("<script>alert")) {
			t.Errorf("%s %s: the page has a script in it that was sent", method, path)
		}
	})
}
