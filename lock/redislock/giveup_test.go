package redislock

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// The process of the first waiter is dead, and the waiter that was told to ask after
// its reservation gives up. Then another one is told, for nobody else would ask before
// its next poll.
func TestWaiterThatGivesUpPassesItsHintOn(t *testing.T) {
	server := testenv.Redis(t)
	open := func() *Locker {
		l, err := Open(t.Context(), server.URL(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	holder, dead, leaving, staying := open(), open(), open(), open()
	lease, err := holder.TryAcquire(t.Context(), "job")
	if err != nil {
		t.Fatal(err)
	}
	waiters(t, dead, 1)
	stays := waiters(t, staying, 1)[0]
	leaves := waiters(t, leaving, 1)[0] // the last heard of, so it is told
	for _, r := range []*request{stays, leaves} {
		if err := r.l.listen(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.l.queue.join(r)
	}
	// next returns the hint that comes to a waiter next.
	next := func(who string, r *request) hint {
		t.Helper()
		select {
		case h := <-r.wake:
			return h
		case <-time.After(10 * time.Second):
			t.Fatalf("the waiter that %s got no hint", who)
			return 0
		}
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	if h := next("leaves", leaves); h == now {
		t.Fatalf("the waiter last heard of was told to ask at once, want later")
	}
	leaves.l.calls.Begin()
	leaves.giveUp()
	leaves.l.calls.Done()
	if h := next("stays", stays); h == now {
		t.Errorf("the waiter that stays was told to ask at once, want after the reservation")
	}
	if s := server.CLI("ZRANGE", stays.keys[1], "0", "-1"); strings.Contains(s, leaves.text) {
		t.Errorf("queue %s has the waiter that left", fmt.Sprintf("%q", s))
	}
}
