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

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

// patience is how long anything here may take on a busy machine.
var patience = 30 * time.Second

// check is one test of the suite. It opens several lockers on the same locks, as several
// processes would.
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
	{"Break", testBreak},
	{"BrokenTick", testBrokenTick},
	{"BreakMeetsNoOther", testBreakMeetsNoOther},
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
	{"EventsThatPanic", testEventsThatPanic},
}

// Run runs the suite. It calls open once for each test. The test then opens lockers with the
// function that open returned. All of them must use the same locks, as those of several
// processes do, and each must send its events to the function that it gets. The suite closes
// the lockers.
func Run(t *testing.T, open func(t *testing.T) func(events func(lock.Event)) lock.Locker) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) { c.on(t, newJournal(t), open(t)) })
	}
}

// on runs the check on lockers, and closes them. In every check the journal examines the
// events.
func (c check) on(t testing.TB, j *journal, opened func(events func(lock.Event)) lock.Locker) {
	c.run(t, func() lock.Locker {
		l := opened(j.receive)
		t.Cleanup(func() {
			testenv.WantError(t, "Close", l.Close(), nil)
		})
		return observed{l, j}
	})
}

func acquire(t testing.TB, l lock.Locker, name string) *lock.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	lease := testenv.Must(l.Acquire(ctx, name, nil))(t)
	return lease
}

func release(t testing.TB, lease *lock.Lease) {
	t.Helper()
	if err := lease.Release(); err != nil {
		t.Errorf("Release of %q: %v", lease.Name(), err)
	}
}

// wantHeld fails the test unless the lock job is held.
func wantHeld(t testing.TB, l lock.Locker, when string) {
	t.Helper()
	testenv.WantError(t, "TryAcquire "+when, testenv.ErrOf(l.TryAcquire(t.Context(), "job", nil)), lock.ErrHeld)
}

// async calls f in a goroutine. receive returns what f returned.
func async[T any](f func() T) <-chan T {
	result := make(chan T, 1)
	go func() {
		defer close(result) // also if f has ended the test
		result <- f()
	}()
	return result
}

// receive returns the result of a call of [async], and ends the test if that takes too long.
func receive[T any](t testing.TB, result <-chan T) T {
	t.Helper()
	select {
	case v, returned := <-result:
		if !returned {
			t.FailNow()
		}
		return v
	case <-time.After(patience):
		t.Fatalf("a call did not return in %v", patience)
	}
	panic("not reached")
}

// within reports whether met returns true before patience has passed.
func within(met func() bool) bool {
	for began := time.Now(); !met(); time.Sleep(time.Millisecond) {
		if time.Since(began) > patience {
			return false
		}
	}
	return true
}

// fences holds the last fence of a lock.
type fences struct{ last atomic.Uint64 }

// rises fails the test if the fence of a lease is not above that of the last.
func (f *fences) rises(t testing.TB, lease *lock.Lease) {
	t.Helper()
	if before := f.last.Swap(lease.Fence()); before >= lease.Fence() {
		t.Errorf("%s: fence %d after %d", lease.Name(), lease.Fence(), before)
	}
}

func testAcquireAndRelease(t testing.TB, open func() lock.Locker) {
	l := open()
	before := time.Now()
	lease := acquire(t, l, "job")
	if lease.Name() != "job" || lease.Owner().IsZero() || lease.Fence() == 0 {
		t.Errorf("lease of %q by %q with fence %d", lease.Name(), lease.Owner(), lease.Fence())
	}
	testenv.WantError(t, "Check while held", lease.Check(), nil)
	testenv.WantError(t, "Context while held", lease.Context().Err(), nil)
	if d := lease.Deadline(); !d.IsZero() && !d.After(before) {
		t.Errorf("deadline %v lies before the lease", d)
	}
	release(t, lease)
	release(t, acquire(t, l, "job"))
}

func testHeldByAnother(t testing.TB, open func() lock.Locker) {
	a, b := open(), open()
	lease := acquire(t, a, "job")
	for _, l := range []lock.Locker{a, b} { // a process finds its own lock held, too
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
	again := testenv.Must(b.TryAcquire(t.Context(), "job", nil))(t)
	release(t, again)
}

func testAcquireWaits(t testing.TB, open func() lock.Locker) {
	a, b := open(), open()
	lease := acquire(t, a, "job")
	next := async(func() *lock.Lease { return acquire(t, b, "job") })
	select {
	case <-next:
		t.Fatal("Acquire returned while the lock was held")
	case <-time.After(100 * time.Millisecond):
	}
	release(t, lease)
	release(t, receive(t, next))
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
	testenv.WantError(t, "Acquire with a ctx that is done", testenv.ErrOf(b.Acquire(gone, "free", nil)), context.Canceled)
	release(t, lease)
}

// A waiter that has given up must not get the lock.
func testGivenUpIsPassedOver(t testing.TB, open func() lock.Locker) {
	a, b := open(), open()
	for range 20 {
		lease := acquire(t, a, "job")
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if next, err := b.Acquire(ctx, "job", nil); err == nil { // it may have got the lock just in time
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
	testenv.WantError(t, "second Release", lease.Release(), lock.ErrReleased)
	testenv.WantError(t, "the next lease", next.Check(), nil)
	wantHeld(t, l, "after the second Release")
	release(t, next)
}

func testFencesRise(t testing.TB, open func() lock.Locker) {
	lockers := []lock.Locker{open(), open()}
	var fences fences
	for i := range 50 {
		lease := acquire(t, lockers[i%2], "job")
		fences.rises(t, lease)
		release(t, lease)
	}
}

func testNamesAreIndependent(t testing.TB, open func() lock.Locker) {
	l := open()
	a, b := acquire(t, l, "a"), acquire(t, l, "b")
	release(t, a)
	testenv.WantError(t, "Check of the other lock", b.Check(), nil)
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
		leases = append(leases, acquire(t, l, name)) // if two names meant the same lock, this would wait
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
	ended := async(func() error { return testenv.ErrOf(b.Acquire(t.Context(), "job", nil)) })
	time.Sleep(50 * time.Millisecond)
	testenv.WantError(t, "Close", b.Close(), nil)
	testenv.WantError(t, "waiting Acquire", receive(t, ended), lock.ErrClosed)
	testenv.WantError(t, "TryAcquire after Close", testenv.ErrOf(b.TryAcquire(t.Context(), "other", nil)), lock.ErrClosed)
	release(t, lease)
}

// untilStuck returns a context that ends when moved was not called for patience. There is no
// limit for the whole test, because its time depends on the machine.
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
	var fences fences
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
					fences.rises(t, lease)
					holders.Add(-1)
					release(t, lease)
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
