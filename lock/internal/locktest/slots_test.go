package locktest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/lock"
)

// stumbling is a Locker whose Status fails for a while.
type stumbling struct {
	lock.Locker
	failures int
}

var errStumbled = errors.New("connection reset")

func (s *stumbling) Status(ctx context.Context, name string) (lock.Status, error) {
	if s.failures--; s.failures >= 0 {
		return lock.Status{}, errStumbled
	}
	return s.Locker.Status(ctx, name)
}

// A slot that was taken is kept while the engine does not say whether the lock is held
// without slots, as long as ctx allows.
func TestSlotsWhileStatusFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &stumbling{newMemory("").open(nil), 3}
		s := lock.Slots(l, 2)
		release(t, acquire(t, s, "job"))
		l.failures = 1 << 30
		ctx, stop := context.WithTimeout(t.Context(), patience)
		defer stop()
		if _, err := s.Acquire(ctx, "job", nil); !errors.Is(err, errStumbled) {
			t.Errorf("Acquire: %v, want the error of Status", err)
		}
		l.failures = 0
		if held, err := lock.HeldSlots(t.Context(), l, "job"); err != nil || len(held) > 0 {
			t.Errorf("HeldSlots: %+v, %v; want none", held, err)
		}
	})
}

// A waiter whose turn is lost waits for another, and then for a slot.
func TestSlotsAfterALostTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory("")
		s := lock.Slots(m.open(nil), 1)
		lease := acquire(t, s, "job")
		got := async(func() *lock.Lease { return acquire(t, s, "job") })
		time.Sleep(time.Second)
		m.mu.Lock()
		m.locks["job#queue"].pass()
		m.mu.Unlock()
		time.Sleep(10 * time.Second)
		release(t, lease)
		release(t, receive(t, got))
	})
}

// together is a Locker that grants several slots at once.
type together struct {
	lock.Locker
	granted sync.WaitGroup
}

func (l *together) Acquire(ctx context.Context, name string, o *lock.AcquireOptions) (*lock.Lease, error) {
	if name == "job#queue" {
		return l.Locker.Acquire(ctx, name, o)
	}
	lease, err := l.Locker.Acquire(context.WithoutCancel(ctx), name, o)
	l.granted.Done()
	l.granted.Wait()
	return lease, err
}

// A waiter that gets several slots at once keeps one.
func TestSlotsThatAreFreeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 3
		l := newMemory("").open(nil)
		var leases []*lock.Lease
		for range n {
			leases = append(leases, acquire(t, lock.Slots(l, n), "job"))
		}
		all := &together{Locker: l}
		all.granted.Add(n)
		got := async(func() *lock.Lease { return acquire(t, lock.Slots(all, n), "job") })
		synctest.Wait()
		for _, lease := range leases {
			release(t, lease)
		}
		lease := receive(t, got)
		if held, err := lock.HeldSlots(t.Context(), l, "job"); err != nil || len(held) != 1 || held[0].Owner != lease.Owner() {
			t.Errorf("%d slots are held, %v; want one", len(held), err)
		}
		release(t, lease)
	})
}
