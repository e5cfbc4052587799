package server_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/server"
)

// apart is a server with the limits of every server, in a process of its own.
type apart struct {
	running
	pid   int
	store string // the path of its file
}

// serveApart starts a server in another process, which ends with the test.
func serveApart(t *testing.T) *apart {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestServeApart$", "-test.timeout=0")
	path := filepath.Join(t.TempDir(), "oid.db")
	child.Env = append(os.Environ(), "OID_SERVE_APART="+path)
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := child.Wait(); err != nil {
			t.Errorf("the server: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server does not start: %v", err)
	}
	a := &apart{pid: child.Process.Pid, store: path}
	a.url = strings.TrimSpace(line)
	a.client = &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	return a
}

// TestServeApart is the server of serveApart.
func TestServeApart(t *testing.T) {
	path := os.Getenv("OID_SERVE_APART")
	if path == "" {
		t.Skip("is for other tests")
	}
	s, err := server.New(&server.Options{Open: fileStore(path), Drain: time.Millisecond, Grace: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := signal.NotifyContext(context.Background(), os.Interrupt)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		end()
	}()
	fmt.Printf("http://%s\n", l.Addr())
	s.Serve(ctx, l) // which may end requests early
	os.Exit(0)
}

// attack is what a client without a token can do for as long as it likes.
type attack func(ctx context.Context, url string)

// The attacks at the limits that every server has.
var attacks = map[string]attack{
	"4096 idle connections":        idleConnections,
	"600 bodies of one byte":       oneByteBodies,
	"uploads that unpack to 1 GiB": bombs,
	"64 pasted megabytes at once":  pastes,
	"600 clients that do not read": deafReaders,
}

// hold keeps n connections to a server, on each of which say was sent, and opens
// another for each that the server closes. Clients that are deaf never read an answer.
func hold(ctx context.Context, address string, n int, say string, deaf bool) {
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				c, err := net.Dial("tcp", hostOf(address))
				if err == nil {
					stop := context.AfterFunc(ctx, func() { c.Close() })
					fmt.Fprint(c, say)
					if deaf {
						<-ctx.Done()
					} else {
						io.Copy(io.Discard, c)
					}
					stop()
					c.Close()
				}
				select {
				case <-again.C:
				case <-ctx.Done():
				}
			}
		})
	}
	all.Wait()
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	return u.Host
}

func idleConnections(ctx context.Context, url string) { hold(ctx, url, 4096, "", false) }

func oneByteBodies(ctx context.Context, url string) {
	hold(ctx, url, 600, "POST /v1/ids HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{", false)
}

func deafReaders(ctx context.Context, url string) {
	ask := strings.Replace(manyIDs, "Content-Type", "Accept: text/plain\r\nContent-Type", 1)
	hold(ctx, url, 600, strings.Repeat(ask, 50), true)
}

// bomb is a gigabyte of newlines after one id: a part in gzip format, and 1024 times the
// one of a megabyte.
var bomb = sync.OnceValue(func() []byte {
	return append(pack("507f1f77bcf86cd799439011\n"), bytes.Repeat(pack(strings.Repeat("\n", 1<<20)), 1<<10)...)
})

func pack(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.Bytes()
}

func bombs(ctx context.Context, url string) {
	send(ctx, 4, time.Second, func() (*http.Request, error) {
		return http.NewRequestWithContext(ctx, "POST", url+"/v1/census?format=list", bytes.NewReader(bomb()))
	})
}

func pastes(ctx context.Context, url string) {
	paste := "id=" + strings.Repeat("507f1f77bcf86cd799439011%0A", 1<<20/27-1)
	send(ctx, 64, 100*time.Millisecond, func() (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, "POST", url+"/", strings.NewReader(paste))
		if err == nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return req, err
	})
}

// send sends n requests at once, again and again.
func send(ctx context.Context, n int, pause time.Duration, request func() (*http.Request, error)) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				req, err := request()
				if err != nil {
					panic(err)
				}
				if res, err := http.DefaultClient.Do(req); err == nil {
					io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
				select {
				case <-time.After(pause):
				case <-ctx.Done():
				}
			}
		})
	}
	all.Wait()
}

// Whatever one client does, others are answered in time, see inTime.
func TestNobodyIsShutOut(t *testing.T) {
	testenv.WithoutRace(t)
	if testenv.Whole() {
		for name, attack := range attacks {
			t.Run(name, func(t *testing.T) { underAttack(t, attack) })
		}
	}
	t.Run("all at once", func(t *testing.T) {
		var each []attack
		for _, a := range attacks {
			each = append(each, a)
		}
		underAttack(t, each...)
	})
}

// inTime is how long an answer may take. The attackers need most of the processors of the
// same machine, and so may other programs: on a quiet machine an answer takes less than a
// tenth of a second, and beside three busy loops on two processors up to three seconds. A
// client that is shut out gets no answer, or after five seconds one that says that the server
// is busy.
const inTime = 5 * time.Second

func underAttack(t *testing.T, attacks ...attack) {
	s := serveApart(t)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, a := range attacks {
		all.Go(func() { a(ctx, s.url) })
	}
	defer all.Wait()
	defer stop()
	time.Sleep(testenv.Size(time.Second, 2*time.Second)) // until it is in full swing
	probes := testenv.Size(10, 20)
	var late, failed atomic.Int32
	var worst atomic.Int64
	var asked sync.WaitGroup
	for range probes {
		for _, path := range []string{"/livez", "/v1/ids/507f1f77bcf86cd799439011"} {
			asked.Go(func() {
				began := time.Now()
				res, err := s.client.Get(s.url + path)
				if err == nil {
					_, err = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
				took := time.Since(began)
				if err != nil || res.StatusCode != 200 {
					failed.Add(1)
					t.Logf("%s: %v %+v after %v", path, err, res, took)
				}
				if took > inTime {
					late.Add(1)
				}
				worst.Store(max(worst.Load(), int64(took)))
			})
		}
		time.Sleep(100 * time.Millisecond)
	}
	asked.Wait()
	t.Logf("of %d requests %d failed and %d took more than %v, the slowest %v", 2*probes, failed.Load(), late.Load(), inTime, time.Duration(worst.Load()))
	if failed.Load() > 0 || int(late.Load()) > probes/2 {
		t.Errorf("of %d requests %d failed and %d took more than %v", 2*probes, failed.Load(), late.Load(), inTime)
	}
}
