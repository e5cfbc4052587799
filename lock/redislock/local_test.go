package redislock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

// patient returns a Locker whose local waiters never ask by themselves.
func patient(t *testing.T) (*testenv.RedisServer, *Locker) {
	server, l := opened(t)
	l.queue.localWait = time.Hour
	return server, l
}

// got is what a call of Acquire has returned.
type got struct {
	lease *lock.Lease
	err   error
}

// acquireLocally begins a call of Acquire and returns when it waits locally.
func acquireLocally(t *testing.T, ctx context.Context, l *Locker, o *lock.AcquireOptions) <-chan got {
	t.Helper()
	before := localWaiters(l)
	result := make(chan got, 1)
	go func() {
		lease, err := l.Acquire(ctx, "job", o)
		result <- got{lease, err}
	}()
	testenv.Await(t, "a local waiter", func() error {
		if n := localWaiters(l); n != before+1 {
			return fmt.Errorf("%d, want %d", n, before+1)
		}
		return nil
	})
	return result
}

func localWaiters(l *Locker) int {
	l.queue.mu.Lock()
	defer l.queue.mu.Unlock()
	if l.queue.local["job"] == nil {
		return 0
	}
	return len(l.queue.local["job"].waiting)
}

func must(t *testing.T, result <-chan got) *lock.Lease {
	t.Helper()
	select {
	case g := <-result:
		if g.err != nil {
			t.Fatal(g.err)
		}
		return g.lease
	case <-time.After(20 * time.Second):
		t.Fatal("no lease within 20s")
		return nil
	}
}

func release(t *testing.T, lease *lock.Lease) {
	t.Helper()
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
}

// Waiters of the holder's process get the lock in their order, each with one request to Redis
// and with a TTL of their own. Nothing is left behind.
func TestReleasePassesTheLockToLocalWaiters(t *testing.T) {
	server, l := patient(t)
	lease := must(t, acquired(l))
	before := commandCount(server.CLI("INFO", "commandstats"), "evalsha")
	second := acquireLocally(t, t.Context(), l, &lock.AcquireOptions{TTL: 5 * time.Second})
	third := acquireLocally(t, t.Context(), l, nil)
	if now := commandCount(server.CLI("INFO", "commandstats"), "evalsha"); now != before {
		t.Errorf("local waiters have asked Redis: %s requests, %s before", now, before)
	}
	for i, next := range []<-chan got{second, third} {
		release(t, lease)
		fence := lease.Fence()
		lease = must(t, next)
		if lease.Fence() != fence+1 {
			t.Errorf("fence %d after %d", lease.Fence(), fence)
		}
		if ttl := server.CLI("PTTL", "oid:lock:{job}"); (len(ttl) <= 4) != (i == 0) {
			t.Errorf("the lock of waiter %d has a TTL of %s ms", i, ttl)
		}
		if s, err := l.Status(t.Context(), "job"); err != nil || s.Owner != lease.Owner() || s.Fence != lease.Fence() {
			t.Errorf("Status: %+v, %v; want fence %d", s, err, lease.Fence())
		}
	}
	release(t, lease)
	if keys := server.CLI("KEYS", "*"); keys != "oid:lock:{job}" {
		t.Errorf("keys %q, want only that of the lock", keys)
	}
	if l.queue.local["job"] != nil {
		t.Error("the process still remembers the lock")
	}
}

// acquired begins a call of Acquire.
func acquired(l *Locker) <-chan got {
	result := make(chan got, 1)
	go func() {
		lease, err := l.Acquire(context.Background(), "job", nil)
		result <- got{lease, err}
	}()
	return result
}

// A waiter in Redis comes before local waiters. These ask then, and nobody is forgotten.
func TestWaiterInRedisComesBeforeLocalWaiters(t *testing.T) {
	server, l := patient(t)
	other, err := Open(t.Context(), server.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	lease := must(t, acquired(l))
	locals := []<-chan got{acquireLocally(t, t.Context(), l, nil), acquireLocally(t, t.Context(), l, nil)}
	foreign := acquired(other)
	testenv.Await(t, "a waiter in Redis", func() error {
		if s, err := l.Status(t.Context(), "job"); err != nil || s.Waiters != 1 {
			return fmt.Errorf("%d waiters, %v", s.Waiters, err)
		}
		return nil
	})
	fence := lease.Fence()
	release(t, lease)
	lease = must(t, foreign)
	if lease.Fence() != fence+1 {
		t.Errorf("the waiter in Redis got fence %d, want %d", lease.Fence(), fence+1)
	}
	testenv.Await(t, "both local waiters in Redis", func() error {
		if s, err := l.Status(t.Context(), "job"); err != nil || s.Waiters != 2 {
			return fmt.Errorf("%d waiters, %v", s.Waiters, err)
		}
		return nil
	})
	release(t, lease)
	var first got
	second := locals[1]
	select {
	case first = <-locals[0]:
	case first = <-locals[1]:
		second = locals[0]
	}
	// While somebody waits in Redis, newcomers wait there too.
	newcomer := acquired(l)
	testenv.Await(t, "the newcomer in Redis", func() error {
		if s, err := l.Status(t.Context(), "job"); err != nil || s.Waiters != 2 {
			return fmt.Errorf("%d waiters, %v", s.Waiters, err)
		}
		return nil
	})
	if first.err != nil {
		t.Fatal(first.err)
	}
	release(t, first.lease)
	release(t, must(t, second))
	release(t, must(t, newcomer))
}

// A local waiter whose ctx ends says who holds the lock, and the lock does not go to it.
func TestLocalWaiterGivesUp(t *testing.T) {
	_, l := patient(t)
	lease := must(t, acquired(l))
	ctx, cancel := context.WithCancel(t.Context())
	result := acquireLocally(t, ctx, l, nil)
	cancel()
	g := <-result
	var held *lock.HeldError
	if !errors.Is(g.err, context.Canceled) || !errors.As(g.err, &held) || held.Status.Owner != lease.Owner() || held.Status.Fence != lease.Fence() {
		t.Errorf("%v, want context.Canceled and that %v holds the lock", g.err, lease.Owner())
	}
	release(t, lease)
	again, err := l.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	release(t, again)
}

// slowRelease is a driver that holds up the first release that names a waiter, before or after
// Redis runs it, until goOn is closed.
type slowRelease struct {
	Driver
	before     bool
	once       *sync.Once
	sent, goOn chan struct{}
}

func (d slowRelease) EvalSHA(ctx context.Context, sha1 string, keys, args []string) (string, error) {
	holdUp := func() {
		if sha1 == releaseScript().sha1 && len(args) > 5 {
			d.once.Do(func() {
				close(d.sent)
				<-d.goOn
			})
		}
	}
	if d.before {
		holdUp()
	}
	reply, err := d.Driver.EvalSHA(context.WithoutCancel(ctx), sha1, keys, args)
	holdUp()
	return reply, err
}

// A local waiter gives up while a release gives it the lock: the lock is free then.
func TestLocalWaiterGivesUpWhileItGetsTheLock(t *testing.T) {
	for _, before := range []bool{true, false} {
		t.Run(fmt.Sprintf("before Redis runs the release %v", before), func(t *testing.T) {
			_, l := patient(t)
			slow := slowRelease{l.driver, before, new(sync.Once), make(chan struct{}), make(chan struct{})}
			l.driver = slow
			lease := must(t, acquired(l))
			ctx, cancel := context.WithCancel(t.Context())
			result := acquireLocally(t, ctx, l, nil)
			released := make(chan error, 1)
			go func() { released <- lease.Release() }()
			<-slow.sent
			cancel()
			if g := <-result; !errors.Is(g.err, context.Canceled) {
				t.Fatalf("%v, want context.Canceled", g.err)
			}
			time.Sleep(20 * time.Millisecond) // what the waiter sends too early comes first
			close(slow.goOn)
			if err := <-released; err != nil {
				t.Error(err)
			}
			testenv.Await(t, "a free lock", func() error {
				_, err := l.TryAcquire(t.Context(), "job", nil)
				return err
			})
		})
	}
}

// A holder that loses the lock, and never releases it, holds up local waiters only for a moment.
func TestLocalWaiterOfALostHolder(t *testing.T) {
	server, l := opened(t)
	lease := must(t, acquired(l))
	server.CLI("DEL", "oid:lock:{job}")
	next := must(t, acquired(l))
	if next.Fence() <= lease.Fence() {
		t.Errorf("fence %d after %d", next.Fence(), lease.Fence())
	}
	after := acquired(l)
	if err := lease.Release(); !errors.Is(err, lock.ErrLost) {
		t.Errorf("the first holder: %v, want ErrLost", err)
	}
	release(t, next)
	release(t, must(t, after))
}

// deaf is a driver whose requests fail while on is set.
type deaf struct {
	Driver
	on *atomic.Bool
}

func (d deaf) EvalSHA(ctx context.Context, sha1 string, keys, args []string) (string, error) {
	if d.on.Load() {
		return "", errors.New("no reply")
	}
	return d.Driver.EvalSHA(ctx, sha1, keys, args)
}

// A release that gets no reply makes the local waiter ask.
func TestLocalWaiterAfterAReleaseWithoutReply(t *testing.T) {
	_, l := patient(t)
	fails := new(atomic.Bool)
	l.driver = deaf{l.driver, fails}
	lease, err := l.Acquire(t.Context(), "job", &lock.AcquireOptions{TTL: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	next := acquireLocally(t, t.Context(), l, nil)
	fails.Store(true)
	if err := lease.Release(); err == nil {
		t.Error("released without a reply")
	}
	fails.Store(false)
	release(t, must(t, next)) // when the TTL has passed
}

// TryAcquire does not wait for a holder of its own process, and Close ends local waits.
func TestTryAcquireAndCloseOfLocalWaiters(t *testing.T) {
	_, l := patient(t)
	lease := must(t, acquired(l))
	next := acquireLocally(t, t.Context(), l, nil)
	var held *lock.HeldError
	if _, err := l.TryAcquire(t.Context(), "job", nil); !errors.As(err, &held) || held.Status.Owner != lease.Owner() {
		t.Errorf("TryAcquire: %v, want that %v holds the lock", err, lease.Owner())
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if g := <-next; !errors.Is(g.err, lock.ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", g.err)
	}
}

// A holder that has lost its lease, and has not released it, keeps nobody waiting in its process.
func TestNobodyWaitsLocallyForALostLease(t *testing.T) {
	for name, lose := range map[string]func(*testenv.RedisServer){
		"removed": func(s *testenv.RedisServer) { s.CLI("DEL", "oid:lock:{job}") },
		"expired": func(s *testenv.RedisServer) { s.CLI("CLIENT", "PAUSE", "2000", "ALL") },
	} {
		t.Run(name, func(t *testing.T) {
			server, l := patient(t)
			lost, err := l.Acquire(t.Context(), "job", &lock.AcquireOptions{TTL: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			lose(server)
			<-lost.Context().Done()
			result := make(chan got, 1)
			go func() {
				lease, err := l.Acquire(t.Context(), "job", nil)
				result <- got{lease, err}
			}()
			release(t, must(t, result))
		})
	}
}
