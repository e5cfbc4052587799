package locktest

import (
	"cmp"
	"context"
	"fmt"
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
			synctest.Test(t, func(t *testing.T) { c.on(t, newMemory("").open) })
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

func (m *memory) open() lock.Locker {
	ctx, stop := context.WithCancel(context.Background())
	l := &memoryLocker{m: m, closing: ctx, stop: stop}
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
	w := new(memoryWaiter)
	if !l.m.has("lets those that gave up stay in the queue") {
		defer func() { l.m.leave(name, w) }()
	}
	for {
		lease, err := l.take(ctx, name, w, o)
		held, refused := err.(*lock.HeldError)
		if !refused {
			return lease, err
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
	return l.take(ctx, name, nil, o)
}

// take takes the lock if it is free and the turn of w, or of nobody, or else puts w into
// the queue.
func (l *memoryLocker) take(ctx context.Context, name string, w *memoryWaiter, o *lock.AcquireOptions) (*lock.Lease, error) {
	options := *cmp.Or(o, &lock.AcquireOptions{})
	ttl := cmp.Or(options.TTL, lock.DefaultTTL)
	if err := l.check(name); err != nil {
		return nil, err
	}
	if err := lock.CheckTTL(ttl); err != nil && !(ttl > lock.MaxTTL && l.m.has("takes a TTL that is too long")) {
		return nil, err
	}
	if ctx.Err() != nil && !l.m.has("takes a lock for a call that has ended") {
		return nil, ctx.Err()
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
		return nil, &lock.HeldError{Status: l.m.status(name)}
	}
	switch x.fence++; {
	case l.m.has("grants the same fence again"):
		x.fence = 1
	case l.m.has("grants lower fences"):
		x.fence = 1<<40 - uint64(time.Now().UnixMilli())%(1<<39)
	}
	now := time.Now()
	lease := &memoryLease{
		m: l.m, locker: l, name: name, owner: lock.Owner{Process: l.m.process, ID: objectid.New()}, fence: x.fence,
		ttl: ttl, deadline: now.Add(ttl), since: now, about: holder.Self(options),
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
	return calls.NewLease(ctx, name, lease.owner, nil, grant), nil
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
