package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// metric returns the value of a line of /metrics that begins with name.
func metric(t testing.TB, r *running, name string) float64 {
	t.Helper()
	body := r.get(t, "/metrics").body
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("/metrics has no %s:\n%s", name, body)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestMetrics(t *testing.T) {
	r := serve(t, server.Options{})
	r.post(t, "/v1/ids", `{"count":123}`)
	r.post(t, "/v1/ids", `{"count":0}`)
	r.get(t, "/v1/ids/507f1f77bcf86cd799439011")
	for range 50 { // nobody can make up new series
		r.get(t, "/nothing/"+strconv.Itoa(int(time.Now().UnixNano())))
	}
	r.do(t, "MADEUP", "/", nil)
	for name, want := range map[string]float64{
		`oid_ids_created_total`: 123,
		`oid_http_requests_total{code="200",method="POST",route="/v1/ids"}`:     1,
		`oid_http_requests_total{code="422",method="POST",route="/v1/ids"}`:     1,
		`oid_http_requests_total{code="200",method="GET",route="/v1/ids/{id}"}`: 1,
		`oid_http_requests_total{code="404",method="GET",route="/"}`:            50,
		`oid_http_requests_in_flight`:                                           1,
		`oid_processes_alive`:                                                   1,
		`oid_generator_ahead_seconds`:                                           0,
		`oid_store_duration_seconds_count{call="trace"}`:                        1,
	} {
		if got := metric(t, r, name); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if n := metric(t, serveAsIs(t, server.Options{}, "127.0.0.1:0"), "oid_processes_alive"); !math.IsNaN(n) {
		t.Errorf("without a registry %v processes are alive, want NaN", n)
	}
	if strings.Contains(r.get(t, "/metrics").body, "MADEUP") {
		t.Error("a method that a client made up is a label")
	}
}

func TestAccessLog(t *testing.T) {
	var log lockedBuffer
	r := serve(t, server.Options{Access: slog.New(slog.NewTextHandler(&log, nil))})
	r.get(t, "/v1/range?since=1h", "Authorization", "Bearer secret")
	line := log.String()
	for _, want := range []string{"method=GET", "path=/v1/range", "status=200", "bytes=", "took=", "from=127.0.0.1:"} {
		if !strings.Contains(line, want) {
			t.Errorf("the log lacks %s: %s", want, line)
		}
	}
	if strings.Contains(line, "secret") {
		t.Errorf("the log has a token in it: %s", line)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{Drain: 3 * time.Second})
	if got := r.get(t, "/livez"); got.status != 200 || got.body != "alive\n" {
		t.Errorf("livez: %+v", got)
	}
	if got := r.get(t, "/readyz"); got.status != 200 || got.body != "ready\n" {
		t.Errorf("readyz: %+v", got)
	}
	stopped := make(chan error)
	go func() { stopped <- r.stop() }()
	await(t, "readyz says no", func() bool { return r.get(t, "/readyz").status == 503 })
	// Until then it serves, asking clients to go elsewhere.
	got := r.post(t, "/v1/ids", `{"count":3}`)
	if got.status != 200 {
		t.Errorf("while draining: %d", got.status)
	}
	c := r.dial(t)
	fmt.Fprint(c, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if res, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || !res.Close {
		t.Errorf("while draining a connection stays open: %v", err)
	}
	if got := r.get(t, "/livez"); got.status != 200 {
		t.Errorf("livez while draining: %d", got.status)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// The server is a process in the registry itself, and says when it leaves.
func TestServerInTheRegistry(t *testing.T) {
	t.Parallel()
	open := fileStore(t.TempDir() + "/oid.db")
	r := serve(t, server.Options{Open: open, Version: "v1.2.3"})
	list := decode[wire.Processes](t, r.get(t, "/v1/processes"), 200).Processes
	if len(list) != 1 || list[0].Name != "oid serve" || list[0].Version != "v1.2.3" || "http://"+gpid.MustParse(list[0].GPID).Addr().String() != r.url || list[0].State != string(registry.Alive) {
		t.Fatalf("%+v", list)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r = serve(t, server.Options{Open: open})
	list = decode[wire.Processes](t, r.get(t, "/v1/processes?state=ended"), 200).Processes
	if len(list) != 1 || list[0].End.Reason != "shut down" {
		t.Errorf("after its end: %+v", list)
	}
}

// A server that is stopped while uploads run gives them time, and then an answer.
func TestStopDuringUpload(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{Grace: 2 * time.Second, Drain: 10 * time.Millisecond})
	type result struct {
		status int
		body   string
		err    error
	}
	results := make(chan result, 2)
	var writers []*io.PipeWriter
	for range 2 {
		in, out := io.Pipe()
		writers = append(writers, out)
		go func() {
			res, err := http.Post(r.url+"/v1/census", "application/octet-stream", in)
			if err != nil {
				results <- result{err: err}
				return
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			results <- result{res.StatusCode, string(body), err}
		}()
		if _, err := out.Write(bytes.Repeat([]byte("507f1f77bcf86cd799439011\n"), 1000)); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "the uploads", func() bool { return metric(t, r, "oid_census_bytes_total") == 50_000 })
	stopped := make(chan error)
	go func() { stopped <- r.stop() }()
	time.Sleep(100 * time.Millisecond)
	// One ends in time, the other does not.
	if err := writers[0].Close(); err != nil {
		t.Fatal(err)
	}
	statuses := map[int]bool{}
	for range 2 {
		got := <-results
		if got.err != nil {
			t.Errorf("an upload under way got no answer: %v", got.err)
			continue
		}
		statuses[got.status] = true
		if got.status == 503 && !strings.Contains(got.body, "stopping") {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	if !statuses[200] || !statuses[503] {
		t.Errorf("statuses %v, want 200 and 503", statuses)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// While it serves, a server holds memory that makes the garbage collector wait, and
// that is free afterwards.
func TestBallast(t *testing.T) {
	inUse := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	r := serve(t, server.Options{})
	r.get(t, "/livez")
	serving := inUse()
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if freed := serving - inUse(); freed < 12<<20 {
		t.Errorf("after the end %d bytes less are in use", freed)
	}
}
