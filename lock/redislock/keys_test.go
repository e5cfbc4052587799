package redislock

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/holder"
)

// opened returns a server and a Locker on it.
func opened(t *testing.T) (*testenv.RedisServer, *Locker) {
	t.Helper()
	server := testenv.Redis(t)
	l, err := Open(t.Context(), server.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return server, l
}

// begin counts a call for a lock. Without an error the caller calls l.calls.Done.
func (l *Locker) begin(name string, o *lock.AcquireOptions) (*request, error) {
	call, err := l.calls.Acquire(name, o)
	if err != nil {
		return nil, err
	}
	return l.newRequest(call), nil
}

// fenceAt1970 takes the lock when the clock of Redis shows 1970, and returns the fence.
func fenceAt1970(t *testing.T, l *Locker) uint64 {
	t.Helper()
	r, err := l.begin("job", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.calls.Done()
	reply, err := l.eval(context.Background(), time.Now(), r.try(), at(t, acquireScript(), 1), r.keys, []string{"", r.value(grant{l.guess(), time.Now()}, holder.Self(r.Options)), r.ms, strconv.FormatUint(l.guess(), 10)})
	if err != nil {
		t.Fatal(err)
	}
	fence, err := strconv.ParseUint(strings.TrimPrefix(reply, "granted "), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return fence
}

// The keys of the waiters live as long as the longest TTL of them, and always have one.
func TestKeysOfWaitersHaveTheLongestTTL(t *testing.T) {
	server, l := opened(t)
	if _, err := l.TryAcquire(t.Context(), "job", nil); err != nil {
		t.Fatal(err)
	}
	if s, err := l.Status(t.Context(), "job"); err != nil || s.TTL <= 0 || s.TTL > lock.DefaultTTL {
		t.Errorf("Status: %+v, %v; want a TTL of at most %v", s, err, lock.DefaultTTL)
	}
	for _, ttl := range []time.Duration{10 * time.Minute, lock.MinTTL} {
		r, err := l.begin("job", &lock.AcquireOptions{TTL: ttl})
		if err != nil {
			t.Fatal(err)
		}
		l.calls.Done()
		r.wake, r.joined = make(chan struct{}, 1), true
		// One try of so short a TTL may take too long for a busy machine.
		testenv.Await(t, "answer", func() error { _, err := r.ask(t.Context()); return err })
		for _, key := range r.keys[1:] {
			if left, err := strconv.Atoi(server.CLI("PTTL", key)); err != nil || left < 500_000 || left > 600_000 {
				t.Errorf("after a waiter with a TTL of %v: %s lives for %d ms, %v; want ten minutes", ttl, key, left, err)
			}
		}
	}
}

// While somebody waits, the last fence is remembered though the lock has expired. A
// client remembers also the fence of another.
func TestFenceIsRemembered(t *testing.T) {
	server, l := opened(t)
	lease, err := l.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Open(t.Context(), server.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.TryAcquire(t.Context(), "job", nil); err == nil {
		t.Fatal("two have the lock")
	}
	waiters(t, l, 1)
	server.CLI("DEL", "oid:lock:{job}") // it has expired
	l.seen.Store(0)
	if got := fenceAt1970(t, l); got != lease.Fence()+1 {
		t.Errorf("with a waiter: fence %d after %d", got, lease.Fence())
	}
	server.CLI("FLUSHALL")
	if got := fenceAt1970(t, other); got != lease.Fence()+1 {
		t.Errorf("with a client that was refused: fence %d after %d", got, lease.Fence())
	}
}

// A waiter whose first reply was lost has no ticket. When it gets the lock it is out of
// the queue all the same.
func TestWaiterWithoutTicketLeavesTheQueue(t *testing.T) {
	server, l := opened(t)
	if _, err := l.TryAcquire(t.Context(), "job", nil); err != nil {
		t.Fatal(err)
	}
	r := waiters(t, l, 1)[0]
	r.ticket = ""
	server.CLI("DEL", "oid:lock:{job}") // it has expired
	if a, err := r.ask(t.Context()); err != nil || !a.granted {
		t.Fatalf("ask: %+v, %v", a, err)
	}
	if s, err := l.Status(t.Context(), "job"); err != nil || s.Waiters != 0 {
		t.Errorf("Status: %+v, %v; want no waiters", s, err)
	}
}

// A reservation that seems to last longer than it may, because the clock of Redis was set
// back, is over.
func TestReservationWhenTheClockWasSetBack(t *testing.T) {
	server, l := opened(t)
	r, err := l.begin("job", nil)
	if err != nil {
		t.Fatal(err)
	}
	l.calls.Done()
	server.CLI("SET", "oid:lock:{job}", fmt.Sprintf("1795166651598985 ! %s 1000", r.text), "PX", "100000")
	lease, err := l.TryAcquire(t.Context(), "job", nil)
	if err != nil || lease.Fence() != 1795166651598986 {
		t.Errorf("TryAcquire: %v, want the next fence", err)
	}
}
