package locktest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

// A lock that is broken goes to its waiters in their order, with a greater fence, and its holder
// learns who has broken it. Nobody else loses a lease by that. A lease without a deadline goes
// on, and the error says why.
func testBreak(t testing.TB, open func() lock.Locker) {
	const ttl = 2 * time.Second
	a, b := open(), open()
	testenv.WantError(t, "Break of a lock that was never used", b.Break(t.Context(), "job", lock.Owner{}), lock.ErrLost)
	testenv.WantError(t, "Break of a bad name", b.Break(t.Context(), "", lock.Owner{}), lock.ErrInvalid)
	before := acquire(t, a, "job")
	release(t, before)
	testenv.WantError(t, "Break of a lease that was released", b.Break(t.Context(), "job", before.Owner()), lock.ErrLost)
	lease := testenv.Must(a.Acquire(t.Context(), "job", &lock.AcquireOptions{TTL: ttl}))(t)
	testenv.WantError(t, "Break of the last lease", b.Break(t.Context(), "job", before.Owner()), lock.ErrLost)
	testenv.WantError(t, "Break without an owner", b.Break(t.Context(), "job", lock.Owner{}), lock.ErrLost)
	testenv.WantError(t, "Check afterwards", lease.Check(), nil)
	wantHeld(t, b, "after the break of other leases")
	if lease.Deadline().IsZero() {
		err := b.Break(t.Context(), "job", lease.Owner())
		if err == nil || errors.Is(err, lock.ErrLost) || !strings.Contains(err.Error(), fmt.Sprintf("kill %d", os.Getpid())) {
			t.Errorf("Break: %v, want that it says which process to end", err)
		}
		wantHeld(t, b, "after Break")
		release(t, lease)
		return
	}
	first := async(func() *lock.Lease { return acquire(t, b, "job") })
	wantWaiters(t, b, 1)
	second := async(func() *lock.Lease { return acquire(t, a, "job") })
	wantWaiters(t, b, 2)
	broken := time.Now()
	testenv.WantError(t, "Break", b.Break(t.Context(), "job", lease.Owner()), nil)
	next := receive(t, first)
	if next.Fence() <= lease.Fence() {
		t.Errorf("fence %d after %d, which was broken", next.Fence(), lease.Fence())
	}
	testenv.WantError(t, "Break again", b.Break(t.Context(), "job", lease.Owner()), lock.ErrLost)
	select {
	case <-lease.Context().Done():
	case <-time.After(patience):
		t.Fatal("the lease that was broken goes on")
	}
	if took := time.Since(broken); took > ttl/3+patience/30 {
		t.Errorf("the lease went on for %v, want at most a third of its TTL, %v", took, ttl)
	}
	cause := context.Cause(lease.Context())
	testenv.WantError(t, "cause", cause, lock.ErrLost)
	if !strings.Contains(cause.Error(), fmt.Sprintf("broken by pid %d", os.Getpid())) {
		t.Errorf("cause: %v, want who broke the lock", cause)
	}
	testenv.WantError(t, "Release of the broken lease", lease.Release(), lock.ErrLost)
	testenv.WantError(t, "Check of the next", next.Check(), nil)
	wantHeld(t, a, "by the next")
	release(t, next)
	release(t, receive(t, second))
	quick := testenv.Must(a.Acquire(t.Context(), "job", &lock.AcquireOptions{TTL: ttl}))(t)
	testenv.WantError(t, "Break", b.Break(t.Context(), "job", quick.Owner()), nil)
	release(t, acquire(t, b, "job"))
	if err := quick.Release(); !errors.Is(err, lock.ErrLost) || !strings.Contains(err.Error(), "broken by pid ") {
		t.Errorf("Release when others have had the lock: %v, want who broke it", err)
	}
	testenv.WantError(t, "Break of a free lock", b.Break(t.Context(), "job", next.Owner()), lock.ErrLost)
	testenv.WantError(t, "Close", b.Close(), nil)
	testenv.WantError(t, "Break after Close", b.Break(t.Context(), "job", next.Owner()), lock.ErrClosed)
}

// wantWaiters waits until n calls wait for the lock job.
func wantWaiters(t testing.TB, l lock.Locker, n int) {
	t.Helper()
	if !within(func() bool { s, err := l.Status(t.Context(), "job"); return err == nil && s.Waiters == n }) {
		t.Fatalf("%d calls do not wait for the lock", n)
	}
}

// A tick whose lock is broken counts as one whose host died: nobody runs it again without
// Retry, its function ends, and the next tick runs.
func testBrokenTick(t testing.TB, open func() lock.Locker) {
	a, b := open(), open()
	tick := lock.KeySchedule("first")
	o := &lock.OnceOptions{Acquire: lock.AcquireOptions{TTL: time.Second}}
	ctx, stop := context.WithTimeout(t.Context(), patience/2) // if the break does nothing
	defer stop()
	began := make(chan *lock.Lease, 1)
	run := async(func() error {
		_, err := lock.Once(ctx, a, "job", tick, func(ctx context.Context, lease *lock.Lease, _ lock.Run) error {
			began <- lease
			if lease.Deadline().IsZero() {
				return nil
			}
			<-ctx.Done()
			return context.Cause(ctx)
		}, o)
		return err
	})
	lease := receive(t, began)
	if lease.Deadline().IsZero() {
		testenv.WantError(t, "Once", receive(t, run), nil)
		return
	}
	testenv.WantError(t, "Break", b.Break(t.Context(), "job", lease.Owner()), nil)
	testenv.WantError(t, "Once whose lock was broken", receive(t, run), lock.ErrLost)
	no := func(context.Context, *lock.Lease, lock.Run) error { t.Error("the tick runs again"); return nil }
	r, err := lock.Once(t.Context(), b, "job", tick, no, o)
	if err != nil || r.Outcome != lock.OutcomeDied {
		t.Errorf("the tick afterwards: %+v, %v; want %s", r, err, lock.OutcomeDied)
	}
	ran := false
	_, err = lock.Once(t.Context(), b, "job", lock.KeySchedule("second"), func(context.Context, *lock.Lease, lock.Run) error { ran = true; return nil }, o)
	if err != nil || !ran {
		t.Errorf("the next tick: %v, ran: %v", err, ran)
	}
}

// While holders come and go, Break ends the leases that it names, and no others.
func testBreakMeetsNoOther(t testing.TB, open func() lock.Locker) {
	const turns = 40
	var mu sync.Mutex
	broken, lost := make(map[lock.Owner]bool), make(map[lock.Owner]bool)
	var workers sync.WaitGroup
	var ended atomic.Bool
	for range 3 {
		l := open()
		workers.Go(func() {
			for range turns {
				ctx, stop := context.WithTimeout(t.Context(), patience)
				lease, err := l.Acquire(ctx, "job", nil)
				stop()
				if err != nil {
					t.Errorf("Acquire: %v", err)
					return
				}
				time.Sleep(time.Millisecond)
				err = lease.Release()
				mu.Lock()
				if errors.Is(err, lock.ErrLost) {
					lost[lease.Owner()] = true
				} else if err != nil {
					t.Errorf("Release: %v", err)
				}
				mu.Unlock()
			}
		})
	}
	l := open()
	var breaker sync.WaitGroup
	breaker.Go(func() {
		for !ended.Load() {
			s, err := l.Status(t.Context(), "job")
			if err == nil && s.Held {
				time.Sleep(time.Millisecond / 2) // often the next one holds the lock by now
				if err = l.Break(t.Context(), "job", s.Owner); err == nil {
					mu.Lock()
					broken[s.Owner] = true
					mu.Unlock()
				}
			}
			time.Sleep(time.Millisecond)
		}
	})
	workers.Wait()
	ended.Store(true)
	breaker.Wait()
	for owner := range lost {
		if !broken[owner] {
			t.Errorf("%v lost its lease, which nobody has broken", owner)
		}
	}
	for owner := range broken {
		if !lost[owner] {
			t.Errorf("the lease of %v was broken and not lost", owner)
		}
	}
	t.Logf("%d leases were broken", len(broken))
}
