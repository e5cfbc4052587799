package filelock_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/filelock"
)

// While this process has too many open files, Acquire waits and tells that once. TryAcquire
// returns the error, and so does Acquire when its ctx ends.
func TestTooManyOpenFiles(t *testing.T) {
	events := make(chan lock.Event, 100)
	l := testenv.Must(filelock.New(t.TempDir(), &filelock.Options{Events: func(e lock.Event) { events <- e }}))(t)
	defer l.Close()
	var old syscall.Rlimit
	testenv.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old))
	next := testenv.Must(syscall.Open("/", syscall.O_RDONLY, 0))(t)
	syscall.Close(next)
	limit := func(n uint64) {
		testenv.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: old.Max}))
	}
	limit(uint64(next))
	defer limit(old.Cur)
	if _, err := l.TryAcquire(t.Context(), "job", nil); !errors.Is(err, syscall.EMFILE) || errors.Is(err, lock.ErrHeld) {
		t.Errorf("TryAcquire: %v, want EMFILE", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	if _, err := l.Acquire(ctx, "job", nil); !errors.Is(err, syscall.EMFILE) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Acquire: %v, want EMFILE and the end of ctx", err)
	}
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := lock.Runs(short, l, "job"); !errors.Is(err, syscall.EMFILE) || short.Err() == nil {
		t.Errorf("Runs: %v, want EMFILE, and not before ctx has ended", err)
	}
	time.AfterFunc(2*time.Second, func() { limit(old.Cur) })
	lease, err := l.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	testenv.NoError(t, lease.Release())
	var kinds []lock.EventKind
	for range len(events) {
		e := <-events
		if kinds = append(kinds, e.Kind); e.Kind == lock.EventUnanswered && !errors.Is(e.Err, syscall.EMFILE) {
			t.Errorf("unanswered: %v, want EMFILE", e.Err)
		}
	}
	t.Log(kinds)
	count := func(kind lock.EventKind) (n int) {
		for _, k := range kinds {
			if k == kind {
				n++
			}
		}
		return n
	}
	if count(lock.EventUnanswered) != 2 || count(lock.EventWaiting) != 0 || count(lock.EventFailed) != 2 {
		t.Errorf("events %v, want two times unanswered, and failed two times", kinds)
	}
}
