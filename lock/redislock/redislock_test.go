package redislock_test

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/locktest"
	"github.com/oidkit/oid/lock/redislock"
)

// open returns a Locker on the Redis at url, which the test closes.
func open(t *testing.T, url string, ttl time.Duration) *redislock.Locker {
	t.Helper()
	l, err := redislock.Open(t.Context(), url, &redislock.Options{TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return l
}

func TestSuite(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t)
	suite(t, server.URL(), func() { server.CLI("FLUSHALL") })
}

func TestSuiteOnCluster(t *testing.T) {
	t.Parallel()
	nodes := testenv.RedisCluster(t, 0)
	suite(t, nodes[0].URL()+"?addr="+nodes[1].Addr, func() {
		for _, n := range nodes {
			n.CLI("FLUSHALL")
		}
	})
}

func TestSuiteBehindSentinel(t *testing.T) {
	t.Parallel()
	set := testenv.RedisSentinel(t, 0)
	suite(t, set.URL(), func() { set.Primary.CLI("FLUSHALL") })
}

func suite(t *testing.T, url string, clear func()) {
	locktest.Run(t, func(t *testing.T) func(func(lock.Event)) lock.Locker {
		clear()
		return func(events func(lock.Event)) lock.Locker {
			l, err := redislock.Open(t.Context(), url, &redislock.Options{Events: events})
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
	})
}

func TestSentinelURL(t *testing.T) {
	set := testenv.RedisSentinel(t, 0)
	nobody := "127.0.0.1:" + strconv.Itoa(testenv.FreePort(t))
	l := open(t, "redis-sentinel://"+set.Sentinel.Addr+","+nobody+"/"+testenv.SentinelMaster+"/3", 0)
	lease, err := l.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Primary.CLI("-n", "3", "EXISTS", "oid:lock:{job}"); got != "1" {
		t.Errorf("%s keys in database 3 of the primary, want 1", got)
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

func TestUnixURL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "redis.sock")
	testenv.Redis(t, "--unixsocket", path)
	l := open(t, "unix://"+path, 0)
	lease, err := l.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

// However long the way back takes, the time of a lease counts from before the
// request, since that of the lock in Redis may.
func TestDeadlineCountsFromBeforeTheRequest(t *testing.T) {
	server := testenv.Redis(t)
	p := testenv.NewProxy(t, server.Addr)
	const ttl, delay = 3 * time.Second, 300 * time.Millisecond
	const most = ttl - ttl/20 - delay
	l := open(t, p.URL(), ttl)
	p.Delay(delay)
	before := time.Now()
	lease, err := l.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(before)
	if took < delay {
		t.Fatalf("Acquire took %v, the reply was delayed by %v", took, delay)
	}
	first := lease.Deadline()
	if left := first.Sub(before.Add(took)); left > most {
		t.Errorf("%v are left after %v, want at most %v of a TTL of %v", left, took, most, ttl)
	}
	until(t, "renewal", func() bool { return lease.Deadline() != first })
	if left := time.Until(lease.Deadline()); left > most {
		t.Errorf("%v are left after a renewal, want at most %v of a TTL of %v", left, most, ttl)
	}
	p.Heal()
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

// A Redis that does not answer is an error of every request that is under way, of one
// goroutine and of many that share a connection. It is not taken for the end of their
// ctx, and does not last longer than the fault.
func TestNoAnswer(t *testing.T) {
	const ttl = 1200 * time.Millisecond // a request takes a sixth of it
	p := testenv.NewProxy(t, testenv.Redis(t).Addr)
	l := open(t, p.URL(), ttl)
	for _, n := range []int{1, 20} {
		try := func() (errs []error) {
			all := make(chan error, n)
			for i := range n {
				go func() {
					lease, err := l.TryAcquire(t.Context(), "job"+strconv.Itoa(i), nil)
					if err == nil {
						err = lease.Release()
					}
					all <- err
				}()
			}
			for range n {
				errs = append(errs, <-all)
			}
			return errs
		}
		if err := errors.Join(try()...); err != nil {
			t.Fatal(err)
		}
		p.Cut(true, true)
		began := time.Now()
		errs := try()
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%d requests took %v", n, took)
		}
		for _, err := range errs {
			if err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("without an answer: %v", err)
			}
		}
		if err := errors.Join(errs...); !strings.Contains(err.Error(), "no answer within 200ms") {
			t.Errorf("%d requests: %v, want it to say that there was no answer", n, err)
		}
		p.Heal()
		until(t, "answer", func() bool { return errors.Join(try()...) == nil })
	}
}

// A waiter that gives up leaves the queue.
func TestGivingUpLeavesTheQueue(t *testing.T) {
	server := testenv.Redis(t)
	l := open(t, server.URL(), 0)
	lease, err := l.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := l.Acquire(ctx, "job", nil)
		gone <- err
	}()
	waiters := func(n int) func() bool {
		return func() bool {
			s, err := l.Status(t.Context(), "job")
			return err == nil && s.Waiters == n
		}
	}
	until(t, "waiter in the queue", waiters(1))
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("Acquire: %v, want Canceled", err)
	}
	until(t, "empty queue", waiters(0))
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}
