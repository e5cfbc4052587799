//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// restartClients send requests until stop, with pauses of up to a time that differs
// from one to the next, and return what was lost. POSTs are not sent again by net/http.
func restartClients(t *testing.T, n int, url string) (stop func() (sent int64, lost []string)) {
	t.Helper()
	var all sync.WaitGroup
	var count atomic.Int64
	var mu sync.Mutex
	var lost []string
	end := make(chan struct{})
	for i := range n {
		random := rand.New(rand.NewPCG(uint64(i), 1))
		transport := &http.Transport{DisableKeepAlives: i%4 == 3, MaxIdleConnsPerHost: 4}
		client := &http.Client{Transport: transport, Timeout: time.Minute}
		all.Go(func() {
			defer transport.CloseIdleConnections()
			for {
				select {
				case <-end:
					return
				default:
				}
				res, err := client.Post(url+"/v1/ids", "application/json", strings.NewReader(`{"count":1}`))
				if err == nil {
					_, err = io.Copy(io.Discard, res.Body)
					res.Body.Close()
					if err == nil && res.StatusCode != http.StatusOK {
						err = fmt.Errorf("status %d", res.StatusCode)
					}
				}
				count.Add(1)
				if err != nil {
					mu.Lock()
					lost = append(lost, fmt.Sprintf("client %d: %v", i, err))
					mu.Unlock()
				}
				time.Sleep(time.Duration(random.IntN(1 << (2 * i)))) // up to 4 ms
			}
		})
	}
	return func() (int64, []string) {
		close(end)
		all.Wait()
		return count.Load(), lost
	}
}

// A restart at a socket of systemd, with another program file, loses no request: the socket
// stays open, and what was sent to the one that stops is answered.
func TestRestartLosesNothing(t *testing.T) {
	socket, url := socketOfSystemd(t)
	self, err := exec.LookPath("oid")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "oid")
	store := "sqlite:" + filepath.Join(t.TempDir(), "store.db")
	install := func() {
		t.Helper()
		if err := errors.Join(os.Symlink(self, program+".new"), os.Rename(program+".new", program)); err != nil {
			t.Fatal(err)
		}
	}
	start := func() *exec.Cmd {
		t.Helper()
		serve := exec.Command("sh", "-c", `LISTEN_PID=$$ exec "$0" serve --quiet --drain 100ms --store "$1"`, program, store)
		serve.Env, serve.ExtraFiles = append(os.Environ(), "LISTEN_FDS=1"), []*os.File{socket}
		said, err := serve.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := serve.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(said)
		for lines.Scan() && !strings.Contains(lines.Text(), "serving on") {
		}
		go io.Copy(os.Stderr, said)
		return serve
	}
	install()
	serve := start()
	stop := restartClients(t, 12, url)
	for range 3 {
		time.Sleep(300 * time.Millisecond)
		install() // over the one that runs
		if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := serve.Wait(); err != nil {
			t.Errorf("it ends with %v", err)
		}
		serve = start()
	}
	sent, lost := stop()
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = serve.Wait()
	if len(lost) > 0 || sent < 100 {
		t.Errorf("%d of %d requests were lost: %q", len(lost), sent, lost[:min(len(lost), 5)])
	}
}

// A server with a socket of its own answers after SIGTERM what was sent before. What comes
// later is refused at once.
func TestStopAnswersWhatWasSent(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	serve, url, log := startServe(ctx, t, "--quiet", "--drain", "100ms")
	go func() {
		for log.Scan() { // so that it need not wait
		}
	}()
	stop := restartClients(t, 12, url)
	time.Sleep(300 * time.Millisecond)
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = serve.Wait()
	sent, lost := stop()
	// Without a connection nothing was sent. One that waited to be accepted is reset.
	lost = slices.DeleteFunc(lost, func(text string) bool { return strings.Contains(text, ": dial tcp ") })
	if len(lost) > 0 || sent < 100 {
		t.Errorf("%d of %d requests were lost: %q", len(lost), sent, lost[:min(len(lost), 5)])
	}
}
