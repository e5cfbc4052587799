package locktest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

func testDo(t testing.TB, open func() lock.Locker) {
	l := open()
	boom := errors.New("boom")
	err := lock.Do(t.Context(), l, "job", func(ctx context.Context, lease *lock.Lease) error {
		testenv.WantError(t, "inside Do", errors.Join(ctx.Err(), lease.Check()), nil)
		return boom
	}, nil)
	testenv.WantError(t, "Do", err, boom)
	ctx, cancel := context.WithCancel(t.Context())
	err = lock.Do(ctx, l, "job", func(ctx context.Context, _ *lock.Lease) error {
		cancel()
		<-ctx.Done()
		return nil
	}, nil)
	testenv.WantError(t, "Do whose ctx has ended", err, nil)
	func() {
		defer func() { _ = recover() }()
		_ = lock.Do(t.Context(), l, "job", func(context.Context, *lock.Lease) error { panic("boom") }, nil)
	}()
	release(t, testenv.Must(l.TryAcquire(t.Context(), "job", nil))(t))
}

func testLeaseOutlivesItsCtx(t testing.TB, open func() lock.Locker) {
	type key struct{}
	l := open()
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "kept"))
	lease := testenv.Must(l.Acquire(ctx, "job", nil))(t)
	cancel()
	time.Sleep(20 * time.Millisecond)
	testenv.WantError(t, "after the end of Acquire's ctx", errors.Join(lease.Check(), lease.Context().Err()), nil)
	wantHeld(t, l, "after the end of Acquire's ctx")
	if got := fmt.Sprint(lease.Context().Value(key{})); got != "kept" {
		t.Errorf("value of the lease's context: %s", got)
	}
	release(t, lease)
}

func testContextHasTheCause(t testing.TB, open func() lock.Locker) {
	lease := acquire(t, open(), "job")
	release(t, lease)
	testenv.WantError(t, "cause", context.Cause(lease.Context()), lock.ErrReleased)
	testenv.WantError(t, "Check after Release", lease.Check(), lock.ErrReleased)
}

// The status describes the process that holds the lock.
func testStatusDescribesTheHolder(t testing.TB, open func() lock.Locker) {
	a, b := open(), open()
	lease := testenv.Must(a.Acquire(t.Context(), "job", &lock.AcquireOptions{Command: "make all", TTL: time.Minute}))(t)
	s, err := b.Status(t.Context(), "job")
	if err != nil || s.Holder.Command != "make all" || s.Holder.Host == "" {
		t.Errorf("Status = %+v, %v; want the holder's host and command", s, err)
	}
	if self, err := gpid.ProcessOf(os.Getpid()); err == nil && (s.Holder.Process != self || s.Holder.State != lock.StateAlive) {
		t.Errorf("holder %+v, want this process, alive", s.Holder)
	}
	testenv.WantError(t, "SetGroup", lease.SetGroup(os.Getpid()), nil)
	if s, err := b.Status(t.Context(), "job"); err != nil || s.Holder.Group != os.Getpid() {
		t.Errorf("after SetGroup: %+v, %v", s.Holder, err)
	}
	release(t, lease)
}

func testBadTTL(t testing.TB, open func() lock.Locker) {
	l := open()
	for _, ttl := range []time.Duration{-1, lock.MinTTL - 1, lock.MaxTTL + 1} {
		o := &lock.AcquireOptions{TTL: ttl}
		testenv.WantError(t, ttl.String(), testenv.ErrOf(l.Acquire(t.Context(), "job", o)), lock.ErrInvalid)
		testenv.WantError(t, ttl.String(), testenv.ErrOf(l.TryAcquire(t.Context(), "job", o)), lock.ErrInvalid)
	}
	release(t, testenv.Must(l.TryAcquire(t.Context(), "job", &lock.AcquireOptions{TTL: lock.MaxTTL}))(t))
	// On a busy machine a lease with the shortest TTL may end before the call returns.
	for {
		lease, err := l.TryAcquire(t.Context(), "job", &lock.AcquireOptions{TTL: lock.MinTTL})
		if err == nil {
			if err := lease.Release(); err != nil && !errors.Is(err, lock.ErrLost) && !errors.Is(err, lock.ErrExpired) && !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("Release: %v", err)
			}
			return
		}
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, lock.ErrHeld) {
			t.Fatalf("TTL %v: %v", lock.MinTTL, err)
		}
	}
}
