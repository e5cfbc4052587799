package redislock_test

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/locktest"
	"github.com/oidkit/oid/lock/redislock"
)

// The TTL is chosen for each acquire, and used for renewals and for the memory of
// the fence as well.
func TestTTLOfOneAcquire(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t)
	l := open(t, server.URL(), time.Minute)
	const ttl = 3 * time.Second
	lease, err := l.Acquire(t.Context(), "job", &lock.AcquireOptions{TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		ms, err := strconv.Atoi(server.CLI("PTTL", "oid:lock:{job}"))
		deadline := lease.Deadline()
		if left := time.Until(deadline); err != nil || ms < 1 || ms > int(ttl/time.Millisecond) || left > ttl || left < 0 {
			t.Errorf("%d ms in Redis, %v until the deadline; want at most %v", ms, left, ttl)
		}
		until(t, "renewal", func() bool { return lease.Deadline().After(deadline) })
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
	for _, ttl := range []time.Duration{-1, lock.MinTTL - 1, lock.MaxTTL + 1} {
		if _, err := l.TryAcquire(t.Context(), "job", &lock.AcquireOptions{TTL: ttl}); !errors.Is(err, lock.ErrInvalid) {
			t.Errorf("TTL %v: %v, want ErrInvalid", ttl, err)
		}
	}
}

// Waiters stay while Redis is full, and get the lock.
func TestWaitersStayWhileRedisIsFull(t *testing.T) {
	server := testenv.Redis(t)
	a, b := open(t, server.URL(), 0), open(t, server.URL(), 300*time.Millisecond) // the waiter asks often
	lease, err := a.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	next := make(chan error)
	go func() {
		lease, err := b.Acquire(t.Context(), "job", nil)
		if err == nil {
			err = lease.Release()
		}
		next <- err
	}()
	until(t, "waiter", func() bool { return server.CLI("ZCARD", "oid:lock:{job}:queue") == "1" })
	server.CLI("CONFIG", "SET", "maxmemory", "1")
	time.Sleep(500 * time.Millisecond) // several polls
	if err := lease.Release(); err != nil {
		t.Errorf("Release: %v", err)
	}
	select {
	case err := <-next:
		if err != nil {
			t.Errorf("waiter: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the waiter did not get the lock")
	}
}

func TestEvents(t *testing.T) {
	server := testenv.Redis(t)
	p := testenv.NewProxy(t, server.Addr)
	var mu sync.Mutex
	seen := make(map[lock.EventKind][]lock.Event)
	events, through := locktest.Observe(t)
	opened, err := redislock.Open(t.Context(), p.URL(), &redislock.Options{TTL: 600 * time.Millisecond, Events: func(e lock.Event) {
		events(e)
		mu.Lock()
		defer mu.Unlock()
		seen[e.Kind] = append(seen[e.Kind], e)
	}})
	if err != nil {
		t.Fatal(err)
	}
	l := through(opened)
	defer l.Close()
	expect := func(kind lock.EventKind, n int) {
		t.Helper()
		until(t, string(kind), func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(seen[kind]) >= n
		})
	}
	lease, err := l.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	expect(lock.EventAcquired, 1)
	next := make(chan *lock.Lease)
	go func() {
		lease, err := l.Acquire(t.Context(), "job", nil)
		if err != nil {
			t.Error(err)
		}
		next <- lease
	}()
	expect(lock.EventWaiting, 1)
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
	expect(lock.EventReleased, 1)
	second := <-next
	p.LoseAnswer(1) // the reply to a renewal
	expect(lock.EventRenewedLate, 1)
	p.Cut(true, true)
	expect(lock.EventLost, 1)
	last := make(chan error)
	go func() { last <- testenv.ErrOf(l.Acquire(t.Context(), "job", nil)) }()
	expect(lock.EventUnanswered, 1)
	if err := testenv.ErrOf(l.TryAcquire(t.Context(), "job", nil)); err == nil {
		t.Error("TryAcquire of a server that cannot be reached succeeds")
	}
	expect(lock.EventFailed, 1)
	p.Heal()
	expect(lock.EventAcquired, 3)
	if err := <-last; err != nil {
		t.Error(err)
	}
	_ = second.Release() // of a lease that was lost: no event
	mu.Lock()
	defer mu.Unlock()
	if e := seen[lock.EventLost][0]; e.Name != "job" || e.Owner != second.Owner() || e.Fence != second.Fence() || !errors.Is(e.Err, lock.ErrExpired) {
		t.Errorf("lost: %+v", e)
	}
	if e := seen[lock.EventAcquired][1]; e.Took <= 0 || e.Fence != second.Fence() {
		t.Errorf("acquired: %+v", e)
	}
	if len(seen[lock.EventWaiting]) != 1 || len(seen[lock.EventLost]) != 1 || len(seen[lock.EventReleased]) != 1 {
		t.Errorf("events %+v", seen)
	}
}
