package locktest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/lock/internal/holder"
	"github.com/oidkit/oid/objectid"
)

// The engine in memory needs no time but that of a bubble.
func TestMemory(t *testing.T) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.on(t, newJournal(t), newMemory("").open) })
		})
	}
}

// memory is a place of locks in memory. With a fault it is broken, see mutants.
type memory struct {
	fault   string
	process gpid.GPID

	mu    sync.Mutex
	locks map[string]*memoryLock
}

// memoryLock is a lock, which has a fence and maybe a note also while it is free.
type memoryLock struct {
	fence  uint64
	note   string
	holder *memoryLease
	queue  []*memoryWaiter

	broken  uint64 // the fence of the lease that was broken last
	breaker string // who broke that lease
}

type memoryWaiter struct {
	turn chan struct{} // closed when it may look again
}

// memoryLease is the Keeper of a lease.
type memoryLease struct {
	m        *memory
	locker   *memoryLocker
	name     string
	owner    lock.Owner
	fence    uint64
	ttl      time.Duration
	deadline time.Time
	since    time.Time
	about    lock.Holder
}

func newMemory(fault string) *memory {
	self, err := gpid.Self("")
	if err != nil {
		panic(err)
	}
	return &memory{fault: fault, process: self, locks: make(map[string]*memoryLock)}
}

func (m *memory) has(fault string) bool { return m.fault == fault }

func (m *memory) open(events func(lock.Event)) lock.Locker {
	ctx, stop := context.WithCancel(context.Background())
	l := &memoryLocker{m: m, closing: ctx, stop: stop, events: events}
	l.Locker = calls.WithNotes(nil, l.readNote)
	return l
}

// at returns the lock called name, without a holder whose time is up.
func (m *memory) at(name string) *memoryLock {
	if m.has("takes two names for one") {
		name = name[:1]
	}
	l := m.locks[name]
	if l == nil {
		l = new(memoryLock)
		m.locks[name] = l
	}
	if l.holder != nil && !time.Now().Before(l.holder.deadline) {
		l.pass()
	}
	return l
}

// pass frees the lock and lets the first waiter look at it.
func (l *memoryLock) pass() {
	l.holder = nil
	if len(l.queue) > 0 && l.queue[0].turn != nil {
		close(l.queue[0].turn)
		l.queue[0].turn = nil
	}
}

// memoryLocker is a Locker on a memory.
type memoryLocker struct {
	lock.Locker // reads notes
	m           *memory
	closing     context.Context
	stop        context.CancelFunc
	events      func(lock.Event)
}

func (l *memoryLocker) check(name string) error {
	if l.closing.Err() != nil && !l.m.has("works after Close") {
		return lock.ErrClosed
	}
	if l.m.has("takes any name") {
		return nil
	}
	return lock.CheckName(name)
}

func (l *memoryLocker) Close() error {
	if !l.m.has("does not end waiting calls with Close") {
		l.stop()
	}
	if l.m.has("releases leases with Close") {
		l.m.mu.Lock()
		defer l.m.mu.Unlock()
		for _, x := range l.m.locks {
			if x.holder != nil && x.holder.locker == l {
				x.pass()
			}
		}
	}
	return nil
}

func (l *memoryLocker) Acquire(ctx context.Context, name string, o *lock.AcquireOptions) (*lock.Lease, error) {
	call := l.call(ctx, name, o)
	lease, err := l.acquire(ctx, call, name)
	return l.ended(call, lease, err)
}

// ended reports EventFailed if a call that was begun has failed.
func (l *memoryLocker) ended(call *calls.Call, lease *lock.Lease, err error) (*lock.Lease, error) {
	if err != nil && !errors.Is(err, lock.ErrInvalid) {
		call.Tell(lock.EventFailed, 0, err)
	}
	return lease, err
}

// acquire is Acquire without EventFailed.
func (l *memoryLocker) acquire(ctx context.Context, call *calls.Call, name string) (*lock.Lease, error) {
	w, told := new(memoryWaiter), false
	if !l.m.has("lets those that gave up stay in the queue") {
		defer func() { l.m.leave(name, w) }()
	}
	for {
		grant, err := l.take(ctx, call, w)
		held, refused := err.(*lock.HeldError)
		if !refused {
			return l.lease(ctx, call, grant, err)
		}
		if !told || l.m.has("reports at each look that a call waits") {
			call.Tell(lock.EventWaiting, 0, nil)
			told = true
		}
		l.m.mu.Lock()
		w.turn = make(chan struct{})
		turn := w.turn
		l.m.mu.Unlock()
		select {
		case <-turn:
		case <-time.After(5 * time.Millisecond): // a holder's time may be up
		case <-l.closing.Done():
			return nil, lock.ErrClosed
		case <-ctx.Done():
			if l.m.has("reports a lease to a call that gave up") {
				call.Tell(lock.EventAcquired, 1, nil)
			}
			if l.m.has("does not say who holds the lock") {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("%w: %w", ctx.Err(), held)
		}
	}
}

func (m *memory) leave(name string, w *memoryWaiter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.locks[name]; l != nil {
		l.queue = slices.DeleteFunc(l.queue, func(x *memoryWaiter) bool { return x == w })
		if l.holder == nil {
			l.pass()
		}
	}
}

func (l *memoryLocker) TryAcquire(ctx context.Context, name string, o *lock.AcquireOptions) (*lock.Lease, error) {
	call := l.call(ctx, name, o)
	grant, err := l.take(ctx, call, nil)
	if err != nil && l.m.has("reports a refusal to a call that does not wait") {
		call.Tell(lock.EventWaiting, 0, nil)
	}
	lease, err := l.lease(ctx, call, grant, err)
	return l.ended(call, lease, err)
}

func (l *memoryLocker) call(ctx context.Context, name string, o *lock.AcquireOptions) *calls.Call {
	return &calls.Call{
		Name: name, Options: *cmp.Or(o, &lock.AcquireOptions{}), Owner: lock.Owner{Process: l.m.process, ID: objectid.New()}, Began: time.Now(),
		Context: ctx, Events: l.report,
	}
}

// lease begins the lease of a lock that was granted.
func (l *memoryLocker) lease(ctx context.Context, call *calls.Call, grant engine.Grant, err error) (*lock.Lease, error) {
	if err != nil {
		return nil, err
	}
	if l.m.has("keeps a lock after a panic") {
		call.Tell(lock.EventAcquired, grant.Fence, nil)
		return calls.NewLease(ctx, call.Name, call.Owner, call.Events, grant), nil
	}
	lease := call.Lease(ctx, grant)
	if l.m.has("reports a failure after the lease has begun") {
		call.Tell(lock.EventFailed, 0, context.DeadlineExceeded)
	}
	if l.m.has("reports silence after the lease has begun") {
		call.Tell(lock.EventUnanswered, 0, context.DeadlineExceeded)
	}
	return lease, nil
}

// report sends an event.
func (l *memoryLocker) report(e lock.Event) {
	if l.events == nil {
		return
	}
	is := func(kind lock.EventKind, fault string) bool { return e.Kind == kind && l.m.has(fault) }
	switch {
	case is(lock.EventAcquired, "does not report that a lease has begun"),
		is(lock.EventWaiting, "does not report that a call waits"),
		is(lock.EventReleased, "does not report a release"),
		is(lock.EventLost, "does not report that a lease was lost"),
		is(lock.EventFailed, "does not report that a call has failed"):
		return
	case is(lock.EventAcquired, "reports a lease after the call has returned"):
		time.AfterFunc(5*time.Millisecond, func() { l.events(e) })
		return
	case is(lock.EventAcquired, "reports a lease twice"), is(lock.EventReleased, "reports a release twice"),
		is(lock.EventFailed, "reports a failure twice"):
		l.events(e)
	case is(lock.EventFailed, "reports another error"):
		e.Err = lock.ErrLost
	case is(lock.EventFailed, "reports a failure after the call has returned"):
		time.AfterFunc(5*time.Millisecond, func() { l.events(e) })
		return
	case is(lock.EventReleased, "reports another context"), is(lock.EventWaiting, "reports another context"):
		e.Context = context.Background()
	case is(lock.EventReleased, "reports another fence"):
		e.Fence++
	case is(lock.EventAcquired, "reports no time"):
		e.Took = -1
	case is(lock.EventLost, "reports a loss without a reason"):
		e.Err = nil
	case is(lock.EventLost, "reports a release before a loss"):
		e.Kind = lock.EventReleased
		l.events(e)
		e.Kind = lock.EventLost
	case is(lock.EventLost, "reports the release of a lease that was lost"):
		l.events(e)
		e.Kind = lock.EventReleased
	}
	l.events(e)
}

// take takes the lock if it is free and the turn of w, or of nobody, or else puts w into
// the queue.
func (l *memoryLocker) take(ctx context.Context, call *calls.Call, w *memoryWaiter) (none engine.Grant, err error) {
	name, ttl := call.Name, cmp.Or(call.Options.TTL, lock.DefaultTTL)
	if err := l.check(name); err != nil {
		return none, err
	}
	if err := lock.CheckTTL(ttl); err != nil && !(ttl > lock.MaxTTL && l.m.has("takes a TTL that is too long")) {
		return none, err
	}
	if ctx.Err() != nil && !l.m.has("takes a lock for a call that has ended") {
		return none, ctx.Err()
	}
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	x := l.m.at(name)
	if w != nil && !slices.Contains(x.queue, w) {
		x.queue = append(x.queue, w)
	}
	first := len(x.queue) == 0 || x.queue[0] == w
	mine := x.holder != nil && x.holder.locker == l
	switch {
	case l.m.has("grants a lock twice"), l.m.has("is reentrant") && mine:
	case l.m.has("grants a lock to all that wait") && w != nil && len(x.queue) > 2:
	case x.holder != nil || !first:
		return none, &lock.HeldError{Status: l.m.status(name)}
	}
	switch x.fence++; {
	case l.m.has("grants the same fence again"):
		x.fence = 1
	case l.m.has("grants lower fences"):
		x.fence = 1<<40 - uint64(time.Now().UnixMilli())%(1<<39)
	}
	now := time.Now()
	lease := &memoryLease{
		m: l.m, locker: l, name: name, owner: call.Owner, fence: x.fence,
		ttl: ttl, deadline: now.Add(ttl), since: now, about: holder.Self(call.Options),
	}
	if l.m.has("forgets the command") {
		lease.about.Command = ""
	}
	x.holder = lease
	grant := engine.Grant{Fence: x.fence, Deadline: engine.Deadline(lease.since, ttl), TTL: ttl, Keeper: lease}
	if l.m.has("grants leases that have ended") {
		grant.Deadline = time.Now().Add(-1)
	}
	if l.m.has("ends a lease with the call that took it") {
		context.AfterFunc(ctx, func() { _ = lease.Free() })
	}
	if l.m.has("lets a lease live on after its time") {
		grant.Deadline = time.Now().Add(time.Hour)
	}
	return grant, nil
}

func (l *memoryLocker) Status(_ context.Context, name string) (lock.Status, error) {
	if err := l.check(name); err != nil {
		return lock.Status{}, err
	}
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.m.has("shows every lock as free") {
		return lock.Status{Name: name}, nil
	}
	s := l.m.status(name)
	if l.m.has("shows the last holder of a free lock") && !s.Held {
		s.Fence = l.m.at(name).fence
	}
	return s, nil
}

func (m *memory) status(name string) lock.Status {
	x := m.at(name)
	s := lock.Status{Name: name, Waiters: len(x.queue)}
	if h := x.holder; h != nil {
		s.Held, s.Owner, s.Fence, s.Since, s.TTL, s.Holder = true, h.owner, h.fence, h.since, h.ttl, h.about
		s.Holder.State = holder.State(s.Holder)
		if m.has("shows an owner of its own") {
			s.Owner.ID = objectid.New()
		}
	}
	return s
}

func (l *memoryLocker) List(context.Context) ([]lock.Status, error) {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	var all []lock.Status
	for name := range l.m.locks {
		if s := l.m.status(name); s.Held || l.m.has("lists free locks") {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b lock.Status) int { return cmp.Compare(a.Name, b.Name) })
	if l.m.has("lists in reverse") {
		slices.Reverse(all)
	}
	return all, nil
}

func (l *memoryLocker) Break(_ context.Context, name string, owner lock.Owner) error {
	if err := l.check(name); err != nil {
		return err
	}
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	x := l.m.at(name)
	switch held := x.holder != nil; {
	case l.m.has("breaks any lease") && held:
	case l.m.has("breaks a free lock") && !held:
		return nil
	case !held || x.holder.owner != owner:
		return fmt.Errorf("%w: %q", lock.ErrLost, name)
	}
	x.broken, x.breaker = x.holder.fence, fmt.Sprintf("it was broken by pid %d", os.Getpid())
	switch {
	case l.m.has("has a Break that does nothing"):
	case l.m.has("breaks a lease for the last waiter"):
		slices.Reverse(x.queue)
		x.pass()
	case l.m.has("breaks a lease and forgets the fence"):
		x.pass()
		x.fence = 0
	default:
		x.pass()
	}
	return nil
}

func (l *memoryLocker) readNote(_ context.Context, name string) (engine.Note, error) {
	if err := l.check(name); err != nil {
		return engine.Note{}, err
	}
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.m.has("has one note for all locks") {
		name = "all"
	}
	return engine.Note{Text: l.m.at(name).note, Now: time.Now()}, nil
}

// with calls f if the lease still has the lock.
func (k *memoryLease) with(f func(x *memoryLock)) error {
	k.m.mu.Lock()
	defer k.m.mu.Unlock()
	x := k.m.at(k.name)
	if x.holder != k && !k.m.has("does not compare owners") && !k.m.has("grants a lock twice") {
		if x.broken == k.fence && !k.m.has("does not say who broke a lock") {
			return fmt.Errorf("%w: %q: %s", lock.ErrLost, k.name, x.breaker)
		}
		return fmt.Errorf("%w: %q", lock.ErrLost, k.name)
	}
	f(x)
	return nil
}

func (k *memoryLease) Keep() (time.Time, error) {
	if k.locker.closing.Err() != nil {
		return time.Time{}, lock.ErrClosed
	}
	now := time.Now()
	deadline := engine.Deadline(now, k.ttl)
	switch {
	case k.m.has("has a Keep that does nothing"):
		return deadline, nil
	case k.m.has("renews a lease without a new deadline"):
		deadline = time.Time{}
	case k.m.has("renews a lease beyond its time"):
		deadline = now.Add(2 * k.ttl)
	}
	return deadline, k.with(func(*memoryLock) { k.deadline = now.Add(k.ttl) })
}

func (k *memoryLease) Free() error {
	return k.with(func(x *memoryLock) {
		switch {
		case k.m.has("has a Free that does nothing"):
			return
		case k.m.has("loses the note with a release"):
			x.note = ""
		case k.m.has("frees all locks"):
			for _, other := range k.m.locks {
				other.pass()
			}
		}
		x.pass()
	})
}

func (k *memoryLease) SetGroup(pgid int) error {
	return k.with(func(*memoryLock) {
		if !k.m.has("has a SetGroup that does nothing") {
			k.about.Group = pgid
		}
	})
}

func (k *memoryLease) SetNote(text string, _ time.Duration) error {
	write := func(x *memoryLock) {
		switch {
		case k.m.has("has a SetNote that does nothing"):
			return
		case k.m.has("has one note for all locks"):
			x = k.m.at("all")
		case k.m.has("cuts notes off"):
			text = text[:min(len(text), 4000)]
		}
		x.note = text
	}
	if k.m.has("lets a lease that has ended write the note") {
		k.m.mu.Lock()
		defer k.m.mu.Unlock()
		write(k.m.at(k.name))
		return nil
	}
	return k.with(write)
}
