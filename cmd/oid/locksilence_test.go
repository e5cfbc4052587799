//go:build unix

package main

import (
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// A place that cannot be reached or does not answer says nothing of the lock: the exit
// code is 125 and not that of a lock that another has, with and without --wait. Cron
// jobs would be skipped silently otherwise.
func TestLockPlaceThatDoesNotAnswer(t *testing.T) {
	redis := testenv.Redis(t)
	stopServer(t, redis.PID())
	postgres, err := url.Parse(testenv.PostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	silent := testenv.NewCable(t, postgres.Host)
	silent.Cut(true, true)
	postgres.Host = silent.Addr
	nobody := net.JoinHostPort("127.0.0.1", strconv.Itoa(testenv.FreePort(t)))
	for place, at := range map[string]string{
		"a Redis that hangs": redis.URL(), "no Redis": "redis://" + nobody, "no cluster": "redis://" + nobody + "?addr=" + nobody,
		"no Sentinel": "redis-sentinel://" + nobody + "/m", "a PostgreSQL that hangs": postgres.String(),
		"no PostgreSQL": "postgres://" + nobody + "/db", "no MongoDB": "mongodb://" + nobody + "/db?serverSelectionTimeoutMS=500",
	} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			for _, wait := range []string{"0", "1500ms"} {
				h := startLock(t, nil, "job", "--locks", at, "--wait", wait, "--", "true")
				began := time.Now()
				if code := h.code(); code != exitLockFailed {
					t.Errorf("--wait %s: exit code %d, want %d", wait, code, exitLockFailed)
				}
				if said := h.stderr.String(); said == "" || strings.Contains(said, "held") || strings.Contains(said, "not free") {
					t.Errorf("--wait %s: said %q, want why the place did not answer", wait, said)
				}
				t.Logf("--wait %s: %v, %s", wait, time.Since(began).Round(time.Millisecond), strings.TrimSpace(h.stderr.String()))
			}
		})
	}
}

// stopServer stops a process until the test ends: it keeps its connections and answers
// nothing.
func stopServer(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Signal(syscall.SIGCONT) })
}

// A lock that was held when the place stopped answering is not said to be held.
func TestLockPlaceThatFallsSilent(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	redis := testenv.Redis(t)
	holder := startLock(t, nil, "job", "--locks", redis.URL(), "--", "sh", "-c", "echo held; exec sleep 1000")
	holder.line()
	postgres := testenv.PostgresSchema(t, testenv.PostgresURL(t))
	where, err := url.Parse(postgres)
	if err != nil {
		t.Fatal(err)
	}
	proxy := testenv.NewCable(t, where.Host)
	where.Host = proxy.Addr
	inStore := startLock(t, nil, "job", "--locks", postgres, "--", "sh", "-c", "echo held; exec sleep 1000")
	inStore.line()

	waiters := map[string]*holding{
		"Redis":      startLock(t, nil, "job", "--locks", redis.URL(), "--wait", "10s", "--", "true"),
		"PostgreSQL": startLock(t, nil, "job", "--locks", where.String(), "--wait", "10s", "--", "true"),
	}
	time.Sleep(2 * time.Second) // they have been refused
	stopServer(t, redis.PID())
	proxy.Cut(true, true)
	for place, w := range waiters {
		began := time.Now()
		got := w.code()
		t.Logf("%s: ended after %v: %s", place, time.Since(began), w.stderr.String())
		if place == "Redis" && strings.Count(w.stderr.String(), "warning: waiting for the lock") != 1 {
			t.Errorf("%s: said %q, want one warning that it does not answer", place, w.stderr.String())
		}
		if got != exitLockFailed || strings.Contains(w.stderr.String(), "held by") {
			t.Errorf("%s: exit code %d, want %d; said %q", place, got, exitLockFailed, w.stderr.String())
		}
	}
}

// --wait covers connecting: a server that starts meanwhile, and a failover of Sentinel,
// cost no start.
func TestLockWaitCoversConnecting(t *testing.T) {
	t.Parallel()
	redis := testenv.Redis(t)
	redis.Kill()
	started := make(chan struct{})
	go func() {
		defer close(started)
		time.Sleep(time.Second)
		redis.Start()
	}()
	for _, args := range [][]string{{"job", "--wait", "30s"}, {"other"}} {
		h := startLock(t, nil, append(args, "--locks", redis.URL(), "--", "echo", "ran")...)
		if line, code := h.line(), h.code(); line != "ran" || code != 0 {
			t.Errorf("%q: exit code %d, %q; want that it ran; said %s", args, code, line, h.stderr.String())
		}
	}
	<-started
}

func TestLockDuringAFailover(t *testing.T) {
	t.Parallel()
	set := testenv.RedisSentinel(t, 0)
	set.Primary.Kill()
	for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(100 * time.Millisecond) {
		h := startLock(t, nil, "job", "--locks", set.URL(), "--wait", "30s", "--", "true")
		if code := h.code(); code != 0 {
			t.Fatalf("%v after the end of the primary: exit code %d, want 0; said %s", time.Since(began), code, h.stderr.String())
		}
	}
}
