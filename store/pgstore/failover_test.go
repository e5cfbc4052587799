package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/storelock"
	"github.com/oidkit/oid/registry"
)

// TestFailover repeatedly kills the primary and promotes its synchronous standby; the killed
// server becomes the next standby. Meanwhile eight processes write, others are registered, and
// three lockers share a lock. They know only a URL with both hosts.
func TestFailover(t *testing.T) {
	t.Parallel()
	primary := testenv.Postgres(t)
	standby := primary.Standby()
	uri := testenv.PostgresSchema(t, testenv.PostgresPair(primary, standby))
	s := open(t, uri)
	members := &members{uri: uri, blocks: map[string]bool{}}
	defer members.end(t) // no write of theirs may wait for a standby that is gone
	members.register(t)
	turns, release := takeTurns(t, uri)
	defer release()
	writers, stop := startWriters(t, uri)
	for range testenv.Rounds(2, 6) {
		primary.Kill()
		standby.Promote()
		began := time.Now()
		awaitProgress(t, writers)
		t.Logf("all writers go on after %v", time.Since(began).Round(time.Millisecond))
		turns.await(t)
		t.Logf("all lockers have had a turn after %v", time.Since(began).Round(time.Millisecond))
		members.await(t)
		t.Logf("ids of all members are traced after %v", time.Since(began).Round(time.Millisecond))
		members.register(t)
		standby.Adopt(primary)
		primary, standby = standby, primary
		awaitProgress(t, writers)
	}
	checkStored(t, s, "c", stop())
}

// members are registered processes.
type members struct {
	uri    string
	all    []*registry.Member
	blocks map[string]bool
}

// register registers another member and checks that no other member has its process block.
func (m *members) register(t *testing.T) {
	t.Helper()
	member, err := registry.New(open(t, m.uri), nil).Register(t.Context(), &registry.RegisterOptions{Interval: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if block := member.Process().Block; m.blocks[block] {
		t.Errorf("block %s is given to a second member", block)
	} else {
		m.blocks[block] = true
	}
	m.all = append(m.all, member)
}

func (m *members) end(t *testing.T) {
	t.Helper()
	for _, member := range m.all {
		if err := member.End(t.Context(), "end of the test"); err != nil {
			t.Errorf("End: %v", err)
		}
	}
}

// await waits until ids that the members create now can be traced to them with certainty.
func (m *members) await(t *testing.T) {
	t.Helper()
	r := registry.New(open(t, m.uri), nil)
	for i, member := range m.all {
		testenv.Await(t, fmt.Sprintf("id of member %d", i), func() error {
			trace, err := r.Trace(t.Context(), member.Generator().New())
			if err == nil && (!trace.Certain || trace.Processes[0].Member != member.Process().Member) {
				err = errors.New(trace.Reason)
			}
			return err
		})
	}
}

// turns counts the leases of lockers that share one lock.
type turns struct {
	mu      sync.Mutex
	highest uint64 // fence of a lease that was inside its deadline
	taken   [3]int
}

// takeTurns lets lockers, each with a store of its own, take a lock until stop is called.
func takeTurns(t *testing.T, uri string) (u *turns, stop func()) {
	t.Helper()
	u = &turns{}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for i := range u.taken {
		l, err := storelock.New(open(t, uri), &storelock.Options{TTL: 2 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			defer l.Close()
			for ctx.Err() == nil {
				lease, err := l.Acquire(ctx, "job", nil)
				if err != nil {
					continue // await notices when that goes on
				}
				for range 10 {
					u.inside(t, lease)
					time.Sleep(5 * time.Millisecond)
				}
				_ = lease.Release()
				u.mu.Lock()
				u.taken[i]++
				u.mu.Unlock()
			}
		})
	}
	return u, func() {
		cancel()
		running.Wait()
	}
}

// inside records a lease that has not reached its deadline. If another lease has already
// begun, that is an error.
func (u *turns) inside(t *testing.T, lease *lock.Lease) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if lease.Check() != nil {
		return
	}
	if lease.Fence() < u.highest {
		t.Errorf("fence %d is inside its deadline after fence %d", lease.Fence(), u.highest)
	}
	u.highest = max(u.highest, lease.Fence())
}

// await waits until each locker has had another lease.
func (u *turns) await(t *testing.T) {
	t.Helper()
	u.mu.Lock()
	before := u.taken
	u.mu.Unlock()
	testenv.Await(t, "a turn of each locker", func() error {
		u.mu.Lock()
		defer u.mu.Unlock()
		for i, n := range u.taken {
			if n == before[i] {
				return fmt.Errorf("locker %d has none", i)
			}
		}
		return nil
	})
}
