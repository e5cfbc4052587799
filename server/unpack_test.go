package server_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// cpu returns the processor time that a server in another process has used, in seconds.
func (a *apart) cpu(t *testing.T) float64 {
	t.Helper()
	return metric(t, &a.running, "process_cpu_seconds_total")
}

// A megabyte that unpacks to a gigabyte is refused before it is unpacked, in the API
// and in the form.
func TestBomb(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	s := serveApart(t)
	before := s.cpu(t)
	wantProblem(t, s.do(t, "POST", "/v1/census?format=list", bytes.NewReader(bomb())), 413, "unpacks to more than this server accepts")
	got := s.do(t, "POST", "/census", strings.NewReader(form(string(bomb()))), "Content-Type", "multipart/form-data; boundary=B", "Accept", "text/html")
	if got.status != 413 || !strings.Contains(got.body, "unpacks to more") {
		t.Errorf("the form: %d %s", got.status, got.body)
	}
	// The whole of it takes 18 seconds of processor time.
	if used := s.cpu(t) - before; used > 9 {
		t.Errorf("refusing it twice took %.1f s of processor time", used)
	}
}

// zipped returns an upload that unpacks to n bytes, in the gzip format.
func zipped(t *testing.T, n int, line string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	block := []byte(strings.Repeat(line, 1+(1<<16)/len(line)))
	for n > 0 {
		k := min(n, len(block))
		if _, err := z.Write(block[:k]); err != nil {
			t.Fatal(err)
		}
		n -= k
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The bound on what is unpacked can be set, and holds on both of its sides.
func TestUnpackedLimit(t *testing.T) {
	const line = "507f1f77bcf86cd799439011\n"
	r := serve(t, server.Options{Limits: server.Limits{Unpacked: 1000 * 25}})
	if got := decode[wire.Census](t, r.do(t, "POST", "/v1/census", bytes.NewReader(zipped(t, 1000*25, line))), 200); got.IDs != 1000 {
		t.Errorf("%d ids, want 1000", got.IDs)
	}
	wantProblem(t, r.do(t, "POST", "/v1/census", bytes.NewReader(zipped(t, 1001*25, line))), 413, "unpacks to more")
	// What is not compressed is bounded by the limit of the upload only.
	if got := decode[wire.Census](t, r.do(t, "POST", "/v1/census", strings.NewReader(strings.Repeat(line, 2000))), 200); got.IDs != 2000 {
		t.Errorf("%d ids, want 2000", got.IDs)
	}
}

// The work on an upload ends when its sender is gone, also if all of it has arrived.
func TestSenderIsGone(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	s := serveApart(t)
	// Each id is followed by newlines, which unpack to less than 100 times as much.
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	newlines, size := strings.Repeat("\n", 1300), testenv.Size(1<<20, 3<<20)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(z, "507f1f77%016x\n%s", uint64(i)*0x9E3779B97F4A7C15, newlines)
	}
	z.Close()
	before := s.cpu(t)
	if got := s.do(t, "POST", "/v1/census?format=list", bytes.NewReader(b.Bytes())); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	whole := s.cpu(t) - before

	conn := s.dial(t)
	fmt.Fprintf(conn, "POST /v1/census?format=list HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", b.Len())
	before = s.cpu(t)
	if _, err := conn.Write(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	await(t, "the census ends", func() bool {
		time.Sleep(300 * time.Millisecond)
		return strings.Contains(s.get(t, "/metrics").body, `oid_http_requests_total{code="400",method="POST",route="/v1/census"} 1`)
	})
	used := s.cpu(t) - before
	t.Logf("%.2f s of processor time for an upload whose sender is gone, %.2f s for the whole of one", used, whole)
	if used > whole/2 {
		t.Errorf("the server used %.2f s of processor time for an upload whose sender was gone, %.2f s for a whole one", used, whole)
	}
	if got := s.get(t, "/livez"); got.status != http.StatusOK {
		t.Errorf("livez: %d", got.status)
	}
}

// An upload that keeps others waiting gives its place to another if it is slow.
func TestSlowUploadGivesWay(t *testing.T) {
	testenv.Long(t, "takes seconds")
	t.Parallel()
	r := serve(t, server.Options{Limits: server.Limits{Uploads: 1}})
	slow := r.dial(t)
	fmt.Fprint(slow, "POST /v1/census HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n507f1f77bcf86cd799439011\n")
	await(t, "the upload", func() bool { return metric(t, r, "oid_census_bytes_total") == 25 })
	const line = "507f1f77bcf86cd799439011\n"
	wantProblem(t, r.do(t, "POST", "/v1/census", strings.NewReader(line)), 503, "busy") // it has just begun
	stop := make(chan struct{})
	go func() { // at 16 KiB/s and more it may go on as long as nobody waits
		for {
			select {
			case <-time.After(200 * time.Millisecond):
				fmt.Fprint(slow, strings.Repeat(line, 200))
			case <-stop:
				return
			}
		}
	}()
	defer close(stop)
	time.Sleep(10 * time.Second)
	if got := r.do(t, "POST", "/v1/census", strings.NewReader(line)); got.status != 200 {
		t.Errorf("another upload: %d %s", got.status, got.body)
	}
	if status, body, err := answerOn(t, slow); status != 408 || !strings.Contains(body, "others were waiting") {
		t.Errorf("the slow upload: %d %s %v", status, body, err)
	}
}

// Each file of an upload in a container is a collection. The files count as memory, and an
// unknown one beside others is a part of the report.
func TestContainers(t *testing.T) {
	r := serve(t, server.Options{})
	upload := func(files map[string]string) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			f, err := w.Create(name)
			if err == nil {
				_, err = io.WriteString(f, files[name])
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	const line = "507f1f77bcf86cd799439011\n"
	hostile := "b\x1b[31m<script>.ids"
	got := decode[wire.Census](t, r.do(t, "POST", "/v1/census?name=all.zip", bytes.NewReader(upload(map[string]string{
		"a.ids": line, hostile: line, "notes.txt": "nothing",
	}))), 200)
	var said []string
	for _, s := range got.Sources {
		said = append(said, fmt.Sprintf("%s %d %s", s.Name, s.IDs, s.Error))
	}
	if want := "all.zip: a.ids 1 |all.zip: b\ufffd[31m<script>.ids 1 |all.zip: notes.txt 0 unknown format: not BSON"; !strings.HasPrefix(strings.Join(said, "|"), want) {
		t.Errorf("%q, want %q", said, want)
	}
	page := r.do(t, "POST", "/census", strings.NewReader(form(string(upload(map[string]string{hostile: line})))), "Content-Type", "multipart/form-data; boundary=B", "Accept", "text/html")
	if page.status != 200 || strings.Contains(page.body, "<script>.ids") || strings.Contains(page.body, "\x1b") || !strings.Contains(page.body, "&lt;script&gt;.ids") {
		t.Errorf("the form: %d %s", page.status, page.body)
	}
	wantProblem(t, r.do(t, "POST", "/v1/census", bytes.NewReader(upload(map[string]string{"notes.txt": "nothing"}))), 422, "notes.txt: unknown format")
	wantProblem(t, r.do(t, "POST", "/v1/census", strings.NewReader("PAR1....")), 422, "type: python3")
	many := map[string]string{}
	for i := range 15_000 {
		many[fmt.Sprint(i)] = ""
	}
	limited := serve(t, server.Options{Limits: server.Limits{Memory: 128 << 20}})
	wantProblem(t, limited.do(t, "POST", "/v1/census", bytes.NewReader(upload(many))), 503, "memory")
}
