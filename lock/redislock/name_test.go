package redislock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/redislock"
)

// failover starts a primary and a replica behind one name. Its result moves the name to the
// replica, which is then the primary. The old primary keeps its connections.
func failover(t *testing.T) (name *testenv.Name, switchOver func()) {
	t.Helper()
	primary := testenv.Redis(t, "--repl-diskless-sync-delay", "0")
	host, port, _ := strings.Cut(primary.Addr, ":")
	replica := testenv.Redis(t, "--replicaof", host, port)
	replica.Await("master_link_status:up", "INFO", "replication")
	name = testenv.NewName(t, primary.Addr)
	return name, func() {
		primary.CLI("FAILOVER")
		replica.Await("master", "ROLE")
		primary.Await("slave", "ROLE")
		name.Move(replica.Addr)
	}
}

// Calls that do not wait for a lock survive a failover behind one name, too: each leaves the old
// primary within its few attempts.
func TestCallsThatDoNotWaitFollowTheName(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "starts a failover")
	for call, f := range map[string]func(l *redislock.Locker, lease *lock.Lease) error{
		"TryAcquire": func(l *redislock.Locker, _ *lock.Lease) error {
			lease, err := l.TryAcquire(t.Context(), "other", nil)
			if err == nil {
				err = lease.Release()
			}
			return err
		},
		"Release": func(_ *redislock.Locker, lease *lock.Lease) error { return lease.Release() },
		"Status": func(l *redislock.Locker, _ *lock.Lease) error {
			s, err := l.Status(t.Context(), "job")
			if err == nil && !s.Held {
				err = errors.New("not held")
			}
			return err
		},
		"List": func(l *redislock.Locker, _ *lock.Lease) error {
			all, err := l.List(t.Context())
			if err == nil && len(all) != 1 {
				err = errors.New("not one lock")
			}
			return err
		},
	} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			name, switchOver := failover(t)
			l := open(t, "redis://"+name.Addr, 0)
			lease, err := l.Acquire(t.Context(), "job", nil)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second) // younger connections are kept
			switchOver()
			if err := f(l, lease); err != nil {
				t.Errorf("%s: %v", call, err)
			}
		})
	}
}

// A client of the caller follows the name if its connections have a lifetime, as New says.
func TestClientWithALifetimeFollowsTheName(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "starts a failover")
	name, switchOver := failover(t)
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{name.Addr}, ForceSingleClient: true, DisableCache: true,
		ConnWriteTimeout: time.Second, ConnLifetime: 3 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	l, err := redislock.New(t.Context(), client, &redislock.Options{TTL: 12 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	lease, err := l.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	switchOver()
	time.Sleep(12 * time.Second)
	if err := lease.Check(); err != nil {
		t.Errorf("the lease: %v", err)
	}
	if err := lease.Release(); err != nil {
		t.Errorf("Release: %v", err)
	}
}
