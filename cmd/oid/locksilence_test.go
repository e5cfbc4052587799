//go:build unix

package main

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// A backend that cannot be reached or does not answer says nothing of the lock: the exit
// code is 111 and not that of a lock that another has, with and without --wait. Cron
// jobs would be skipped silently otherwise.
func TestLockBackendThatDoesNotAnswer(t *testing.T) {
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
	for backend, at := range map[string]string{
		"a Redis that hangs": redis.URL(), "no Redis": "redis://" + nobody, "no cluster": "redis://:geheim@" + nobody + "?addr=" + nobody,
		"no Sentinel": "redis-sentinel://" + nobody + "/m", "a PostgreSQL that hangs": postgres.String(),
		"no PostgreSQL": "postgres://" + nobody + "/db", "no MongoDB": "mongodb://" + nobody + "/db?serverSelectionTimeoutMS=500",
	} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			for i, wait := range []string{"0", "1500ms", "0"} {
				flags := [][]string{nil, nil, {"--skipped", "0"}}[i] // which does not hide this
				h := startLock(t, nil, slices.Concat([]string{"job", "--locks", at, "--wait", wait}, flags, []string{"--", "true"})...)
				began := time.Now()
				if code := h.code(); code != exitLockFailed {
					t.Errorf("--wait %s: exit code %d, want %d", wait, code, exitLockFailed)
				}
				said := h.stderr.String()
				if !strings.Contains(said, "oid: no lock within ") || strings.Contains(said, "(--wait)") != (wait != "0") || !strings.Contains(said, " does not answer (") ||
					strings.Contains(said, "context deadline exceeded") || strings.Contains(said, "held") || strings.Contains(said, "geheim") {
					t.Errorf("--wait %s: said %q, want which backend does not answer, for how long, and why", wait, said)
				}
				if took := time.Since(began); wait == "0" && took > answerTime+2*time.Second {
					t.Errorf("--wait 0: took %v, want at most %v", took, answerTime)
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

// A server that hangs while oid waits is named once, after some seconds; then the waiting ends in time,
// and a lock that was held before is not said to be held.
func TestLockPlaceThatFallsSilent(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	const wait = 14 * time.Second
	for backend, start := range map[string]func(*testing.T) (url string, stop func()){
		"Redis": func(t *testing.T) (string, func()) {
			redis := testenv.Redis(t)
			return redis.URL(), func() { stopServer(t, redis.PID()) }
		},
		"PostgreSQL": func(t *testing.T) (string, func()) {
			postgres := testenv.Postgres(t)
			return postgres.URL(), func() { postgres.Signal(syscall.SIGSTOP) }
		},
		"MongoDB": func(t *testing.T) (string, func()) {
			mongo, err := url.Parse(testenv.MongoDB(t))
			if err != nil {
				t.Fatal(err)
			}
			cable := testenv.NewCable(t, mongo.Host)
			mongo.Host = cable.Addr
			return mongo.String(), func() { cable.Cut(true, true) }
		},
	} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			at, stop := start(t)
			holder := startLock(t, nil, "job", "--locks", at, "--", "sh", "-c", "echo held; exec sleep 1000")
			holder.line()
			began := time.Now()
			w := startLock(t, nil, "job", "--locks", at, "--wait", wait.String(), "--skipped", "0", "--", "true") // --skipped does not hide this
			time.Sleep(2 * time.Second)                                                                           // it has been refused
			stop()
			testenv.Await(t, "warning of the silence", func() error {
				if said := w.stderr.String(); !strings.Contains(said, "warning") {
					return fmt.Errorf("said %q", said)
				}
				return nil
			})
			if warned := time.Since(began); warned > wait-time.Second {
				t.Errorf("warned after %v, want soon after the 2 s", warned)
			}
			got, took, said := w.code(), time.Since(began), w.stderr.String()
			t.Logf("ended after %v:\n%s", took, said)
			base, _, _ := strings.Cut(at, "?")
			base = strings.Replace(base, "oid@", "", 1)
			if strings.Count(said, "warning: waiting for the lock \"job\": "+base+" does not answer (") != 1 ||
				!strings.Contains(said, "no lock within 14s (--wait): "+base+" does not answer (") || strings.Contains(said, "context deadline exceeded") {
				t.Errorf("said %q, want one warning and an error that name %s", said, base)
			}
			if got != exitLockFailed || strings.Contains(said, "held by") || took > wait+4*time.Second {
				t.Errorf("exit code %d after %v, want %d after %v and not much more", got, took, exitLockFailed, wait)
			}
		})
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

// oid waits while Redis refuses requests for a reason that passes, says once why, and then runs
// the command. Without time left, the exit code is that of a failure, not of a held lock.
func TestLockWaitsForErrorsThatPass(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	for reason, change := range map[string]struct{ begin, end []string }{
		"its memory is full": {[]string{"CONFIG", "SET", "maxmemory", "1"}, []string{"CONFIG", "SET", "maxmemory", "0"}},
		"it is a replica":    {[]string{"REPLICAOF", "127.0.0.1", "1"}, []string{"REPLICAOF", "NO", "ONE"}},
		"it has lost its replicas": {
			[]string{"CONFIG", "SET", "min-replicas-to-write", "1"}, []string{"CONFIG", "SET", "min-replicas-to-write", "0"},
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			redis := testenv.Redis(t)
			redis.CLI(change.begin...)
			late := startLock(t, nil, "job", "--locks", redis.URL(), "--wait", "0", "--", "true")
			if code, said := late.code(), late.stderr.String(); code != exitLockFailed || !strings.Contains(said, "refuses requests for now, because "+reason+" (") {
				t.Errorf("--wait 0: exit code %d, said %q; want %d and the reason", code, said, exitLockFailed)
			}
			waiter := startLock(t, nil, "job", "--locks", redis.URL(), "--wait", "1m", "--", "echo", "ran")
			testenv.Await(t, "warning", func() error {
				if said := waiter.stderr.String(); !strings.Contains(said, "waiting for the lock") {
					return fmt.Errorf("said %q", said)
				}
				return nil
			})
			time.Sleep(time.Second)
			redis.CLI(change.end...)
			healed := time.Now()
			line, code := waiter.line(), waiter.code()
			if said := waiter.stderr.String(); line != "ran" || code != 0 || strings.Count(said, "because "+reason+" (") != 1 {
				t.Errorf("exit code %d, printed %q, said %q; want that it ran, and one warning", code, line, said)
			}
			if took := time.Since(healed); took > 5*time.Second {
				t.Errorf("it ran %v after Redis accepted requests again", took)
			}
		})
	}
}

// If the key of the lock belongs to another program, oid does not say that Redis is silent.
func TestLockForeignKeyIsNoSilence(t *testing.T) {
	redis := testenv.Redis(t)
	redis.CLI("SET", "oid:lock:{job}", "x")
	h := startLock(t, nil, "job", "--locks", redis.URL(), "--wait", "500ms", "--", "true")
	if code := h.code(); code != exitLockFailed {
		t.Errorf("exit code %d, want %d", code, exitLockFailed)
	}
	const want = `: the key of the lock has the value "x": it does not begin with a fence`
	if said := h.stderr.String(); strings.Count(said, want) != 2 || strings.Contains(said, "does not answer") {
		t.Errorf("said %q, want a warning and an error with %q", said, want)
	}
}
