package lock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
	"github.com/oidkit/oid/lock/internal/engine"
)

// keeper is an engine whose answers the test makes. Real sockets do not go idle
// in a bubble of synctest; the engines' own tests use them.
type keeper struct {
	keep  func() (time.Time, error)
	free  error
	freed int
}

func (k *keeper) Keep() (time.Time, error) { return k.keep() }

func (k *keeper) SetGroup(int) error { return nil }

func (k *keeper) SetNote(string, time.Duration) error { return nil }

func (k *keeper) Free() error {
	k.freed++
	return k.free
}

const ttl = 30 * time.Second

func begin(k *keeper) *lock.Lease {
	return calls.NewLease(context.Background(), "job", lock.Owner{}, nil, engine.Grant{
		Fence: 7, Deadline: time.Now().Add(ttl), TTL: ttl, Keeper: k,
	})
}

func TestLeaseEndsAtItsDeadlineThoughTheEngineHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		over := make(chan struct{})
		defer close(over)
		lease := begin(&keeper{keep: func() (time.Time, error) {
			<-over
			return time.Time{}, errors.New("connection reset")
		}})
		<-lease.Context().Done()
		if d := time.Since(began); d != ttl {
			t.Errorf("ended after %v, want %v", d, ttl)
		}
		if cause := context.Cause(lease.Context()); !errors.Is(cause, lock.ErrExpired) {
			t.Errorf("cause %v, want ErrExpired", cause)
		}
		if err := lease.Release(); !errors.Is(err, lock.ErrExpired) {
			t.Errorf("Release: %v, want ErrExpired", err)
		}
	})
}

func TestLeaseEndsAtItsDeadlineThoughAnAnswerComesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		lease := begin(&keeper{keep: func() (time.Time, error) {
			time.Sleep(ttl)
			return time.Now().Add(ttl), nil
		}})
		time.Sleep(10 * ttl)
		if err := lease.Check(); !errors.Is(err, lock.ErrExpired) {
			t.Errorf("Check: %v, want ErrExpired", err)
		}
		if d := lease.Deadline().Sub(began); d != ttl {
			t.Errorf("deadline moved to %v after the beginning", d)
		}
	})
}

func TestLeaseIsTriedAgainAfterErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var mu sync.Mutex // a renewal may end while the test looks
		var tries []time.Duration
		lease := begin(&keeper{keep: func() (time.Time, error) {
			mu.Lock()
			defer mu.Unlock()
			tries = append(tries, time.Since(began))
			if len(tries) < 3 {
				return time.Time{}, errors.New("connection refused")
			}
			return time.Now().Add(ttl), nil
		}})
		time.Sleep(ttl)
		if err := lease.Check(); err != nil {
			t.Errorf("Check: %v", err)
		}
		want := []time.Duration{ttl / 3, ttl/3 + time.Second, ttl/3 + 2*time.Second} // the third succeeded
		mu.Lock()
		defer mu.Unlock()
		if len(tries) < 3 || tries[0] != want[0] || tries[1] != want[1] || tries[2] != want[2] {
			t.Errorf("renewals after %v, want %v", tries, want)
		}
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
	})
}

func TestLeaseEndsAtOnceWhenLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		k := &keeper{keep: func() (time.Time, error) { return time.Time{}, lock.ErrLost }}
		lease := begin(k)
		<-lease.Context().Done()
		if d := time.Since(began); d != ttl/3 {
			t.Errorf("ended after %v, want %v", d, ttl/3)
		}
		if err := lease.Release(); !errors.Is(err, lock.ErrLost) || k.freed != 1 {
			t.Errorf("Release: %v, freed %d times; want ErrLost, once", err, k.freed)
		}
	})
}

// A holder that was stopped past its deadline must not be told that all is well
// by whichever timer runs first.
func TestCheckAsksTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease := calls.NewLease(t.Context(), "job", lock.Owner{}, nil, engine.Grant{
			Deadline: time.Now().Add(-time.Nanosecond), TTL: 3 * time.Hour,
			Keeper: &keeper{},
		})
		if err := lease.Check(); !errors.Is(err, lock.ErrExpired) {
			t.Errorf("Check after the deadline: %v, want ErrExpired", err)
		}
		if lease.Context().Err() == nil {
			t.Error("the context goes on after Check has found the end")
		}
	})
}

func TestRenewalsMoveTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease := begin(&keeper{keep: func() (time.Time, error) { return time.Now().Add(ttl), nil }})
		time.Sleep(100 * ttl)
		if err := lease.Check(); err != nil {
			t.Errorf("Check after many renewals: %v", err)
		}
		if left := time.Until(lease.Deadline()); left < 2*ttl/3 {
			t.Errorf("%v left, want at least %v", left, 2*ttl/3)
		}
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
		if err := lease.Release(); !errors.Is(err, lock.ErrReleased) {
			t.Errorf("second Release: %v, want ErrReleased", err)
		}
	})
}

func TestReleaseReturnsTheErrorOfTheEngine(t *testing.T) {
	boom := errors.New("boom")
	lease := begin(&keeper{free: boom})
	if err := lease.Release(); !errors.Is(err, boom) {
		t.Errorf("Release: %v, want boom", err)
	}
}

// The first renewal of a lease that was granted for less than its TTL comes
// before its deadline.
func TestShortGrantIsRenewedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease := calls.NewLease(t.Context(), "job", lock.Owner{}, nil, engine.Grant{
			Deadline: time.Now().Add(ttl / 6), TTL: ttl,
			Keeper: &keeper{keep: func() (time.Time, error) { return time.Now().Add(ttl), nil }},
		})
		time.Sleep(ttl)
		if err := lease.Check(); err != nil {
			t.Errorf("Check: %v", err)
		}
		_ = lease.Release()
	})
}

// A lease whose deadline has passed has ended when somebody first asks for its context.
func TestLeaseIsFirstAskedAfterItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease := begin(&keeper{keep: func() (time.Time, error) {
			time.Sleep(time.Hour)
			return time.Time{}, errors.New("connection reset")
		}})
		time.Sleep(ttl)
		if err := context.Cause(lease.Context()); !errors.Is(err, lock.ErrExpired) {
			t.Errorf("cause %v, want ErrExpired", err)
		}
		time.Sleep(time.Hour) // until the renewal has ended
	})
}
