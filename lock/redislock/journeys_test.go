//go:build unix

package redislock_test

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/redislock"
)

// places are the kinds of Redis that locks are kept in.
func places(t *testing.T, run func(t *testing.T, url string)) {
	t.Run("one server", func(t *testing.T) {
		t.Parallel()
		run(t, testenv.Redis(t).URL())
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		nodes := testenv.RedisCluster(t, 0)
		run(t, nodes[0].URL()+"?addr="+nodes[1].Addr)
	})
	t.Run("sentinel", func(t *testing.T) {
		t.Parallel()
		run(t, testenv.RedisSentinel(t, 0).URL())
	})
}

// Eight programs want the same lock, each for a time from a hundredth to one and a
// half of the TTL. All do their work, one after the other, in the order in which
// they came.
func TestEightInAQueue(t *testing.T) {
	t.Parallel()
	places(t, func(t *testing.T, url string) {
		eight(t, url, 3*time.Second, []float64{0.5, 1.5, 0.01, 0.8, 0.1, 1.2, 0.3, 1})
	})
	t.Run("default TTL", func(t *testing.T) {
		t.Parallel()
		eight(t, testenv.Redis(t).URL(), 0, []float64{0.02, 1.5, 0.01, 0.03, 0.01, 0.05, 0.01, 0.04})
	})
}

func eight(t *testing.T, url string, ttl time.Duration, work []float64) {
	var mu sync.Mutex
	var order []int
	var grants atomic.Int32
	var wg sync.WaitGroup
	lockers := make([]*redislock.Locker, len(work))
	for i := range work {
		lockers[i] = open(t, url, ttl)
	}
	if ttl == 0 {
		ttl = lock.DefaultTTL
	}
	for i, share := range work {
		wg.Go(func() {
			lease, err := lockers[i].Acquire(t.Context(), "job", nil)
			if err != nil {
				t.Errorf("Acquire: %v", err)
				return
			}
			mu.Lock() // held to the end of the work: nobody else is to come here
			defer mu.Unlock()
			grants.Add(1)
			order = append(order, i)
			if left, want := time.Until(lease.Deadline()), ttl/2; left < want {
				t.Errorf("program %d began with %v, want a lease of nearly %v", i, left, ttl)
			}
			time.Sleep(time.Duration(share * float64(ttl)))
			if err := lease.Check(); err != nil {
				t.Errorf("program %d worked for %v TTL: %v", i, share, err)
			}
			if err := lease.Release(); err != nil {
				t.Errorf("program %d: Release: %v", i, err)
			}
		})
		until(t, "program in the queue", func() bool {
			s, err := lockers[0].Status(t.Context(), "job")
			return err == nil && s.Waiters+int(grants.Load()) > i
		})
	}
	wg.Wait()
	if len(order) != len(work) || !slices.IsSorted(order) {
		t.Errorf("order %v, want that in which they came", order)
	}
}

// Fifty workers of five programs go through one lock, over and over.
func TestFiftyWorkersThroughOneLock(t *testing.T) {
	t.Parallel()
	places(t, func(t *testing.T, url string) {
		const turns = 4
		var busy, total atomic.Int32
		var wg sync.WaitGroup
		for range 5 {
			l := open(t, url, 3*time.Second)
			for range 10 {
				wg.Go(func() {
					for range turns {
						lease, err := l.Acquire(t.Context(), "job", nil)
						if err != nil {
							t.Errorf("Acquire: %v", err)
							return
						}
						if n := busy.Add(1); n != 1 {
							t.Errorf("%d workers at once", n)
						}
						time.Sleep(5 * time.Millisecond)
						busy.Add(-1)
						total.Add(1)
						if err := lease.Release(); err != nil {
							t.Errorf("Release: %v", err)
						}
					}
				})
			}
		}
		wg.Wait()
		if n := total.Load(); n != 50*turns {
			t.Errorf("%d turns, want %d", n, 50*turns)
		}
	})
}

// Twenty waiters of a machine that has vanished do not hold up thirty others,
// wherever they are in the queue.
func TestVanishedWaiters(t *testing.T) {
	t.Parallel()
	for _, ttl := range []time.Duration{3 * time.Second, 30 * time.Second} {
		for _, first := range []bool{true, false} {
			places(t, func(t *testing.T, url string) { vanished(t, url, ttl, first) })
		}
	}
}

// thirtyWaiters lets thirty goroutines of three clients take a lock and hold it for 20 ms.
// The result waits for them and returns when the last one had released it.
func thirtyWaiters(t *testing.T, url string, ttl time.Duration) (wait func() time.Time) {
	var wg sync.WaitGroup
	var done time.Time
	var mu sync.Mutex
	for range 3 {
		l := open(t, url, ttl)
		for range 10 {
			wg.Go(func() {
				lease, err := l.Acquire(t.Context(), "job", nil)
				if err != nil {
					t.Errorf("Acquire: %v", err)
					return
				}
				time.Sleep(20 * time.Millisecond)
				if err := lease.Release(); err != nil {
					t.Errorf("Release: %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				done = time.Now()
			})
		}
	}
	return func() time.Time {
		wg.Wait()
		return done
	}
}

func vanished(t *testing.T, url string, ttl time.Duration, first bool) {
	holder := open(t, url, ttl)
	began := time.Now()
	alone := thirtyWaiters(t, url, ttl)().Sub(began) // what they take on this machine
	lease, err := holder.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	waiting := 0
	queued := func(n int) {
		t.Helper()
		waiting += n
		until(t, fmt.Sprintf("%d waiters", waiting), func() bool {
			s, err := holder.Status(t.Context(), "job")
			return err == nil && s.Waiters == waiting
		})
	}
	var dead []*child
	vanish := func(n int) {
		c := startChild(t, url, ttl, strconv.Itoa(n))
		queued(n)
		dead = append(dead, c)
	}
	if first {
		vanish(20)
	} else {
		vanish(10)
	}
	wait := thirtyWaiters(t, url, ttl)
	queued(30)
	if !first {
		vanish(10)
	}
	for _, c := range dead {
		c.signal(syscall.SIGSTOP)
		defer c.signal(syscall.SIGKILL)
	}
	answered(t, holder)
	released := time.Now()
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
	took := wait().Sub(released)
	t.Logf("%v, TTL %v, dead ones first: %v; without them %v", took, ttl, first, alone)
	if limit := alone + 2300*time.Millisecond; took > limit {
		t.Errorf("thirty waiters with 20 ms of work took %v beside dead ones, want at most %v", took, limit)
	}
}

// answered returns when the server has answered every request that others sent before:
// one that is still on its way would make a stopped waiter the holder.
func answered(t *testing.T, l *redislock.Locker) {
	t.Helper()
	if _, err := l.Status(t.Context(), "job"); err != nil {
		t.Fatal(err)
	}
}

// A waiter that is stopped while the lock goes on to others, for longer than a
// TTL, does not believe to have it when it runs again.
func TestStoppedWaiterBelievesNoOldMessage(t *testing.T) {
	testenv.Long(t, "takes seconds")
	t.Parallel()
	const ttl = 3 * time.Second
	url := testenv.Redis(t).URL()
	a, b := open(t, url, ttl), open(t, url, ttl)
	lease, err := a.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	waiter := startChild(t, url, ttl, "1")
	until(t, "waiter", func() bool {
		s, err := a.Status(t.Context(), "job")
		return err == nil && s.Waiters == 1
	})
	waiter.signal(syscall.SIGSTOP)
	answered(t, a)
	if err := lease.Release(); err != nil { // the waiter is told to ask, and is stopped
		t.Error(err)
	}
	next, err := b.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(ttl / 2)
	waiter.signal(syscall.SIGCONT)
	time.Sleep(ttl / 2)
	released := time.Now()
	if err := next.Release(); err != nil {
		t.Error(err)
	}
	var at, fence int64
	if _, err := fmt.Sscan(waiter.report("acquired"), &at, &fence); err != nil {
		t.Fatal(err)
	}
	if early := released.Sub(time.Unix(0, at)); early > 0 {
		t.Errorf("the waiter believed to have the lock %v before it was released", early)
	}
	if uint64(fence) <= next.Fence() {
		t.Errorf("fence %d after %d", fence, next.Fence())
	}
}
