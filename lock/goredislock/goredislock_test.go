package goredislock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/goredislock"
	"github.com/oidkit/oid/lock/locktest"
	"github.com/oidkit/oid/lock/redislock"
)

// client returns a client, which the test closes.
func client(t *testing.T, o *redis.UniversalOptions) redis.UniversalClient {
	t.Helper()
	o.ReadTimeout = time.Second
	c := redis.NewUniversalClient(o)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func open(t *testing.T, c redis.UniversalClient) *redislock.Locker {
	t.Helper()
	l, err := goredislock.New(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func suite(t *testing.T, o redis.UniversalOptions, clear func()) {
	locktest.Run(t, func(t *testing.T) func() lock.Locker {
		clear()
		c := client(t, &o)
		return func() lock.Locker { return open(t, c) }
	})
}

func TestSuite(t *testing.T) {
	server := testenv.Redis(t)
	suite(t, redis.UniversalOptions{Addrs: []string{server.Addr}}, func() { server.CLI("FLUSHALL") })
}

func TestSuiteOnCluster(t *testing.T) {
	nodes := testenv.RedisCluster(t, 0)
	suite(t, redis.UniversalOptions{Addrs: []string{nodes[0].Addr, nodes[1].Addr}}, func() {
		for _, n := range nodes {
			n.CLI("FLUSHALL")
		}
	})
}

func TestSuiteBehindSentinel(t *testing.T) {
	set := testenv.RedisSentinel(t, 0)
	suite(t, redis.UniversalOptions{Addrs: []string{set.Sentinel.Addr}, MasterName: testenv.SentinelMaster}, func() { set.Primary.CLI("FLUSHALL") })
}

// Programs with different clients share locks.
func TestTogetherWithRueidis(t *testing.T) {
	server := testenv.Redis(t)
	a := open(t, client(t, &redis.UniversalOptions{Addrs: []string{server.Addr}}))
	b, err := redislock.Open(t.Context(), server.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	lease, err := a.Acquire(t.Context(), "job")
	if err != nil {
		t.Fatal(err)
	}
	var held *lock.HeldError
	if _, err := b.TryAcquire(t.Context(), "job"); !errors.As(err, &held) || held.Status.Owner != lease.Owner() {
		t.Errorf("TryAcquire: %v, want it held by %v", err, lease.Owner())
	}
	next := make(chan *lock.Lease, 1)
	go func() {
		lease, err := b.Acquire(t.Context(), "job")
		if err != nil {
			t.Error(err)
		}
		next <- lease
	}()
	time.Sleep(50 * time.Millisecond)
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
	second := <-next
	if second.Fence() <= lease.Fence() {
		t.Errorf("fence %d after %d", second.Fence(), lease.Fence())
	}
	if err := second.Release(); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	server := testenv.Redis(t)
	c := redis.NewClient(&redis.Options{Addr: server.Addr})
	l, err := goredislock.New(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	server.CLI("LPUSH", "oid:lock:{job}", "x")
	if _, err := l.Acquire(t.Context(), "job"); err == nil {
		t.Error("Acquire of a list is no error")
	}
	guard := redislock.Guard{Driver: goredislock.Driver(c), Key: "k"}
	if err := guard.Set(t.Context(), 2, "b"); err != nil {
		t.Error(err)
	}
	if err := guard.Set(t.Context(), 1, "a"); !errors.Is(err, lock.ErrStale) {
		t.Errorf("late write: %v, want ErrStale", err)
	}
	c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := l.Acquire(ctx, "other"); !errors.Is(err, redislock.ErrClientClosed) {
		t.Errorf("Acquire with a closed client: %v, want ErrClientClosed", err)
	}
}
