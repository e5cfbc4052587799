package storelock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/storelock"
)

// signallers returns Lockers with signals on one memory, and their clients.
func signallers(t *testing.T, n int, ttl time.Duration) (lockers []*storelock.Locker, clients []*signaller) {
	m, topics := new(memory), make(map[string]chan struct{})
	for range n {
		s := &signaller{client: client{memory: m}, topics: topics}
		lockers, clients = append(lockers, newLocker(t, s, &storelock.Options{TTL: ttl})), append(clients, s)
	}
	return lockers, clients
}

// closeAll releases a lease, closes lockers and fails the test if that fails, or if one
// of them still listens.
func closeAll(t *testing.T, lease *lock.Lease, lockers []*storelock.Locker, clients []*signaller) {
	t.Helper()
	err := lease.Release()
	for _, l := range lockers {
		err = errors.Join(err, l.Close())
	}
	if n := len(clients[0].topics); err != nil || n > 0 {
		t.Errorf("%v; %d still listen", err, n)
	}
}

// A waiter asks once a second at most where signals arrive, and more often where they do
// not, or where it has to take over sooner.
func TestIdleWaitingIsQuiet(t *testing.T) {
	for _, test := range []struct {
		deaf      bool
		ttl       time.Duration
		low, high int // queries in a minute
	}{{false, clockTTL, 30, 60}, {false, 2 * time.Second, 120, 240}, {true, clockTTL, 240, 4000}} {
		synctest.Test(t, func(t *testing.T) {
			lockers, clients := signallers(t, 2, test.ttl)
			clients[1].deaf = test.deaf
			lease := get(t, acquire(t.Context(), t, lockers[0]))
			next := acquire(t.Context(), t, lockers[1])
			time.Sleep(time.Minute)
			before := clients[1].looks()
			time.Sleep(time.Minute)
			if n := clients[1].looks() - before; n < test.low || n > test.high {
				t.Errorf("%+v: %d queries in a minute of waiting", test, n)
			}
			if err := lease.Release(); err != nil {
				t.Error(err)
			}
			closeAll(t, get(t, next), lockers, clients)
		})
	}
}

// Each handover of a lock that three others wait for, in the order in which they came,
// takes no time on a clock that only waiting moves. The waiter behind sees whose the lock
// is, so that it can watch the new holder, and may have seen before that it is free. The
// last sees nothing. Few looks come from the pauses of the waiters.
func TestSignalsPassTheLockOn(t *testing.T) {
	const rounds = 20
	behind, last := 0, 0
	for range rounds {
		synctest.Test(t, func(t *testing.T) {
			lockers, clients := signallers(t, 4, clockTTL)
			lease := get(t, acquire(t.Context(), t, lockers[0]))
			var next []chan *lock.Lease
			for _, l := range lockers[1:] {
				next = append(next, acquire(t.Context(), t, l))
				time.Sleep(10 * time.Second)
			}
			for i, n := range next {
				began, second, third := time.Now(), clients[2].looks(), clients[3].looks()
				if err := lease.Release(); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				time.Sleep(20 * time.Millisecond) // the second looks a little later
				lease = get(t, n)
				if took := time.Since(began); took > 20*time.Millisecond {
					t.Errorf("handover %d took %v", i, took)
				}
				if i == 0 {
					behind += clients[2].looks() - second
					last += clients[3].looks() - third
				}
				time.Sleep(10 * time.Second)
			}
			closeAll(t, lease, lockers, clients)
		})
	}
	if behind < rounds || behind > 2*rounds+rounds/4 || last > rounds/4 {
		t.Errorf("%d handovers: %d looks of the waiter behind, want 1 or 2 each; %d of the last, want none", rounds, behind, last)
	}
}

// A waiter whose signal is lost has the lock at its next look, or at that of the one
// behind it, which wakes it. One that is second behind a dead first has it after the
// reservation, which begins with its own signal.
func TestLostSignal(t *testing.T) {
	for name, test := range map[string]struct {
		harm  func(holder, first *signaller)
		limit time.Duration
	}{
		"lost":       {func(holder, _ *signaller) { holder.lost = true }, 2 * time.Second},
		"dead first": {func(_, first *signaller) { first.loseRequests = true }, time.Second + 10*time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lockers, clients := signallers(t, 3, clockTTL)
				lease := get(t, acquire(t.Context(), t, lockers[0]))
				ctx, stop := context.WithCancel(t.Context())
				first := acquire(ctx, t, lockers[1])
				time.Sleep(time.Second)
				second := acquire(t.Context(), t, lockers[2])
				time.Sleep(10 * time.Second)
				clients[0].change(func() { test.harm(clients[0], clients[1]) })
				began := time.Now()
				if err := lease.Release(); err != nil {
					t.Error(err)
				}
				overtaken := false // as also if the first looks a second later than the other
				select {
				case lease = <-first:
				case lease = <-second:
					overtaken = true
				}
				if took := time.Since(began); took > test.limit {
					t.Errorf("nobody had the lock for %v, want at most %v", took, test.limit)
				}
				clients[0].change(func() { clients[0].lost = false })
				stop()
				<-first
				if err := lease.Release(); err != nil {
					t.Error(err)
				}
				if overtaken {
					lease = get(t, acquire(t.Context(), t, lockers[0]))
				} else {
					lease = get(t, second)
				}
				closeAll(t, lease, lockers, clients)
			})
		})
	}
}

// A waiter that gives up wakes the one behind it, for which a lock that is free is then
// reserved.
func TestGivingUpWakesTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lockers, clients := signallers(t, 3, clockTTL)
		lease := get(t, acquire(t.Context(), t, lockers[0]))
		got := make(chan error, 1)
		go func() {
			_, err := lockers[1].Acquire(t.Context(), "job", nil)
			got <- err
		}()
		time.Sleep(time.Second)
		second := acquire(t.Context(), t, lockers[2])
		time.Sleep(10 * time.Second)
		clients[0].change(func() { clients[0].lost = true })
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
		began := time.Now()
		if err := lockers[1].Close(); err != nil { // it leaves before its next look
			t.Error(err)
		}
		if err := <-got; !errors.Is(err, lock.ErrClosed) {
			t.Errorf("%v, want ErrClosed", err)
		}
		next := get(t, second)
		if took := time.Since(began); took > 10*time.Millisecond {
			t.Errorf("the second waiter had the lock after %v, want at once", took)
		}
		closeAll(t, next, lockers, clients)
	})
}
