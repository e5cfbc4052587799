package redislock_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

// forEver makes the lock job one that a host far away holds and that never expires, and returns
// its owner.
func forEver(t *testing.T, server *testenv.RedisServer) lock.Owner {
	t.Helper()
	const owner = "192.0.2.1:0:1795166651598985:4711/507f1f77bcf86cd799439011"
	server.CLI("SET", "oid:lock:{job}", "1795166651598985 "+owner+` v2 1795166651598985 {"host":"far"}`)
	return testenv.Must(lock.ParseOwner(owner))(t)
}

// A lock without a TTL never expires. Everyone sees that, its waiters do not ask all the time,
// and a break gives it to the first of them. Then all keys have a TTL again.
func TestBreakOfALockForEver(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t)
	owner := forEver(t, server)
	l := open(t, server.URL(), 0)
	s, err := l.Status(t.Context(), "job")
	if err != nil || s.Owner != owner || s.TTL >= 0 {
		t.Fatalf("Status: %+v, %v; want a negative TTL", s, err)
	}
	next := make(chan *lock.Lease)
	go func() {
		lease, err := l.Acquire(t.Context(), "job", nil)
		if err != nil {
			t.Error(err)
		}
		next <- lease
	}()
	until(t, "waiter", func() bool { return server.CLI("ZCARD", "oid:lock:{job}:queue") == "1" })
	commands(server)
	time.Sleep(time.Second)
	if n := commands(server); n > 30 {
		t.Errorf("a waiter sends %d commands within a second", n)
	}
	testenv.WantError(t, "Break", l.Break(t.Context(), "job", owner), nil)
	lease := <-next
	if lease == nil || lease.Fence() <= s.Fence {
		t.Fatalf("the next lease is %v, want a fence above %d", lease, s.Fence)
	}
	testenv.WantError(t, "Release", lease.Release(), nil)
	for key := range strings.FieldsSeq(server.CLI("KEYS", "*")) {
		if ttl := server.CLI("PTTL", key); ttl == "-1" {
			t.Errorf("the key %s never expires", key)
		}
	}
}

// A renewal gives a lock that has lost its TTL a new one.
func TestRenewalOfALockForEver(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t)
	l := open(t, server.URL(), time.Second)
	lease, err := l.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	server.CLI("PERSIST", "oid:lock:{job}")
	until(t, "TTL", func() bool { return server.CLI("PTTL", "oid:lock:{job}") != "-1" })
	testenv.WantError(t, "Release", lease.Release(), nil)
}

// What is not a lock is not broken: the error says how to remove it, and that is enough.
func TestBreakOfForeignKeys(t *testing.T) {
	server := testenv.Redis(t)
	l := open(t, server.URL()+"?prefix=shop", 0)
	for _, foreign := range [][]string{
		{"SET", "shop:oid:lock:{job}", "something else"},
		{"SET", "shop:oid:lock:{job}", "1795166651598985 192.0.2.1:0:1795166651598985:4711/507f1f77bcf86cd799439011 v9 more"},
		{"LPUSH", "shop:oid:lock:{job}", "x"},
		{"HSET", "shop:oid:lock:{job}", "x", "y"},
		{"SET", "shop:oid:lock:{job}:queue", "x"},
	} {
		server.CLI("FLUSHALL")
		server.CLI(foreign...)
		err := l.Break(t.Context(), "job", lock.Owner{})
		_, remedy, found := strings.Cut(fmt.Sprint(err), "write: redis-cli ")
		if !found {
			t.Errorf("%v: Break: %v, want the command that removes it", foreign, err)
			continue
		}
		if server.CLI("EXISTS", foreign[1]) != "1" {
			t.Errorf("%v: Break has removed it", foreign)
		}
		server.CLI(strings.Fields(strings.ReplaceAll(remedy, "'", ""))...)
		lease, err := l.TryAcquire(t.Context(), "job", nil)
		if err != nil {
			t.Errorf("%v, after redis-cli %s: %v", foreign, remedy, err)
			continue
		}
		testenv.WantError(t, "Release", lease.Release(), nil)
	}
}
