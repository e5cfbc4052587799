package redislock_test

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/locktest"
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
	server := testenv.Redis(t)
	suite(t, server.URL(), func() { server.CLI("FLUSHALL") })
}

func TestSuiteOnCluster(t *testing.T) {
	nodes := testenv.RedisCluster(t, 0)
	suite(t, nodes[0].URL()+"?addr="+nodes[1].Addr, func() {
		for _, n := range nodes {
			n.CLI("FLUSHALL")
		}
	})
}

func TestSuiteBehindSentinel(t *testing.T) {
	set := testenv.RedisSentinel(t, 0)
	suite(t, set.URL(), func() { set.Primary.CLI("FLUSHALL") })
}

func suite(t *testing.T, url string, clear func()) {
	locktest.Run(t, func(t *testing.T) func() lock.Locker {
		clear()
		return func() lock.Locker { return open(t, url, 0) }
	})
}

func TestSentinelURL(t *testing.T) {
	set := testenv.RedisSentinel(t, 0)
	nobody := "127.0.0.1:" + strconv.Itoa(testenv.FreePort(t))
	l := open(t, "redis-sentinel://"+set.Sentinel.Addr+","+nobody+"/"+testenv.SentinelMaster+"/3", 0)
	lease, err := l.Acquire(t.Context(), "job")
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
	lease, err := l.Acquire(t.Context(), "job")
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
	lease, err := l.Acquire(t.Context(), "job")
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

// A waiter that gives up leaves the queue.
func TestGivingUpLeavesTheQueue(t *testing.T) {
	server := testenv.Redis(t)
	l := open(t, server.URL(), 0)
	lease, err := l.Acquire(t.Context(), "job")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := l.Acquire(ctx, "job")
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
