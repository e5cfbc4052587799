package locktest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/oidkit/oid/lock"
)

func testDo(t *testing.T, open func() lock.Locker) {
	l := open()
	boom := errors.New("boom")
	err := lock.Do(t.Context(), l, "job", func(ctx context.Context, lease *lock.Lease) error {
		if err := errors.Join(ctx.Err(), lease.Check()); err != nil {
			t.Errorf("inside Do: %v", err)
		}
		return boom
	})
	if !errors.Is(err, boom) {
		t.Errorf("Do: %v, want boom", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = lock.Do(ctx, l, "job", func(ctx context.Context, _ *lock.Lease) error {
		cancel()
		<-ctx.Done()
		return nil
	})
	if err != nil {
		t.Errorf("Do: %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = lock.Do(t.Context(), l, "job", func(context.Context, *lock.Lease) error { panic("boom") })
	}()
	lease, err := l.TryAcquire(t.Context(), "job")
	if err != nil {
		t.Fatalf("after a panic inside Do: %v", err)
	}
	release(t, lease)
}

func testLeaseOutlivesItsCtx(t *testing.T, open func() lock.Locker) {
	type key struct{}
	l := open()
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "kept"))
	lease, err := l.Acquire(ctx, "job")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := errors.Join(lease.Check(), lease.Context().Err()); err != nil {
		t.Errorf("after the end of Acquire's ctx: %v", err)
	}
	if got := fmt.Sprint(lease.Context().Value(key{})); got != "kept" {
		t.Errorf("value of the lease's context: %s", got)
	}
	release(t, lease)
}

func testContextTellsTheCause(t *testing.T, open func() lock.Locker) {
	lease := acquire(t, open(), "job")
	release(t, lease)
	if cause := context.Cause(lease.Context()); !errors.Is(cause, lock.ErrReleased) {
		t.Errorf("cause %v, want ErrReleased", cause)
	}
	if err := lease.Check(); !errors.Is(err, lock.ErrReleased) {
		t.Errorf("Check after Release: %v, want ErrReleased", err)
	}
}
