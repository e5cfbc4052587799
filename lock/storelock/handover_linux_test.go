package storelock_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/storelock"
)

// handovers is how many handovers each test measures, and handoverLimit is the longest
// median that it allows. A waiter that nobody wakes looks every 1 to 2 seconds, so that
// its median is above 600 ms. One that is woken takes 1 to 6 ms.
const (
	handovers     = 9
	handoverLimit = 300 * time.Millisecond
)

// signalling are the engines with a store.Signaler.
var signalling = []string{"SQLite", "PostgreSQL"}

// hold takes the lock of a test and keeps it until it is killed.
func hold(uri string) error {
	ctx := context.Background()
	s, err := openStore(ctx, uri)
	if err != nil {
		return err
	}
	l, err := storelock.New(s, nil)
	if err != nil {
		return err
	}
	if _, err := l.Acquire(ctx, "job", nil); err != nil {
		return err
	}
	select {}
}

// A release wakes the first waiter, and so does the end of a holder on the waiter's host.
func TestHandover(t *testing.T) {
	for _, name := range signalling {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			uri := places[name](t).uris[0]
			open := func() *storelock.Locker {
				s, err := openStore(t.Context(), uri)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Close() })
				return newLocker(t, s, nil)
			}
			a, b := open(), open()
			t.Run("release", func(t *testing.T) {
				measureHandover(t, b, func() func() {
					lease, err := a.Acquire(t.Context(), "job", nil)
					if err != nil {
						t.Fatal(err)
					}
					return func() {
						if err := lease.Release(); err != nil {
							t.Error(err)
						}
					}
				})
			})
			t.Run("kill -9", func(t *testing.T) {
				measureHandover(t, b, func() func() {
					cmd := exec.CommandContext(t.Context(), os.Args[0])
					cmd.Env = append(os.Environ(), "OID_STORELOCK_HOLDER="+uri)
					cmd.Stderr = os.Stderr
					if err := cmd.Start(); err != nil {
						t.Fatal(err)
					}
					awaitStatus(t, a, func(s lock.Status) bool { return s.Held })
					return func() {
						_ = cmd.Process.Kill()
						go cmd.Wait()
					}
				})
			})
		})
	}
}

// awaitStatus waits until the lock of the test looks as it should.
func awaitStatus(t *testing.T, l *storelock.Locker, is func(lock.Status) bool) {
	t.Helper()
	testenv.Await(t, "status", func() error {
		s, err := l.Status(t.Context(), "job")
		if err == nil && !is(s) {
			err = errors.New("not yet")
		}
		return err
	})
}

// measureHandover lets a waiter wait for a holder again and again until it is in the
// queue, and measures how long after the end of the holder it has the lock. begin makes a
// holder and returns what ends it.
func measureHandover(t *testing.T, waiter *storelock.Locker, begin func() (end func())) {
	var took []time.Duration
	for range handovers {
		end := begin()
		got := make(chan *lock.Lease, 1)
		go func() {
			defer close(got)
			lease, err := waiter.Acquire(t.Context(), "job", nil)
			if err != nil {
				t.Error(err)
				return
			}
			got <- lease
		}()
		awaitStatus(t, waiter, func(s lock.Status) bool { return s.Held && s.Waiters == 1 })
		time.Sleep(handoverLimit / 3) // signals arrive and the first pauses, which are short, are over
		began := time.Now()
		end()
		lease := <-got
		took = append(took, time.Since(began))
		if lease == nil {
			return
		}
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
	}
	slices.Sort(took)
	t.Logf("%d handovers: median %v, longest %v", len(took), took[len(took)/2], took[len(took)-1])
	if median := took[len(took)/2]; median > handoverLimit {
		t.Errorf("the median handover took %v, want at most %v; all: %v", median, handoverLimit, took)
	}
}

// With the end of a call ends its watch of the holder's process.
func TestWatchEndsWithTheCall(t *testing.T) {
	uri := places["SQLite"](t).uris[0]
	s, err := openStore(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	l := newLocker(t, s, nil)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "OID_STORELOCK_HOLDER="+uri)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	awaitStatus(t, l, func(s lock.Status) bool { return s.Held })
	before := pidfds(cmd.Process.Pid) // package os has one
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := l.Acquire(ctx, "job", nil)
		ended <- err
	}()
	testenv.Await(t, "watch", func() error {
		if pidfds(cmd.Process.Pid) == before {
			return errors.New("nobody watches")
		}
		return nil
	})
	stop()
	<-ended
	testenv.Await(t, "end of the watch", func() error {
		if pidfds(cmd.Process.Pid) != before {
			return errors.New("somebody watches")
		}
		return nil
	})
}

// pidfds returns how many descriptors of a process this one has.
func pidfds(pid int) (n int) {
	files, _ := filepath.Glob("/proc/self/fdinfo/*")
	for _, file := range files {
		text, _ := os.ReadFile(file) // it may have been closed
		if strings.Contains(string(text), fmt.Sprintf("\nPid:\t%d\n", pid)) {
			n++
		}
	}
	return n
}
