package locktest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

// After Close of its Locker, a lease ends at its deadline and not before. Without a deadline
// it continues.
func testLeasesAfterClose(t testing.TB, open func() lock.Locker) {
	a, b := open(), open()
	lease := testenv.Must(a.Acquire(t.Context(), "job", &lock.AcquireOptions{TTL: time.Second}))(t)
	testenv.WantError(t, "Close", a.Close(), nil)
	wantHeld(t, b, "after Close")
	if lease.Deadline().IsZero() {
		testenv.WantError(t, "Check after Close", lease.Check(), nil)
		release(t, lease)
	}
	next := acquire(t, b, "job")
	if err := lease.Check(); err == nil {
		t.Error("the next has the lock and the lease goes on")
	}
	if err := lease.Release(); !errors.Is(err, lock.ErrExpired) && !lease.Deadline().IsZero() {
		t.Errorf("Release after the end: %v, want ErrExpired", err)
	}
	wantHeld(t, b, "after the Release of the lease that has ended")
	if next.Fence() <= lease.Fence() {
		t.Errorf("fence %d after %d", next.Fence(), lease.Fence())
	}
	release(t, next)
}

// A lease is held for several TTLs while another call waits. That call gets the lock
// afterwards.
func testLeaseIsRenewed(t testing.TB, open func() lock.Locker) {
	// A lease may end early on a machine that is too slow for its TTL.
	for ttl := 2 * lock.MinTTL; !renewed(t, open(), open(), ttl) && !t.Failed(); ttl *= 2 {
		if ttl > patience/2 {
			t.Fatalf("a lease with the TTL %v was not renewed in time", ttl)
		}
	}
}

// renewed reports whether a lease of a was held for four TTLs, until a was closed.
func renewed(t testing.TB, a, b lock.Locker, ttl time.Duration) bool {
	name := "TTL " + ttl.String()
	ctx, cancel := context.WithTimeout(t.Context(), 5*ttl+patience)
	defer cancel()
	lease := testenv.Must(a.Acquire(ctx, name, &lock.AcquireOptions{TTL: ttl}))(t)
	var held atomic.Bool
	end := time.AfterFunc(4*ttl, func() {
		held.Store(lease.Check() == nil)
		if lease.Deadline().IsZero() {
			_ = lease.Release()
		}
		_ = a.Close()
	})
	defer end.Stop()
	next := testenv.Must(b.Acquire(ctx, name, nil))(t)
	if lease.Check() == nil {
		t.Errorf("the next has the lock while the lease with the TTL %v goes on", ttl)
	}
	release(t, next)
	return held.Load()
}
