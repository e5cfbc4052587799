package locktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

// Each holder has a slot of its own, everyone sees it, and it passes to a waiter.
func testSlots(t testing.TB, open func() lock.Locker) {
	l := open()
	a, b := lock.Slots(l, 3), lock.Slots(open(), 3)
	leases := []*lock.Lease{acquire(t, a, "job"), acquire(t, b, "job"), testenv.Must(b.TryAcquire(t.Context(), "job", nil))(t)}
	slices.SortFunc(leases, func(a, b *lock.Lease) int { return a.Slot() - b.Slot() })
	held, err := lock.HeldSlots(t.Context(), l, "job")
	if err != nil || len(held) != len(leases) {
		t.Fatalf("HeldSlots: %+v, %v; want all", held, err)
	}
	all, err := l.List(t.Context())
	if err != nil || len(all) != len(leases) {
		t.Errorf("List: %+v, %v; want the slots", all, err)
	}
	for i, lease := range leases {
		if s := held[i]; lease.Slot() != i || s.Name != lease.Name() || s.Owner != lease.Owner() || s.Fence != lease.Fence() {
			t.Errorf("slot %d is %q by %v; shown is %+v", lease.Slot(), lease.Name(), lease.Owner(), s)
		}
	}
	held0 := (*lock.HeldError)(nil)
	if _, err := a.TryAcquire(t.Context(), "job", nil); !errors.As(err, &held0) || !strings.HasPrefix(held0.Status.Name, "job#") {
		t.Errorf("TryAcquire of a fourth: %v, want a HeldError of a slot", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	testenv.WantError(t, "Acquire of a fourth", testenv.ErrOf(a.Acquire(ctx, "job", nil)), context.DeadlineExceeded)
	next := async(func() *lock.Lease { return acquire(t, a, "job") })
	time.Sleep(20 * time.Millisecond)
	release(t, leases[1])
	leases[1] = receive(t, next)
	if leases[1].Slot() != 1 || leases[1].Fence() <= held[1].Fence {
		t.Errorf("the next has slot %d with fence %d after %d", leases[1].Slot(), leases[1].Fence(), held[1].Fence)
	}
	// A Locker with more slots takes the additional ones.
	more := lock.Slots(l, 4)
	fourth := acquire(t, more, "job")
	if _, err := more.TryAcquire(t.Context(), "job", nil); fourth.Slot() != 3 || !errors.Is(err, lock.ErrHeld) {
		t.Errorf("the fourth of 4 has slot %d; TryAcquire of a fifth: %v", fourth.Slot(), err)
	}
	for _, lease := range leases {
		release(t, lease)
	}
	// A Locker with fewer slots does not hide them.
	single := acquire(t, lock.Slots(l, 1), "job")
	if held, err := lock.HeldSlots(t.Context(), l, "job"); err != nil || len(held) != 2 || held[1].Owner != fourth.Owner() {
		t.Errorf("HeldSlots: %+v, %v; want slots 0 and 3", held, err)
	}
	release(t, single)
	release(t, fourth)
	if held, err := lock.HeldSlots(t.Context(), l, "job"); err != nil || len(held) > 0 {
		t.Errorf("HeldSlots after the last: %+v, %v", held, err)
	}
	testBadSlots(t, l)
}

func testBadSlots(t testing.TB, l lock.Locker) {
	for n, name := range map[int]string{
		0: "job", -1: "job", lock.MaxSlots + 1: "job", 1: "", 2: strings.Repeat("x", lock.MaxName-5),
	} {
		what := fmt.Sprintf("%d slots of %.10q", n, name)
		testenv.WantError(t, what, testenv.ErrOf(lock.Slots(l, n).Acquire(t.Context(), name, nil)), lock.ErrInvalid)
		testenv.WantError(t, what, testenv.ErrOf(lock.Slots(l, n).TryAcquire(t.Context(), name, nil)), lock.ErrInvalid)
	}
	longest := strings.Repeat("x", lock.MaxName-6)
	release(t, acquire(t, lock.Slots(l, 1), longest))
	testenv.WantError(t, "Once with Slots", testenv.ErrOf(lock.Once(t.Context(), lock.Slots(l, 1), "job", lock.KeySchedule("1"), nil, nil)), lock.ErrInvalid)
	for name, want := range map[string]int{"job": -1, "job#7": 7, "job#07": -1, "job#-1": -1, "#7": -1, "a#b#0": 0, "job#queue": -1} {
		lease := acquire(t, l, name)
		if got := lease.Slot(); got != want {
			t.Errorf("the slot of %q is %d, want %d", name, got, want)
		}
		release(t, lease)
	}
}

// Each slot has one holder at a time, and every caller gets its turn.
func testSlotsAreNeverMore(t testing.TB, open func() lock.Locker) {
	const n, workers, turns = 3, 8, 6
	ctx, moved, stop := untilStuck(t)
	defer stop()
	var holders, done, most atomic.Int32
	var used [n]atomic.Bool
	var fences [n]fences
	var wg sync.WaitGroup
	for range 2 {
		l := lock.Slots(open(), n)
		for worker := range workers / 2 {
			wg.Go(func() {
				for range turns {
					take := l.Acquire
					if worker == 0 {
						take = l.TryAcquire
					}
					lease, err := take(ctx, "job", nil)
					if worker == 0 && errors.Is(err, lock.ErrHeld) {
						done.Add(1)
						continue
					}
					if err != nil {
						t.Errorf("acquire: %v", err)
						return
					}
					slot := lease.Slot()
					if now := holders.Add(1); now > n || used[slot].Swap(true) {
						t.Errorf("%d holders, slot %d", now, slot)
					} else if now > most.Load() {
						most.Store(now)
					}
					fences[slot].rises(t, lease)
					within(func() bool { return most.Load() == n }) // once all are held together
					used[slot].Store(false)
					holders.Add(-1)
					release(t, lease)
					done.Add(1)
					moved()
				}
			})
		}
	}
	wg.Wait()
	if got := done.Load(); got != workers*turns || most.Load() != n {
		t.Errorf("%d turns, want %d; at most %d at a time, want %d", got, workers*turns, most.Load(), n)
	}
}

// A lock that is held without slots excludes its slots. The reverse can only be seen.
func testSlotsAndNoSlots(t testing.TB, open func() lock.Locker) {
	l := open()
	s := lock.Slots(open(), 2)
	whole := acquire(t, l, "job")
	for how, take := range map[string]func(context.Context, string, *lock.AcquireOptions) (*lock.Lease, error){"Acquire": s.Acquire, "TryAcquire": s.TryAcquire} {
		_, err := take(t.Context(), "job", nil)
		if held := (*lock.HeldError)(nil); !errors.As(err, &held) || held.Status.Owner != whole.Owner() {
			t.Errorf("%s while the lock is held without slots: %v, want a HeldError of that", how, err)
		}
	}
	if all, err := l.List(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("List: %+v, %v; want only the lock without slots", all, err)
	}
	release(t, whole)
	for how, name := range map[string]string{"Acquire": "job", "TryAcquire": "other"} {
		take := s.Acquire
		if how == "TryAcquire" {
			take = s.TryAcquire
		}
		ctx, stop := context.WithTimeout(t.Context(), patience)
		slot, err := take(ctx, name, nil)
		stop()
		if err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		held, err := lock.HeldSlots(t.Context(), l, name)
		if err != nil || len(held) != 1 || held[0].Owner != slot.Owner() {
			t.Errorf("HeldSlots after %s: %+v, %v; want one", how, held, err)
		}
		release(t, slot)
	}
}

// SlotsInOrder makes six callers wait for one of two slots of an engine that has a queue, and
// checks that they are served in the order in which they came.
func SlotsInOrder(t *testing.T, l lock.Locker) {
	const waiters = 6
	s := lock.Slots(l, 2)
	leases := []*lock.Lease{acquire(t, s, "order"), acquire(t, s, "order")}
	type turn struct {
		waiter int
		lease  *lock.Lease
	}
	turns := make(chan turn, waiters)
	for i := range waiters {
		go func() {
			lease, err := s.Acquire(t.Context(), "order", &lock.AcquireOptions{Group: true})
			if err != nil {
				t.Errorf("Acquire: %v", err)
			}
			turns <- turn{i, lease}
		}()
		for began := time.Now(); ; time.Sleep(time.Millisecond) {
			queue, err := l.Status(t.Context(), "order#queue")
			if err != nil || time.Since(began) > patience {
				t.Fatalf("waiter %d is not in the queue: %+v, %v", i, queue, err)
			}
			if queue.Held && queue.Waiters == i {
				// It ends soon after its waiter, which has not begun anything.
				if queue.TTL > 6*time.Second || queue.Holder.Group != 0 {
					t.Errorf("the turn of the first waiter outlives it by %v, and has the group %d", queue.TTL, queue.Holder.Group)
				}
				break
			}
		}
	}
	for i := range waiters {
		release(t, leases[i])
		next := <-turns
		if next.waiter != i {
			t.Errorf("turn %d is that of waiter %d", i, next.waiter)
		}
		leases = append(leases, next.lease)
	}
	for _, lease := range leases[waiters:] {
		release(t, lease)
	}
}

// There are never two leaders at the same time.
func testLead(t testing.TB, open func() lock.Locker) {
	const candidates, terms = 3, 4
	resigned := errors.New("resigned")
	var leaders, count atomic.Int32
	var fences fences
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	var wg sync.WaitGroup
	for range candidates {
		l := open()
		wg.Go(func() {
			var kinds []lock.EventKind
			mine := 0
			err := lock.Lead(ctx, l, "chair", func(ctx context.Context, lease *lock.Lease) error {
				if n := leaders.Add(1); n != 1 || lease.Check() != nil || ctx.Err() != nil {
					t.Errorf("%d leaders", n)
				}
				defer leaders.Add(-1)
				time.Sleep(time.Millisecond)
				fences.rises(t, lease)
				count.Add(1)
				if mine++; mine == terms {
					return nil
				}
				return resigned
			}, &lock.LeadOptions{
				Pause: time.Millisecond, MaxPause: 4 * time.Millisecond,
				Events: func(e lock.Event) {
					if e.Kind == lock.EventPaused && !errors.Is(e.Err, resigned) {
						t.Errorf("paused after %v", e.Err)
					}
					kinds = append(kinds, e.Kind)
				},
			})
			if err != nil || len(kinds) != 2*terms-1 || kinds[0] != lock.EventAcquired || kinds[1] != lock.EventPaused {
				t.Errorf("Lead: %v after %v", err, kinds)
			}
		})
	}
	wg.Wait()
	if n := count.Load(); n != candidates*terms {
		t.Errorf("%d terms, want %d", n, candidates*terms)
	}
}
