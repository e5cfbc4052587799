package locktest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock"
)

func testDo(t testing.TB, open func() lock.Locker) {
	l := open()
	boom := errors.New("boom")
	err := lock.Do(t.Context(), l, "job", func(ctx context.Context, lease *lock.Lease) error {
		if err := errors.Join(ctx.Err(), lease.Check()); err != nil {
			t.Errorf("inside Do: %v", err)
		}
		return boom
	}, nil)
	if !errors.Is(err, boom) {
		t.Errorf("Do: %v, want boom", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = lock.Do(ctx, l, "job", func(ctx context.Context, _ *lock.Lease) error {
		cancel()
		<-ctx.Done()
		return nil
	}, nil)
	if err != nil {
		t.Errorf("Do: %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = lock.Do(t.Context(), l, "job", func(context.Context, *lock.Lease) error { panic("boom") }, nil)
	}()
	lease, err := l.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatalf("after a panic inside Do: %v", err)
	}
	release(t, lease)
}

func testLeaseOutlivesItsCtx(t testing.TB, open func() lock.Locker) {
	type key struct{}
	l := open()
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "kept"))
	lease, err := l.Acquire(ctx, "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	time.Sleep(20 * time.Millisecond)
	if err := errors.Join(lease.Check(), lease.Context().Err()); err != nil {
		t.Errorf("after the end of Acquire's ctx: %v", err)
	}
	if _, err := l.TryAcquire(t.Context(), "job", nil); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("TryAcquire after the end of Acquire's ctx: %v, want ErrHeld", err)
	}
	if got := fmt.Sprint(lease.Context().Value(key{})); got != "kept" {
		t.Errorf("value of the lease's context: %s", got)
	}
	release(t, lease)
}

func testContextHasTheCause(t testing.TB, open func() lock.Locker) {
	lease := acquire(t, open(), "job")
	release(t, lease)
	if cause := context.Cause(lease.Context()); !errors.Is(cause, lock.ErrReleased) {
		t.Errorf("cause %v, want ErrReleased", cause)
	}
	if err := lease.Check(); !errors.Is(err, lock.ErrReleased) {
		t.Errorf("Check after Release: %v, want ErrReleased", err)
	}
}

// The status describes the process that holds the lock.
func testStatusDescribesTheHolder(t testing.TB, open func() lock.Locker) {
	a, b := open(), open()
	lease, err := a.Acquire(t.Context(), "job", &lock.AcquireOptions{Command: "make all", TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.Status(t.Context(), "job")
	if err != nil || s.Holder.Command != "make all" || s.Holder.Host == "" {
		t.Errorf("Status = %+v, %v; want the holder's host and command", s, err)
	}
	if self, err := gpid.ProcessOf(os.Getpid()); err == nil && (s.Holder.Process != self || s.Holder.State != lock.StateAlive) {
		t.Errorf("holder %+v, want this process, alive", s.Holder)
	}
	if err := lease.SetGroup(os.Getpid()); err != nil {
		t.Errorf("SetGroup: %v", err)
	}
	if s, err := b.Status(t.Context(), "job"); err != nil || s.Holder.Group != os.Getpid() {
		t.Errorf("after SetGroup: %+v, %v", s.Holder, err)
	}
	release(t, lease)
}

func testBadTTL(t testing.TB, open func() lock.Locker) {
	l := open()
	for _, ttl := range []time.Duration{-1, lock.MinTTL - 1, lock.MaxTTL + 1} {
		_, err1 := l.Acquire(t.Context(), "job", &lock.AcquireOptions{TTL: ttl})
		_, err2 := l.TryAcquire(t.Context(), "job", &lock.AcquireOptions{TTL: ttl})
		if !errors.Is(err1, lock.ErrInvalid) || !errors.Is(err2, lock.ErrInvalid) {
			t.Errorf("TTL %v: %v, %v; want ErrInvalid", ttl, err1, err2)
		}
	}
	lease, err := l.TryAcquire(t.Context(), "job", &lock.AcquireOptions{TTL: lock.MaxTTL})
	if err != nil {
		t.Fatalf("TTL %v: %v", lock.MaxTTL, err)
	}
	release(t, lease)
	// So short a lease may pass before a busy machine has it, or can give it back.
	for {
		lease, err := l.TryAcquire(t.Context(), "job", &lock.AcquireOptions{TTL: lock.MinTTL})
		if err == nil {
			if err := lease.Release(); err != nil && !errors.Is(err, lock.ErrLost) && !errors.Is(err, lock.ErrExpired) {
				t.Errorf("Release: %v", err)
			}
			return
		}
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, lock.ErrHeld) {
			t.Fatalf("TTL %v: %v", lock.MinTTL, err)
		}
	}
}
