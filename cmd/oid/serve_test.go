package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startServe starts the command on a free port, and returns where it serves and what
// it writes to standard error after that.
func startServe(ctx context.Context, t *testing.T, args ...string) (serve *exec.Cmd, url string, log *bufio.Scanner) {
	t.Helper()
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--store", "sqlite:" + filepath.Join(t.TempDir(), "store.db")}, args...)
	serve = exec.CommandContext(ctx, "oid", args...) // TestMain has put it into the path
	stderr, err := serve.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	log = bufio.NewScanner(stderr)
	var before strings.Builder
	for log.Scan() {
		if url, ok := strings.CutPrefix(log.Text(), "oid: serving on "); ok {
			if strings.HasPrefix(url, "http://") {
				awaitStore(t, url)
			}
			return serve, url, log
		}
		before.WriteString(log.Text() + "\n")
	}
	t.Fatalf("it does not serve: %s", before.String())
	return nil, "", nil
}

// awaitStore returns when the server at url can use its store, for which it waits two
// seconds at most before it serves.
func awaitStore(t *testing.T, url string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		res, err := http.Get(url + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if string(body) == "ready\n" {
			return
		}
		if err != nil || time.Now().After(end) {
			t.Fatalf("after a minute: %s, %v", body, err)
		}
	}
}

// The whole command: it says where it serves, keeps the token, and ends with exit
// code 0 on an interrupt, having left the registry.
func TestServeCommand(t *testing.T) {
	folder := t.TempDir()
	tokenFile := filepath.Join(folder, "token")
	if err := os.WriteFile(tokenFile, []byte("A-token-0f-some-length\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	serve, url, lines := startServe(ctx, t, "--token-file", tokenFile, "--drain", "1ms")
	for token, want := range map[string]int{"": 401, "A-token-0f-some-lengtH": 401, "A-token-0f-some-length": 200} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/v1/processes", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != want || want == 200 && !strings.Contains(string(body), `"name":"oid serve"`) {
			t.Errorf("with token %q: status %d, want %d: %s", token, res.StatusCode, want, body)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	for lines.Scan() {
		log.WriteString(lines.Text() + "\n")
	}
	if err := serve.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log.String())
	}
	if !strings.Contains(log.String(), "path=/v1/processes status=200") || strings.Contains(log.String(), "a-token") {
		t.Errorf("the log:\n%s", log.String())
	}
}

// A server for a trial keeps its registry in memory. Commands that would lose what they
// write refuse that, also by OID_STORE.
func TestServeInMemory(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	_, url, _ := startServe(ctx, t, "--store", "memory:")
	res, err := http.Get(url + "/v1/processes")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(body), `"name":"oid serve"`) {
		t.Errorf("processes: %s, %v", body, err)
	}
	t.Setenv("OID_STORE", "memory:")
	for _, args := range [][]string{{"insert", "c", "{}"}, {"find", "c"}, {"ps"}, {"lock", "job", "--locks", "memory:", "--", "true"}} {
		if got := oid(t, "", args...); got.code != 2 || !strings.Contains(got.err, "memory") {
			t.Errorf("oid %q: %+v", args, got)
		}
	}
}

func TestServeOnATakenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := oid(t, "", "serve", "--listen", l.Addr().String(), "--store", "sqlite:"+filepath.Join(t.TempDir(), "s.db"))
	if got.code != 1 || !strings.Contains(got.err, "in use; end the program that uses it, or choose another port") {
		t.Errorf("%+v", got)
	}
}

// What can never become right is wrong use, and nothing to wait for.
func TestServeRefuses(t *testing.T) {
	good := "sqlite:" + filepath.Join(t.TempDir(), "s.db")
	for _, args := range [][]string{
		{"--store", "foo"},
		{"--store", "sqlite:"},
		{"--store", "http://x"},
		{"--store", good, "--address", "foo"},
		{"--store", good, "--grace", "-1s"},
		{"--store", good, "--drain", "-1s"},
	} {
		if got := oid(t, "", append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...); got.code != 2 {
			t.Errorf("%q: %+v, want exit code 2", args, got)
		}
	}
}

// A server that drains for long ends at a second signal.
func TestServeInterruptedTwice(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	serve, url, lines := startServe(ctx, t, "--drain", "1h")
	go func() {
		for lines.Scan() { // what it says on, so that it need not wait
		}
	}()
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for status := 0; status != http.StatusServiceUnavailable; time.Sleep(10 * time.Millisecond) {
		res, err := http.Get(url + "/readyz")
		if err != nil {
			t.Fatalf("while it drains: %v", err)
		}
		res.Body.Close()
		status = res.StatusCode
	}
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = serve.Wait()
	if status := serve.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v, want by the signal", serve.ProcessState)
	}
}
