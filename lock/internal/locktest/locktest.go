// Package locktest is the test suite that every engine of package lock passes.
package locktest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oidkit/oid/lock"
)

// patience is how long anything here may take on a busy machine.
var patience = 30 * time.Second

// check is a part of the suite. It opens lockers on the same locks, as processes would.
type check struct {
	name string
	run  func(t testing.TB, open func() lock.Locker)
}

var checks = []check{
	{"AcquireAndRelease", testAcquireAndRelease},
	{"HeldByAnother", testHeldByAnother},
	{"AcquireWaits", testAcquireWaits},
	{"AcquireHonoursCtx", testAcquireHonoursCtx},
	{"GivenUpIsPassedOver", testGivenUpIsPassedOver},
	{"ReleaseTwice", testReleaseTwice},
	{"FencesRise", testFencesRise},
	{"NamesAreIndependent", testNamesAreIndependent},
	{"BadNames", testBadNames},
	{"OddNames", testOddNames},
	{"StatusAndList", testStatusAndList},
	{"CloseEndsWaiting", testCloseEndsWaiting},
	{"LeasesAfterClose", testLeasesAfterClose},
	{"LeaseIsRenewed", testLeaseIsRenewed},
	{"ManyTakeTurns", testManyTakeTurns},
	{"Do", testDo},
	{"LeaseOutlivesItsCtx", testLeaseOutlivesItsCtx},
	{"ContextHasTheCause", testContextHasTheCause},
	{"StatusDescribesTheHolder", testStatusDescribesTheHolder},
	{"BadTTL", testBadTTL},
	{"Slots", testSlots},
	{"SlotsAreNeverMore", testSlotsAreNeverMore},
	{"SlotsAndNoSlots", testSlotsAndNoSlots},
	{"Lead", testLead},
	{"OnceKeepsARecord", testOnceKeepsARecord},
	{"OnceAfterTheLease", testOnceAfterTheLease},
	{"OncePerTick", testOncePerTick},
	{"EventsOfALease", testEventsOfALease},
	{"EventsOfWaiters", testEventsOfWaiters},
	{"EventsOfALostLease", testEventsOfALostLease},
}

// Run runs the suite. It calls open once for each test, which then opens further
// lockers with the function that open returned, all of them on the same locks,
// as processes would. Each sends its events to the function that it gets. The suite closes
// the lockers.
func Run(t *testing.T, open func(t *testing.T) func(events func(lock.Event)) lock.Locker) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) { c.on(t, newJournal(t), open(t)) })
	}
}

// on runs the check on lockers that it closes. Whatever the check is about, the journal
// looks at their events.
func (c check) on(t testing.TB, j *journal, opened func(events func(lock.Event)) lock.Locker) {
	c.run(t, func() lock.Locker {
		l := opened(j.receive)
		t.Cleanup(func() {
			if err := l.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
		return observed{l, j}
	})
}

func acquire(t testing.TB, l lock.Locker, name string) *lock.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	lease, err := l.Acquire(ctx, name, nil)
	if err != nil {
		t.Fatalf("Acquire(%q): %v", name, err)
	}
	return lease
}

func release(t testing.TB, lease *lock.Lease) {
	t.Helper()
	if err := lease.Release(); err != nil {
		t.Errorf("Release of %q: %v", lease.Name(), err)
	}
}

func testAcquireAndRelease(t testing.TB, open func() lock.Locker) {
	l := open()
	before := time.Now()
	lease := acquire(t, l, "job")
	if lease.Name() != "job" || lease.Owner().IsZero() || lease.Fence() == 0 {
		t.Errorf("lease of %q by %q with fence %d", lease.Name(), lease.Owner(), lease.Fence())
	}
	if err := lease.Check(); err != nil {
		t.Errorf("Check while held: %v", err)
	}
	if err := lease.Context().Err(); err != nil {
		t.Errorf("Context while held: %v", err)
	}
	if d := lease.Deadline(); !d.IsZero() && !d.After(before) {
		t.Errorf("deadline %v lies before the lease", d)
	}
	release(t, lease)
	release(t, acquire(t, l, "job"))
}

func testHeldByAnother(t testing.TB, open func() lock.Locker) {
	a, b := open(), open()
	lease := acquire(t, a, "job")
	for _, l := range []lock.Locker{a, b} { // the process that holds it is another, too
		_, err := l.TryAcquire(t.Context(), "job", nil)
		var held *lock.HeldError
		if !errors.Is(err, lock.ErrHeld) || !errors.As(err, &held) {
			t.Fatalf("TryAcquire: %v, want a HeldError", err)
		}
		if s := held.Status; s.Owner != lease.Owner() || s.Fence != lease.Fence() || s.Name != "job" || !s.Held {
			t.Errorf("held by %+v, want %v with fence %d", s, lease.Owner(), lease.Fence())
		}
		if !strings.Contains(err.Error(), lease.Owner().String()) {
			t.Errorf("error does not name the owner: %v", err)
		}
	}
	release(t, lease)
	again, err := b.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatalf("TryAcquire after release: %v", err)
	}
	release(t, again)
}

func testAcquireWaits(t testing.TB, open func() lock.Locker) {
	a, b := open(), open()
	lease := acquire(t, a, "job")
	got := make(chan *lock.Lease, 1)
	go func() {
		next, err := b.Acquire(t.Context(), "job", nil)
		if err != nil {
			t.Errorf("Acquire: %v", err)
		}
		got <- next
	}()
	select {
	case <-got:
		t.Fatal("Acquire returned while the lock was held")
	case <-time.After(100 * time.Millisecond):
	}
	release(t, lease)
	select {
	case next := <-got:
		if next != nil {
			release(t, next)
		}
	case <-time.After(patience):
		t.Fatal("Acquire did not return after the release")
	}
}

func testAcquireHonoursCtx(t testing.TB, open func() lock.Locker) {
	a, b := open(), open()
	lease := acquire(t, a, "job")
	// The engine may need some time to learn of the holder.
	var held *lock.HeldError
	for wait := 50 * time.Millisecond; held == nil; wait *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		_, err := b.Acquire(ctx, "job", nil)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Acquire: %v, want DeadlineExceeded", err)
		}
		if !errors.As(err, &held) && wait > patience/4 {
			t.Fatalf("Acquire for %v: %v, want it to name the holder", wait, err)
		}
	}
	if held.Status.Owner != lease.Owner() {
		t.Errorf("Acquire: held by %v, want %v", held.Status.Owner, lease.Owner())
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Acquire(gone, "free", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Acquire with a ctx that is done: %v, want Canceled", err)
	}
	release(t, lease)
}

// A waiter that has given up must not be handed the lock.
func testGivenUpIsPassedOver(t testing.TB, open func() lock.Locker) {
	a, b := open(), open()
	for range 20 {
		lease := acquire(t, a, "job")
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if next, err := b.Acquire(ctx, "job", nil); err == nil { // it may just have made it
				release(t, next)
			}
		})
		time.Sleep(2 * time.Millisecond)
		wg.Go(cancel)
		release(t, lease)
		wg.Wait()
		release(t, acquire(t, a, "job"))
	}
}

func testReleaseTwice(t testing.TB, open func() lock.Locker) {
	l := open()
	lease := acquire(t, l, "job")
	release(t, lease)
	next := acquire(t, l, "job")
	if err := lease.Release(); !errors.Is(err, lock.ErrReleased) {
		t.Errorf("second Release: %v, want ErrReleased", err)
	}
	if err := next.Check(); err != nil {
		t.Errorf("the next lease: %v", err)
	}
	if _, err := l.TryAcquire(t.Context(), "job", nil); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("the second Release has freed the lock of the next: %v", err)
	}
	release(t, next)
}

func testFencesRise(t testing.TB, open func() lock.Locker) {
	lockers := []lock.Locker{open(), open()}
	var last uint64
	for i := range 50 {
		lease := acquire(t, lockers[i%2], "job")
		if lease.Fence() <= last {
			t.Fatalf("fence %d after %d", lease.Fence(), last)
		}
		last = lease.Fence()
		release(t, lease)
	}
}

func testNamesAreIndependent(t testing.TB, open func() lock.Locker) {
	l := open()
	a, b := acquire(t, l, "a"), acquire(t, l, "b")
	release(t, a)
	if err := b.Check(); err != nil {
		t.Error(err)
	}
	release(t, b)
}

func testBadNames(t testing.TB, open func() lock.Locker) {
	l := open()
	for _, name := range []string{"", "a\nb", strings.Repeat("x", 10<<10), "{a}", "a}b", "\xff", "tab\t", "zero\x00"} {
		_, err1 := l.Acquire(t.Context(), name, nil)
		_, err2 := l.TryAcquire(t.Context(), name, nil)
		_, err3 := l.Status(t.Context(), name)
		for _, err := range []error{err1, err2, err3} {
			if !errors.Is(err, lock.ErrInvalid) {
				t.Errorf("name %.20q: %v, want ErrInvalid", name, err)
			} else if len(err.Error()) > 3*lock.MaxName {
				t.Errorf("name %.20q: error of %d bytes", name, len(err.Error()))
			}
		}
	}
}

func testOddNames(t testing.TB, open func() lock.Locker) {
	l := open()
	names := []string{"a b", "../x", "a/b", "Ж", ".", "A", "a", "*", "x:fence", "[a-z]", "%2F", strings.Repeat("n", lock.MaxName)}
	var leases []*lock.Lease
	for _, name := range names {
		leases = append(leases, acquire(t, l, name)) // two names that are one would wait for ever
	}
	all, err := l.List(t.Context())
	if err != nil || len(all) != len(names) {
		t.Errorf("List: %d locks, %v; want %d", len(all), err, len(names))
	}
	for _, lease := range leases {
		if s, err := l.Status(t.Context(), lease.Name()); err != nil || s.Owner != lease.Owner() {
			t.Errorf("Status(%.20q) = %+v, %v", lease.Name(), s, err)
		}
		release(t, lease)
	}
}

func testStatusAndList(t testing.TB, open func() lock.Locker) {
	a, b := open(), open()
	if s, err := b.Status(t.Context(), "x"); err != nil || s != (lock.Status{Name: "x"}) {
		t.Errorf("Status of a free lock = %+v, %v", s, err)
	}
	began := time.Now()
	x, y := acquire(t, a, "x"), acquire(t, a, "y")
	s, err := b.Status(t.Context(), "x")
	if err != nil || !s.Held || s.Owner != x.Owner() || s.Fence != x.Fence() {
		t.Errorf("Status = %+v, %v", s, err)
	}
	if since := s.Since.Sub(began); since < -time.Second || since > patience {
		t.Errorf("held since %v, acquired at %v", s.Since, began)
	}
	all, err := b.List(t.Context())
	if err != nil || len(all) != 2 || all[0].Name != "x" || all[1].Owner != y.Owner() {
		t.Errorf("List = %+v, %v; want x and y", all, err)
	}
	release(t, x)
	release(t, y)
	if all, err := b.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("List after release = %+v, %v", all, err)
	}
	if s, err := b.Status(t.Context(), "x"); err != nil || s != (lock.Status{Name: "x"}) {
		t.Errorf("Status after release = %+v, %v", s, err)
	}
}

func testCloseEndsWaiting(t testing.TB, open func() lock.Locker) {
	a, b := open(), open()
	lease := acquire(t, a, "job")
	ended := make(chan error, 1)
	go func() {
		_, err := b.Acquire(t.Context(), "job", nil)
		ended <- err
	}()
	time.Sleep(50 * time.Millisecond)
	if err := b.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, lock.ErrClosed) {
			t.Errorf("waiting Acquire: %v, want ErrClosed", err)
		}
	case <-time.After(patience):
		t.Fatal("Acquire still waits after Close")
	}
	if _, err := b.TryAcquire(t.Context(), "other", nil); !errors.Is(err, lock.ErrClosed) {
		t.Errorf("TryAcquire after Close: %v, want ErrClosed", err)
	}
	release(t, lease)
}

// untilStuck returns a context that ends when moved was not called for patience: how long
// many turns take together depends on the machine.
func untilStuck(t testing.TB) (ctx context.Context, moved, stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	timer := time.AfterFunc(patience, cancel)
	return ctx, func() { timer.Reset(patience) }, func() { timer.Stop(); cancel() }
}

func testManyTakeTurns(t testing.TB, open func() lock.Locker) {
	const workers, turns = 16, 20
	ctx, moved, stop := untilStuck(t)
	defer stop()
	var holders, done atomic.Int32
	var last atomic.Uint64
	var wg sync.WaitGroup
	for range 4 {
		l := open()
		for range workers / 4 {
			wg.Go(func() {
				for range turns {
					lease, err := l.Acquire(ctx, "job", nil)
					if err != nil {
						t.Errorf("Acquire: %v", err)
						return
					}
					if n := holders.Add(1); n != 1 {
						t.Errorf("%d holders", n)
					}
					time.Sleep(50 * time.Microsecond)
					if before := last.Swap(lease.Fence()); before >= lease.Fence() {
						t.Errorf("fence %d after %d", lease.Fence(), before)
					}
					holders.Add(-1)
					if err := lease.Release(); err != nil {
						t.Errorf("Release: %v", err)
					}
					done.Add(1)
					moved()
				}
			})
		}
	}
	wg.Wait()
	if got := done.Load(); got != workers*turns {
		t.Errorf("%d turns, want %d", got, workers*turns)
	}
}
