package redislock_test

import (
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
	nodes := testenv.RedisCluster(t)
	suite(t, nodes[0].URL()+"?addr="+nodes[1].Addr, func() {
		for _, n := range nodes {
			n.CLI("FLUSHALL")
		}
	})
}

func TestSuiteBehindSentinel(t *testing.T) {
	set := testenv.RedisSentinel(t)
	suite(t, set.URL(), func() { set.Primary.CLI("FLUSHALL") })
}

func suite(t *testing.T, url string, clear func()) {
	locktest.Run(t, func(t *testing.T) func() lock.Locker {
		clear()
		return func() lock.Locker { return open(t, url, 0) }
	})
}
