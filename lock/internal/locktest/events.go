package locktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

// journal compares the events of all lockers of a check with the contract of [lock.Event].
type journal struct {
	mu     sync.Mutex
	told   map[lock.Owner][]lock.Event
	busy   map[lock.Owner]bool // an event of this owner is being received
	owners map[*call]lock.Owner
	leases []*lock.Lease // that calls have returned
	wrong  []string

	panics  lock.EventKind // receive panics at an event of this kind
	ignored bool           // ignore what is wrong
}

// newJournal returns a journal. At the end of the test it fails the test if an event was
// wrong.
func newJournal(t testing.TB) *journal {
	j := &journal{told: make(map[lock.Owner][]lock.Event), busy: make(map[lock.Owner]bool), owners: make(map[*call]lock.Owner)}
	t.Cleanup(func() { j.check(t) }) // after the lockers are closed
	return j
}

// Observe returns a function for the events of Lockers, and one through which a test uses
// these Lockers. The test fails at its end if the events were not as [lock.Event] says. Tests
// of faults use it, because the suite has none.
func Observe(t testing.TB) (events func(lock.Event), through func(lock.Locker) lock.Locker) {
	j := newJournal(t)
	return j.receive, func(l lock.Locker) lock.Locker { return observed{l, j} }
}

// receive is the function for the events of a Locker.
func (j *journal) receive(e lock.Event) {
	j.mu.Lock()
	if fault := faultOf(j.told[e.Owner], e); fault != "" {
		j.wrong = append(j.wrong, fmt.Sprintf("%s of %v: %s; before it: %s", e.Kind, e.Owner, fault, kinds(j.told[e.Owner])))
	}
	if j.busy[e.Owner] {
		j.wrong = append(j.wrong, fmt.Sprintf("%s of %v came before the function for the last event had returned", e.Kind, e.Owner))
	}
	j.told[e.Owner] = append(j.told[e.Owner], e)
	j.owners[callOf(e.Context)] = e.Owner
	j.busy[e.Owner] = true
	j.mu.Unlock()
	if !j.ignored {
		time.Sleep(time.Microsecond) // gives another event the time to arrive
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.busy[e.Owner] = false
	if e.Kind == j.panics {
		if e.Kind == lock.EventAcquired {
			delete(j.told, e.Owner) // no call returns its lease, and no event may follow
		}
		panic(e.Kind)
	}
}

// faultOf says what is wrong with an event, given the earlier events of its owner. It returns
// "" if nothing is wrong.
func faultOf(before []lock.Event, e lock.Event) string {
	has := func(kind lock.EventKind) bool {
		return slices.ContainsFunc(before, func(e lock.Event) bool { return e.Kind == kind })
	}
	began := has(lock.EventAcquired)
	switch e.Kind {
	case lock.EventWaiting, lock.EventUnanswered, lock.EventFailed, lock.EventAcquired:
		if began {
			return "the lease has begun"
		}
	case lock.EventRenewedLate, lock.EventLost, lock.EventReleased:
		if !began {
			return "no lease has begun"
		}
	default:
		return "a Locker has no event of this kind"
	}
	switch {
	case has(lock.EventFailed):
		return "the call has failed"
	case has(lock.EventLost), has(lock.EventReleased):
		return "the lease has ended"
	case e.Kind == lock.EventWaiting && has(lock.EventWaiting):
		return "it came before"
	case e.Owner.IsZero(), e.Name == "", e.Took < 0, len(before) > 0 && e.Name != before[0].Name:
		return fmt.Sprintf("name %q, took %v", e.Name, e.Took)
	case callOf(e.Context) == nil, len(before) > 0 && callOf(e.Context) != callOf(before[0].Context):
		return "its context is not that of the call"
	case (e.Fence == 0) != (!began && e.Kind != lock.EventAcquired):
		return fmt.Sprintf("fence %d", e.Fence)
	case began && e.Fence != before[len(before)-1].Fence:
		return fmt.Sprintf("fence %d after %d", e.Fence, before[len(before)-1].Fence)
	case e.Kind == lock.EventLost && !errors.Is(e.Err, lock.ErrLost) && !errors.Is(e.Err, lock.ErrExpired),
		(e.Kind == lock.EventUnanswered || e.Kind == lock.EventFailed) && e.Err == nil,
		(e.Kind == lock.EventWaiting || e.Kind == lock.EventAcquired || e.Kind == lock.EventRenewedLate) && e.Err != nil:
		return fmt.Sprintf("error %v", e.Err)
	}
	return ""
}

// call is a call of an observed Locker. Its context has it as the value of callKey.
type call struct{ _ int }

type callKey struct{}

// callOf returns the call with this context, or nil. ctx may be nil.
func callOf(ctx context.Context) *call {
	if ctx == nil {
		return nil
	}
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

func kinds(events []lock.Event) string {
	return fmt.Sprint(each.Of(events, func(e lock.Event) lock.EventKind { return e.Kind }))
}

// of returns the events of an owner.
func (j *journal) of(o lock.Owner) []lock.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.told[o])
}

// observed is a Locker that records its leases in a journal.
type observed struct {
	lock.Locker
	j *journal
}

func (l observed) Acquire(ctx context.Context, name string, o *lock.AcquireOptions) (*lock.Lease, error) {
	return l.j.observe(ctx, name, o, l.Locker.Acquire)
}

func (l observed) TryAcquire(ctx context.Context, name string, o *lock.AcquireOptions) (*lock.Lease, error) {
	return l.j.observe(ctx, name, o, l.Locker.TryAcquire)
}

// observe calls take and checks that the last event of the call says what it returns. If it
// returns a lease, observe records that.
func (j *journal) observe(ctx context.Context, name string, o *lock.AcquireOptions, take func(context.Context, string, *lock.AcquireOptions) (*lock.Lease, error)) (*lock.Lease, error) {
	this := new(call)
	lease, err := take(context.WithValue(ctx, callKey{}, this), name, o)
	j.mu.Lock()
	defer j.mu.Unlock()
	events := j.told[j.owners[this]]
	is := func(e lock.Event) bool { return e.Kind == lock.EventFailed && e.Err == err }
	switch {
	case err == nil:
		j.leases = append(j.leases, lease)
		is = func(e lock.Event) bool {
			return e.Kind == lock.EventAcquired && e.Name == lease.Name() && e.Owner == lease.Owner() && e.Fence == lease.Fence()
		}
	case len(events) == 0 && (errors.Is(err, lock.ErrInvalid) || errors.Is(err, lock.ErrClosed)):
		return lease, err // the call was not begun
	}
	if i := slices.IndexFunc(events, is); i < 0 || err != nil && i < len(events)-1 {
		j.wrong = append(j.wrong, fmt.Sprintf("after the events %s a call for %q returned %v", kinds(events), name, err))
	}
	return lease, err
}

// check reports what was wrong, after all calls have returned.
func (j *journal) check(t testing.TB) {
	if j.ignored {
		return
	}
	j.mu.Lock()
	leases := slices.Clone(j.leases)
	j.mu.Unlock()
	returned := make(map[lock.Owner]bool)
	for _, lease := range leases {
		returned[lease.Owner()] = true
		if cause := lease.Check(); cause != nil {
			want := lock.EventLost
			if errors.Is(cause, lock.ErrReleased) {
				want = lock.EventReleased
			}
			j.await(t, lease, want)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for owner, events := range j.told {
		if slices.ContainsFunc(events, func(e lock.Event) bool { return e.Kind == lock.EventAcquired }) && !returned[owner] {
			t.Errorf("%s of %v, but no call returned that lease", lock.EventAcquired, owner)
		}
	}
	for _, w := range j.wrong {
		t.Error(w)
	}
}

// await waits until kind is the last event of a lease, or fails the test.
func (j *journal) await(t testing.TB, lease *lock.Lease, last lock.EventKind) {
	t.Helper()
	var events []lock.Event
	if !within(func() bool {
		events = j.of(lease.Owner())
		return len(events) > 0 && events[len(events)-1].Kind == last
	}) {
		t.Errorf("the lease of %q has ended (%v) and has the events %s, want %s at last", lease.Name(), lease.Check(), kinds(events), last)
	}
}

// want fails the test unless these are all events of an owner.
func (j *journal) want(t testing.TB, o lock.Owner, want ...lock.EventKind) {
	t.Helper()
	got := j.of(o)
	got = slices.DeleteFunc(got, func(e lock.Event) bool { // depends on the machine
		return e.Kind == lock.EventUnanswered || e.Kind == lock.EventRenewedLate
	})
	if !slices.EqualFunc(got, want, func(e lock.Event, kind lock.EventKind) bool { return e.Kind == kind }) {
		t.Errorf("events %s, want %v", kinds(got), want)
	}
}

// waiters returns the owners of calls that have reported EventWaiting.
func (j *journal) waiters() (all []lock.Owner) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for owner, events := range j.told {
		if events[0].Kind == lock.EventWaiting {
			all = append(all, owner)
		}
	}
	return all
}

// awaitWaiters waits until n calls have reported EventWaiting.
func (j *journal) awaitWaiters(t testing.TB, n int) (all []lock.Owner) {
	t.Helper()
	if !within(func() bool { all = j.waiters(); return len(all) >= n }) || len(all) != n {
		t.Fatalf("%d calls have reported that they wait, want %d", len(all), n)
	}
	return all
}

// The events of a lease that did not have to wait are its beginning and its release, with
// their times.
func testEventsOfALease(t testing.TB, open func() lock.Locker) {
	l := open()
	j := l.(observed).j
	const held = 20 * time.Millisecond
	for _, take := range []func(context.Context, string, *lock.AcquireOptions) (*lock.Lease, error){l.Acquire, l.TryAcquire} {
		began := time.Now()
		lease := testenv.Must(take(t.Context(), "job", nil))(t)
		took := time.Since(began)
		time.Sleep(held)
		release(t, lease)
		j.want(t, lease.Owner(), lock.EventAcquired, lock.EventReleased)
		testenv.WantError(t, "second Release", lease.Release(), lock.ErrReleased)
		j.want(t, lease.Owner(), lock.EventAcquired, lock.EventReleased)
		events := j.of(lease.Owner())
		if first, last := events[0], events[len(events)-1]; first.Took > took || last.Took < held || last.Err != nil {
			t.Errorf("%s after %v and %s after %v: %v; the call took %v, the lease %v or more", first.Kind, first.Took, last.Kind, last.Took, last.Err, took, held)
		}
	}
}

// A call that waits reports that once. What follows is the beginning of its lease or, if it
// gives up or its Locker is closed, its failure. A call that does not wait reports only the
// latter.
func testEventsOfWaiters(t testing.TB, open func() lock.Locker) {
	a, b, c := open(), open(), open()
	j := a.(observed).j
	lease := acquire(t, a, "job")
	wantHeld(t, b, "before any waits")
	if waits := j.waiters(); len(waits) != 0 {
		t.Errorf("a TryAcquire has reported that it waits: %v", waits)
	}
	var calls sync.WaitGroup
	ctx, giveUp := context.WithCancel(t.Context())
	defer calls.Wait()
	defer c.Close()
	defer giveUp()
	calls.Go(func() {
		testenv.WantError(t, "Acquire that gave up", testenv.ErrOf(b.Acquire(ctx, "job", nil)), context.Canceled)
	})
	calls.Go(func() {
		testenv.WantError(t, "Acquire of a Locker that was closed", testenv.ErrOf(c.Acquire(t.Context(), "job", nil)), lock.ErrClosed)
	})
	gone := j.awaitWaiters(t, 2)
	giveUp()
	testenv.WantError(t, "Close", c.Close(), nil)
	calls.Wait()
	const wait = 50 * time.Millisecond
	next := async(func() *lock.Lease { return acquire(t, b, "job") })
	j.awaitWaiters(t, 3)
	time.Sleep(wait)
	release(t, lease)
	second := receive(t, next)
	j.want(t, second.Owner(), lock.EventWaiting, lock.EventAcquired)
	if events := j.of(second.Owner()); events[len(events)-1].Took < wait {
		t.Errorf("%s after %v, the call waited for %v or more", events[len(events)-1].Kind, events[len(events)-1].Took, wait)
	}
	release(t, second)
	for _, owner := range gone {
		j.want(t, owner, lock.EventWaiting, lock.EventFailed)
	}
}

// A lease that ends before its release reports that, and its release is no event. A lease
// without a deadline goes on after Close.
func testEventsOfALostLease(t testing.TB, open func() lock.Locker) {
	a, b := open(), open()
	j := a.(observed).j
	lease := testenv.Must(a.Acquire(t.Context(), "job", &lock.AcquireOptions{TTL: time.Second}))(t)
	testenv.WantError(t, "Close", a.Close(), nil)
	if lease.Deadline().IsZero() {
		release(t, lease)
		j.want(t, lease.Owner(), lock.EventAcquired, lock.EventReleased)
		return
	}
	j.await(t, lease, lock.EventLost) // even if nobody calls a method of the lease
	release(t, acquire(t, b, "job"))
	_ = lease.Release()
	j.want(t, lease.Owner(), lock.EventAcquired, lock.EventLost)
}

// panicAt calls f while the function for events panics at events of a kind, and fails the test
// unless that panic leaves f.
func (j *journal) panicAt(t testing.TB, kind lock.EventKind, f func()) {
	t.Helper()
	j.mu.Lock()
	j.panics = kind
	j.mu.Unlock()
	defer func() {
		got := recover()
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.panics = ""; got != kind {
			t.Errorf("a function for events that panics at %s: the call ended with %v", kind, got)
		}
	}()
	f()
}

// If the function for events panics, the panic leaves the call, and its lock is free then. A
// call that waited leaves the queue.
func testEventsThatPanic(t testing.TB, open func() lock.Locker) {
	a, b := open(), open()
	j := a.(observed).j
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, take := range []func(context.Context, string, *lock.AcquireOptions) (*lock.Lease, error){a.Acquire, a.TryAcquire} {
		j.panicAt(t, lock.EventAcquired, func() { _, _ = take(ctx, "job", nil) })
		release(t, testenv.Must(b.TryAcquire(t.Context(), "job", nil))(t))
	}
	lease := acquire(t, a, "job")
	j.panicAt(t, lock.EventFailed, func() { _, _ = b.TryAcquire(ctx, "job", nil) })
	j.panicAt(t, lock.EventReleased, func() { _ = lease.Release() })
	lease = testenv.Must(a.TryAcquire(t.Context(), "job", nil))(t)
	j.panicAt(t, lock.EventWaiting, func() { _, _ = a.Acquire(ctx, "job", &lock.AcquireOptions{TTL: time.Hour}) })
	time.Sleep(50 * time.Millisecond) // it leaves in the background
	release(t, lease)                 // not to the call that has panicked
	lease = testenv.Must(a.TryAcquire(t.Context(), "job", nil))(t)
	for range 2 { // the second time, b may queue at once
		j.panicAt(t, lock.EventWaiting, func() { _, _ = b.Acquire(ctx, "job", &lock.AcquireOptions{TTL: time.Hour}) })
		if !within(func() bool { return testenv.Must(a.Status(t.Context(), "job"))(t).Waiters == 0 }) {
			t.Error("a call that has panicked still waits in the queue")
		}
		short, giveUp := context.WithTimeout(ctx, 50*time.Millisecond)
		testenv.WantError(t, "Acquire that gave up", testenv.ErrOf(b.Acquire(short, "job", nil)), context.DeadlineExceeded)
		giveUp()
	}
	release(t, lease)
	release(t, acquire(t, b, "job"))
	j.panicAt(t, lock.EventReleased, func() { _, _ = lock.Slots(a, 3).Acquire(ctx, "job", nil) }) // of the queue
	if held := testenv.Must(lock.HeldSlots(t.Context(), b, "job"))(t); len(held) > 0 {
		t.Errorf("after the panic slots are held: %+v", held)
	}
}
