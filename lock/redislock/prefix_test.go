package redislock_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/redislock"
)

// tenant creates a Redis user who may use only keys and channels that begin with the pattern,
// and returns the URL of this user.
func tenant(server *testenv.RedisServer, name, pattern string) string {
	server.CLI("ACL", "SETUSER", name, "on", ">secret", "~"+pattern, "resetchannels", "&"+pattern, "+@all", "-@admin", "-@dangerous")
	return "redis://" + name + ":secret@" + server.Addr
}

// With a prefix, a user with rights on this prefix alone can do everything.
func TestSuiteOfATenant(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "the suite again")
	server := testenv.Redis(t)
	suite(t, tenant(server, "shop", "shop:*")+"?prefix=shop", func() { server.CLI("FLUSHALL") })
}

// Tenants of one Redis have locks of their own, whatever their names and prefixes are.
func TestTenantsAreApart(t *testing.T) {
	server := testenv.Redis(t)
	urls := []string{
		server.URL(),
		tenant(server, "shop", "shop:*") + "?prefix=shop",
		tenant(server, "pay", "pay/*") + "?prefix=pay/",
		server.URL() + "?prefix=oid:lock",
		server.URL() + "?prefix=Caf%21",
	}
	keys := []string{"oid:lock:{job}", "shop:oid:lock:{job}", "pay/oid:lock:{job}", "oid:lock:oid:lock:{job}", "Caf!oid:lock:{job}"}
	for i, url := range urls {
		l := open(t, url, 0)
		lease, err := l.TryAcquire(t.Context(), "job", nil)
		if err != nil {
			t.Fatalf("%s: %v; another tenant holds the lock of this name", url, err)
		}
		t.Cleanup(func() { testenv.WantError(t, url, lease.Release(), nil) })
		if got := server.CLI("EXISTS", keys[i]); got != "1" {
			t.Errorf("%s: there is no key %s; keys: %s", url, keys[i], server.CLI("KEYS", "*"))
		}
		all, err := l.List(t.Context())
		if err != nil || len(all) != 1 || all[0].Owner != lease.Owner() {
			t.Errorf("%s lists %v, %v; want its own lock", url, all, err)
		}
		if s, err := l.Status(t.Context(), "job"); err != nil || s.Owner != lease.Owner() {
			t.Errorf("%s: Status %v, %v; want its own lock", url, s, err)
		}
	}
	same := open(t, server.URL()+"?prefix=shop:", 0)
	testenv.WantError(t, "prefix=shop:, which is prefix=shop", testenv.ErrOf(same.TryAcquire(t.Context(), "job", nil)), lock.ErrHeld)
	option, err := redislock.Open(t.Context(), server.URL(), &redislock.Options{Prefix: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	defer option.Close()
	testenv.WantError(t, "the option shop", testenv.ErrOf(option.TryAcquire(t.Context(), "job", nil)), lock.ErrHeld)
	over, err := redislock.Open(t.Context(), server.URL()+"?prefix=pay/", &redislock.Options{Prefix: "other"})
	if err != nil {
		t.Fatal(err)
	}
	defer over.Close()
	testenv.WantError(t, "a URL with a prefix beside the option", testenv.ErrOf(over.TryAcquire(t.Context(), "job", nil)), lock.ErrHeld)
	// A waiter of a tenant uses a channel of this tenant.
	go func() { _, _ = same.Acquire(t.Context(), "job", nil) }()
	until(t, "waiter", func() bool {
		return slices.ContainsFunc(strings.Fields(server.CLI("PUBSUB", "CHANNELS")), func(c string) bool { return strings.HasPrefix(c, "shop:oid:lock:wake:") })
	})
}

// A prefix that cannot be used is refused before anything is sent to Redis.
func TestBadPrefix(t *testing.T) {
	const nobody = "redis://127.0.0.1:1"
	for _, query := range []string{
		"prefix=", "prefix", "prefix=a&prefix=b", "Prefix=a", "keyPrefix=a", "key_prefix=a", "prefix=%zz",
		"prefix=a%20b", "prefix=a+b", "prefix={a}", "prefix=a}", "prefix=*", "prefix=a?", "prefix=[a]", `prefix=a\`,
		"prefix=a%00", "prefix=a%0a", "prefix=caf%C3%A9", "prefix=%ff", "prefix=" + strings.Repeat("a", 129),
	} {
		if _, err := redislock.Open(t.Context(), nobody+"?"+query, nil); !errors.Is(err, lock.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", query, err)
		}
	}
	if _, err := redislock.NewWithDriver(t.Context(), nil, &redislock.Options{Prefix: "{a}"}); !errors.Is(err, lock.ErrInvalid) {
		t.Errorf("the option {a}: %v, want ErrInvalid", err)
	}
	server := testenv.Redis(t)
	longest := open(t, server.URL()+"?prefix="+strings.Repeat("a", 128), 0)
	lease, err := longest.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatalf("a prefix of 128 bytes: %v", err)
	}
	testenv.WantError(t, "Release", lease.Release(), nil)
}
