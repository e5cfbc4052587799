package storelock_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
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
	if _, err := l.Acquire(ctx, "job"); err != nil {
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
					lease, err := a.Acquire(t.Context(), "job")
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
			lease, err := waiter.Acquire(t.Context(), "job")
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
