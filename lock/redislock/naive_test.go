package redislock_test

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/redislock"
)

// brief is the TTL of a naive lock whose end a test waits for.
const brief = 200 * time.Millisecond

// naive is the lock as everybody first writes it.
type naive struct {
	t      *testing.T
	client rueidis.Client
}

func newNaive(t *testing.T, url string) naive {
	t.Helper()
	o := rueidis.MustParseURL(url)
	o.DisableCache = true
	client, err := rueidis.NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return naive{t, client}
}

// do sends one command and returns the reply as text.
func (n naive) do(args ...string) string {
	n.t.Helper()
	reply, err := n.client.Do(n.t.Context(), n.client.B().Arbitrary(args...).Build()).ToAny()
	if err != nil && !rueidis.IsRedisNil(err) {
		n.t.Fatalf("%q: %v", args, err)
	}
	switch v := reply.(type) {
	case int64:
		return time.Duration(v).String()[:1]
	case string:
		return v
	}
	return ""
}

// lock takes the lock if it is free.
func (n naive) lock(ttl time.Duration) bool {
	n.t.Helper()
	if n.do("SETNX", "lock", "1") != "1" {
		return false
	}
	n.do("PEXPIRE", "lock", strconv.FormatInt(ttl.Milliseconds(), 10))
	return true
}

// lockFor returns a function that takes the lock if it is free.
func (n naive) lockFor(ttl time.Duration) func() bool { return func() bool { return n.lock(ttl) } }

func (n naive) unlock() { n.do("DEL", "lock") }

// until waits for a condition.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	testenv.Await(t, what, func() error {
		if !condition() {
			return errors.New("not yet")
		}
		return nil
	})
}

// A naive lock of SETNX and PEXPIRE fails in four ways. Each test shows one of them, and that a
// lock of this package does not fail in that way.

func TestNaiveLockIsHeldForEverAfterADeathBetweenTwoCommands(t *testing.T) {
	server := testenv.Redis(t)
	a, b := newNaive(t, server.URL()), newNaive(t, server.URL())
	if a.do("SETNX", "lock", "1") != "1" {
		t.Fatal("the lock is not free")
	}
	a.client.Close() // and so it dies before PEXPIRE
	time.Sleep(2 * brief)
	if ttl := server.CLI("PTTL", "lock"); ttl != "-1" {
		t.Errorf("the naive lock has TTL %s, want none", ttl)
	}
	if b.lock(time.Minute) {
		t.Error("the naive lock was taken after its holder had died, want it held for ever")
	}

	// Here no moment lies between the lock and its TTL.
	holder := open(t, server.URL(), 0)
	lease, err := holder.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	if ttl := server.CLI("PTTL", "oid:lock:{job}"); ttl == "-1" || ttl == "-2" {
		t.Errorf("TTL %s, want one", ttl)
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

func TestNaiveLockRemovesThatOfTheNext(t *testing.T) {
	server := testenv.Redis(t)
	a, b, c := newNaive(t, server.URL()), newNaive(t, server.URL()), newNaive(t, server.URL())
	if !a.lock(brief) {
		t.Fatal("the lock is not free")
	}
	until(t, "a's time is up", b.lockFor(time.Minute))
	a.unlock()
	if !c.lock(time.Minute) {
		t.Error("c did not get the naive lock, want it to hold beside b")
	}

	lease, next := expired(t, server)
	if err := lease.Release(); !errors.Is(err, lock.ErrExpired) {
		t.Errorf("Release of a lease whose time is up: %v, want ErrExpired", err)
	}
	third := open(t, server.URL(), 0)
	if _, err := third.TryAcquire(t.Context(), "job", nil); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("the next holder's lock was removed: %v", err)
	}
	if err := next.Release(); err != nil {
		t.Error(err)
	}
}

// expired returns a lease whose time is up because its holder was cut off, and
// that of the next.
func expired(t *testing.T, server *testenv.RedisServer) (late, next *lock.Lease) {
	t.Helper()
	p := testenv.NewProxy(t, server.Addr)
	a, b := open(t, p.URL(), time.Second), open(t, server.URL(), 10*time.Second)
	late, err := a.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Cut(true, true)
	if next, err = b.Acquire(t.Context(), "job", nil); err != nil {
		t.Fatal(err)
	}
	if err := late.Check(); !errors.Is(err, lock.ErrExpired) {
		t.Errorf("Check once the next has the lock: %v, want ErrExpired", err)
	}
	p.Heal()
	return late, next
}

func TestNaiveHolderWorksOnBesideTheNext(t *testing.T) {
	server := testenv.Redis(t)
	a, b := newNaive(t, server.URL()), newNaive(t, server.URL())
	if !a.lock(brief) {
		t.Fatal("the lock is not free")
	}
	until(t, "a's time is up", b.lockFor(time.Minute))
	b.do("SET", "resource", "b")
	a.do("SET", "resource", "a") // nothing has told a that its time is up
	if got := server.CLI("GET", "resource"); got != "a" {
		t.Errorf("resource %q, want the late write of a", got)
	}

	// Here the holder is told before the next begins, and one that writes all the
	// same is refused.
	late, next := expired(t, server)
	if cause := context.Cause(late.Context()); !errors.Is(cause, lock.ErrExpired) {
		t.Errorf("cause %v, want ErrExpired", cause)
	}
	guard := redislock.Guard{Client: b.client, Key: "guarded"}
	if err := guard.Set(t.Context(), next.Fence(), "b"); err != nil {
		t.Error(err)
	}
	if err := guard.Set(t.Context(), late.Fence(), "a"); !errors.Is(err, lock.ErrStale) {
		t.Errorf("late write: %v, want ErrStale", err)
	}
	if got := server.CLI("HGET", "guarded", "value"); got != "b" {
		t.Errorf("guarded resource %q, want b", got)
	}
	_ = late.Release()
	if err := next.Release(); err != nil {
		t.Error(err)
	}
}

func TestNaiveLockDoesNotShowItsHolder(t *testing.T) {
	server := testenv.Redis(t)
	if a := newNaive(t, server.URL()); !a.lock(time.Minute) {
		t.Fatal("the lock is not free")
	}
	if got := server.CLI("GET", "lock"); got != "1" {
		t.Errorf("the naive lock says %q, want 1", got)
	}

	holder, other := open(t, server.URL(), 0), open(t, server.URL(), 0)
	lease, err := holder.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := other.Status(t.Context(), "job")
	if err != nil || s.Owner != lease.Owner() || s.Owner.Process.IsZero() || s.Since.IsZero() || s.TTL <= 0 {
		t.Errorf("Status = %+v, %v", s, err)
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

// compareCommands are commands of newer servers that compare a value and act in one step. They
// replace the script that releases a plain lock and the one that renews it.
var compareCommands = []struct{ server, remove string }{
	{"valkey-9.1", "DELIFEQ lock TOKEN"},
	{"", "DELEX lock IFEQ TOKEN"}, // Redis 8.4 or later, if OID_TEST_REDIS names one
}

func TestCommandsThatCompare(t *testing.T) {
	for _, c := range compareCommands {
		t.Run(strings.Fields(c.remove)[0], func(t *testing.T) {
			server := testenv.RedisOf(t, cmp.Or(c.server, testenv.RedisProgram(t)))
			if server.CLI("COMMAND", "INFO", strings.Fields(c.remove)[0]) == "" {
				t.Skip("this server has no " + c.remove)
			}
			n := newNaive(t, server.URL())
			remove := func(token string) string {
				return n.do(strings.Fields(strings.Replace(c.remove, "TOKEN", token, 1))...)
			}
			renew := func(token string) string {
				return n.do("SET", "lock", token, "IFEQ", token, "PX", "60000")
			}
			take := func(token string) string { return n.do("SET", "lock", token, "NX", "PX", "60000") }
			if take("a") != "OK" || renew("a") != "OK" || renew("b") != "" || remove("b") != "0" || n.do("GET", "lock") != "a" {
				t.Error("only the holder's token renews and releases")
			}
			if remove("a") != "1" || renew("a") != "" || n.do("GET", "lock") != "" {
				t.Error("the holder's token releases, and then renews nothing")
			}
			// What they do not replace: the holder whose reply was lost asks again, and is
			// told that the lock has a holder, or that there was nothing to release.
			if take("c") != "OK" || take("c") != "" || remove("c") != "1" || remove("c") != "0" {
				t.Error("asking again after a lost reply succeeds")
			}
		})
	}
}
