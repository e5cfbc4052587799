package server_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// soak reports whether the long forms of the tests are asked for.
func soak() bool { return os.Getenv("OID_SOAK") != "" }

// dial opens a connection on which the test writes what it likes.
func (r *running) dial(t testing.TB) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// answerOn reads an answer from a connection, or says why there is none.
func answerOn(t testing.TB, c net.Conn) (int, string, error) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, string(body), err
}

// short are limits that a test can wait for.
var short = server.Limits{
	Header: 500 * time.Millisecond, Request: time.Second, Response: time.Second, Idle: time.Second,
	UploadTime: 5 * time.Second, Uploads: 8, Requests: 64, Upload: 1 << 20,
}

// Clients that hold on to connections in every way are cut off, and meanwhile
// others are served.
func TestHostileClients(t *testing.T) {
	testenv.Long(t, "takes seconds")
	r := serve(t, server.Options{Limits: short})
	// A connection that is kept may be one that the server has just given up.
	r.client.Transport = &http.Transport{DisableKeepAlives: true}
	const each = 40
	before := runtime.NumGoroutine()
	trickle := func(c net.Conn, text string) {
		for i := range len(text) {
			if _, err := c.Write([]byte{text[i]}); err != nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	head := "POST /v1/ids HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	upload := "POST /v1/census HTTP/1.1\r\nHost: localhost\r\n"
	ways := map[string]func(net.Conn){
		"says nothing":        func(net.Conn) {},
		"sends half a header": func(c net.Conn) { fmt.Fprint(c, head) },
		"trickles a header":   func(c net.Conn) { trickle(c, head+strings.Repeat("X-A: b\r\n", 100)) },
		"sends half a body":   func(c net.Conn) { fmt.Fprint(c, head+"Content-Length: 12\r\n\r\n{\"co") },
		"trickles a body": func(c net.Conn) {
			fmt.Fprint(c, head+"Content-Length: 400\r\n\r\n")
			trickle(c, strings.Repeat(" ", 400))
		},
		"reads nothing": func(c net.Conn) {
			fmt.Fprint(c, strings.Repeat(manyIDs, 50))
		},
		"trickles an upload": func(c net.Conn) {
			fmt.Fprint(c, upload+"Content-Length: 100000\r\n\r\n")
			trickle(c, strings.Repeat("507f1f77bcf86cd799439011\n", 100))
		},
		"sends a bad chunk":   func(c net.Conn) { fmt.Fprint(c, upload+"Transfer-Encoding: chunked\r\n\r\nzz\r\n") },
		"sends half a chunk":  func(c net.Conn) { fmt.Fprint(c, upload+"Transfer-Encoding: chunked\r\n\r\n100\r\n507f") },
		"sends random bytes":  func(c net.Conn) { c.Write(bytes.Repeat([]byte{0, 0xff, '\r', '\n', 7}, 1000)) },
		"sends a long header": func(c net.Conn) { fmt.Fprint(c, head+"X-A: "+strings.Repeat("a", 1<<20)) },
		"pipelines and leaves": func(c net.Conn) {
			fmt.Fprint(c, strings.Repeat("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n", 50))
			c.Close()
		},
	}
	var hostile sync.WaitGroup
	for _, way := range ways {
		for range each {
			c := r.dial(t)
			hostile.Go(func() { way(c) })
		}
	}
	// Others are served while all of this goes on.
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		began := time.Now()
		if got := r.post(t, "/v1/ids", `{"count":10}`); got.status != 200 && got.status != 503 {
			t.Errorf("status %d: %s", got.status, got.body)
		} else if got.status == 503 && !strings.Contains(got.body, "busy") {
			t.Errorf("%s", got.body)
		}
		if got := r.get(t, "/livez"); got.status != 200 {
			t.Errorf("livez: %d", got.status)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it took %v", took)
		}
	}
	hostile.Wait()
	// All of them have been cut off: what they held is free again.
	await(t, "the connections' goroutines end", func() bool { return runtime.NumGoroutine() < before+30 })
	if got := r.post(t, "/v1/ids", `{"count":10}`); got.status != 200 {
		t.Errorf("afterwards: %d", got.status)
	}
	if strings.Contains(r.log.String(), "panic") {
		t.Error("a handler has panicked")
	}
}

// leaves at the end of a body means that the client sends no more.
const leaves = "<leaves>"

// Bodies that lie about their length.
func TestLyingBodies(t *testing.T) {
	t.Parallel()
	r := serve(t, server.Options{Limits: short})
	for name, c := range map[string]struct {
		head, body string
		want       []int // 0 means no answer
	}{
		"shorter than said":        {"POST /v1/ids HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n", `{"count":3}`, []int{408}},
		"longer than said":         {"POST /v1/ids HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n", `{"count":3}{"count":5}`, []int{200}},
		"two lengths":              {"POST /v1/ids HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 11\r\nContent-Length: 12\r\n\r\n", `{"count":3}`, []int{400}},
		"negative":                 {"POST /v1/ids HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: -1\r\n\r\n", `{"count":3}`, []int{400}},
		"no number":                {"POST /v1/ids HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: many\r\n\r\n", `{"count":3}`, []int{400}},
		"upload too large as said": {"POST /v1/census HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10737418240\r\n\r\n", "507f1f77bcf86cd799439011\n", []int{413}},
		"form too large as said":   {"POST /census HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: 10737418240\r\n\r\n", "--B\r\n", []int{413}},
		"upload shorter than said": {"POST /v1/census HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n", "507f1f77bcf86cd799439011\n", []int{408}},
		"upload cut short":         {"POST /v1/census HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n", "507f1f77bcf86cd799439011\n" + leaves, []int{400}},
		"upload with a bad chunk":  {"POST /v1/census HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", "zz\r\n", []int{400}},
		"form over the limit":      {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 3000000\r\n\r\n", "id=" + strings.Repeat("a", 2_999_997), []int{413}},
		"body over the limit":      {"POST /v1/ids HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n", strings.Repeat(" ", 3_000_000), []int{413}},
		"cut short":                {"POST /v1/ids HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n", `{"count":3}` + leaves, []int{400}},
		"a bad chunk":              {"POST /v1/ids HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", "zz\r\n", []int{400}},
		"form shorter than said":   {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 50\r\n\r\n", "id=5", []int{408}},
		"login over the limit":     {"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 5000\r\n\r\n", strings.Repeat("a", 5000), []int{413}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := r.dial(t)
			go func() {
				body, goes := strings.CutSuffix(c.body, leaves)
				fmt.Fprint(conn, c.head+body)
				if goes {
					conn.(*net.TCPConn).CloseWrite()
				}
			}()
			status, body, err := answerOn(t, conn)
			if slices.Contains(c.want, status) {
				return
			}
			t.Errorf("status %d %v, want one of %v: %s", status, err, c.want, body)
		})
	}
}

// An upload without an end is cut off at the limit, one that is large but within it
// is read without being held.
func TestEndlessUpload(t *testing.T) {
	testenv.WithoutRace(t)
	size := int64(256 << 20)
	if soak() {
		size = 10 << 30
	}
	r := serve(t, server.Options{Limits: server.Limits{Upload: size, UploadTime: time.Hour}})
	r.client.Timeout = time.Hour
	line := []byte(`{"_id":{"$numberLong":"1234567"},"text":"` + strings.Repeat("x", 900) + "\"}\n")
	block := bytes.Repeat(line, 1<<20/len(line))
	peak := watchHeap(t)
	within := r.do(t, "POST", "/v1/census", io.LimitReader(&repeat{block: block}, size-1), "Content-Type", "application/octet-stream")
	var found wire.Census
	if err := json.Unmarshal([]byte(within.body), &found); err != nil || within.status != 200 {
		t.Errorf("%d bytes: status %d: %v: %s", size-1, within.status, err, within.body)
	} else if lines := (size - 1) / int64(len(line)); len(found.Others) != 1 || found.Others[0].Values != lines {
		t.Errorf("%+v of %d lines were counted", found.Others, lines)
	}
	if grown := peak(); grown > 200<<20 {
		t.Errorf("an upload of %d MiB takes %d MiB of memory", size>>20, grown>>20)
	}
	// Here the sender may see the connection end before it has read the answer.
	sent := &repeat{block: block}
	req, err := http.NewRequestWithContext(t.Context(), "POST", r.url+"/v1/census", io.NopCloser(io.LimitReader(sent, 4*size)))
	if err != nil {
		t.Fatal(err)
	}
	if res, err := r.client.Do(req); err == nil {
		defer res.Body.Close()
		if res.StatusCode != 413 {
			t.Errorf("an upload without an end: status %d", res.StatusCode)
		}
	}
	if sent.total.Load() > 2*size {
		t.Errorf("of an upload of %d bytes without an end %d were taken", size, sent.total.Load())
	}
}

// repeat is a block over and over.
type repeat struct {
	block []byte
	at    int
	total atomic.Int64 // bytes read; a client may read on behind its answer
}

func (r *repeat) Read(p []byte) (int, error) {
	n := copy(p, r.block[r.at:])
	r.total.Add(int64(n))
	r.at = (r.at + n) % len(r.block)
	return n, nil
}

// watchHeap looks at the heap until peak is called, which returns by how much it
// had grown at most.
func watchHeap(t testing.TB) (peak func() int64) {
	t.Helper()
	heap := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse)
	}
	runtime.GC()
	before, most := heap(), int64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				most = max(most, heap())
			}
		}
	}()
	return func() int64 {
		close(stop)
		<-stopped
		return most - before
	}
}

// Uploads beyond the limit are refused with Retry-After, and the others go on.
func TestTooManyUploads(t *testing.T) {
	r := serve(t, server.Options{Limits: server.Limits{Uploads: 2}})
	var ends []*io.PipeWriter
	done := make(chan int, 2)
	for range 2 {
		in, out := io.Pipe()
		ends = append(ends, out)
		go func() {
			res, err := http.Post(r.url+"/v1/census", "application/octet-stream", in)
			if err != nil {
				done <- 0
				return
			}
			res.Body.Close()
			done <- res.StatusCode
		}()
		fmt.Fprint(out, "507f1f77bcf86cd799439011\n")
	}
	await(t, "the uploads", func() bool { return metric(t, r, "oid_census_bytes_total") == 50 })
	got := r.do(t, "POST", "/v1/census", strings.NewReader("507f1f77bcf86cd799439011\n"))
	wantProblem(t, got, 503, "busy")
	if got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if got := r.get(t, "/", "Accept", "text/html"); got.status != 200 {
		t.Errorf("the page: %d", got.status)
	}
	for _, end := range ends {
		end.Close()
		if status := <-done; status != 200 {
			t.Errorf("an upload: status %d", status)
		}
	}
}

// When all connections are taken, a new one takes the place of the one that has waited
// longest for its client. One on which the server works keeps its place.
func TestConnectionsAndHeaders(t *testing.T) {
	r := serve(t, server.Options{Limits: server.Limits{Connections: 4, PerAddress: 4, Header: time.Hour, Request: time.Hour}})
	r.client.CloseIdleConnections()
	busy := r.dial(t) // the oldest: an upload
	fmt.Fprint(busy, "POST /v1/census HTTP/1.1\r\nHost: localhost\r\nContent-Length: 25\r\n\r\n507f1f77")
	time.Sleep(300 * time.Millisecond) // until it is read
	var waiting []net.Conn
	for range 3 {
		c := r.dial(t)
		fmt.Fprint(c, "GET /livez HTTP/1.1\r\nHost: loc")
		waiting = append(waiting, c)
		time.Sleep(100 * time.Millisecond)
	}
	late := r.dial(t)
	fmt.Fprint(late, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if status, _, err := answerOn(t, late); status != 200 {
		t.Errorf("the fifth connection: %d, %v", status, err)
	}
	if status, _, err := answerOn(t, waiting[0]); err == nil {
		t.Errorf("the one that had waited longest got status %d, want no answer", status)
	}
	for i, c := range waiting[1:] {
		fmt.Fprint(c, "alhost\r\n\r\n")
		if status, _, err := answerOn(t, c); status != 200 {
			t.Errorf("a connection that had waited for less, %d: %d, %v", i+1, status, err)
		}
	}
	fmt.Fprint(busy, "bcf86cd799439011\n")
	if status, body, err := answerOn(t, busy); status != 200 {
		t.Errorf("the upload: %d %s %v", status, body, err)
	}
	if n := metric(t, r, "oid_connections_displaced_total"); n < 1 {
		t.Errorf("%v connections were displaced", n)
	}
}

// A body has the time that the limits give it, and no other.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	r := serve(t, server.Options{})
	c := r.dial(t)
	fmt.Fprint(c, "POST /v1/ids HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n")
	time.Sleep(6 * time.Second)
	fmt.Fprint(c, `{"count":3}`)
	if status, body, err := answerOn(t, c); status != 200 || len(body) != 3*25 {
		t.Errorf("a body that took 6 s: %d %s %v", status, body, err)
	}
}
