package lock

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/oidkit/oid/lock/internal/engine"
)

// Lease is a lock that is held. It is renewed in the background until it is released or lost.
// Only a [Locker] creates one: the zero Lease cannot be used.
type Lease struct {
	// A lease is held while cause is nil, and has ended for good once end has set cause:
	//
	//	held --- the deadline passes -----> ErrExpired ---+
	//	  |----- a renewal finds it lost -> ErrLost ------+--> Release, once
	//	  +----- Release -----------------> ErrReleased --+
	//
	// Only a renewal moves the deadline. It moves the deadline only forward, and only while
	// the lease is held. Every method that asks for the cause calls endIfLate first, so that
	// a lease ends in time even if no timer fires.

	name   string
	owner  Owner
	grant  engine.Grant // mu guards its Deadline
	events func(Event)  // may be nil
	values context.Context
	began  time.Time

	mu         sync.Mutex
	cause      error // why the lease has ended; nil while it has not
	released   bool
	failed     bool // the last renewal failed
	pending    []Event
	delivering bool // a goroutine is delivering pending
	renewal    *time.Timer
	expiry     *time.Timer // ends the lease at its deadline; nil until watchDeadline
	ctx        context.Context
	cancel     context.CancelCauseFunc // nil until Context is called
}

// newLease begins a lease for an engine. The context of the lease has the values of ctx but
// does not end with ctx. events may be nil.
func newLease(ctx context.Context, name string, owner Owner, events func(Event), g engine.Grant) *Lease {
	l := &Lease{name: name, owner: owner, grant: g, events: events, values: ctx, began: time.Now()}
	first := g.TTL / 3
	if !g.Deadline.IsZero() {
		first = min(first, g.Deadline.Sub(l.began)/2)
	}
	l.mu.Lock() // the renewal may be due at once
	defer l.mu.Unlock()
	l.renewal = time.AfterFunc(first, l.renew)
	return l
}

// Name returns the name of the lock.
func (l *Lease) Name() string { return l.name }

// Owner returns the owner that [Locker.Status] shows for this lease.
func (l *Lease) Owner() Owner { return l.owner }

// Fence returns the fencing token of the lease: a number greater than that of every earlier
// lease of the same name. Send it with every write to a resource that compares fences.
func (l *Lease) Fence() uint64 { return l.grant.Fence }

// Context returns a context that ends when the lease ends, for any reason, even if the
// backend cannot be reached. Its [context.Cause] is or wraps [ErrLost], [ErrExpired] or
// [ErrReleased].
func (l *Lease) Context() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx == nil {
		l.ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(l.values))
		l.endIfLate()
		if l.cause != nil {
			l.cancel(l.cause)
		} else {
			l.watchDeadline()
		}
	}
	return l.ctx
}

// Deadline returns when the lease ends if no further renewal succeeds, or the zero Time if
// the lease has no deadline, as in filelock. Each renewal moves the deadline.
func (l *Lease) Deadline() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grant.Deadline
}

// Check returns nil while the lease is held, and afterwards the reason why it ended. It reads
// only the clock, so it is cheap: call it before every step that no two processes may do at
// the same time.
func (l *Lease) Check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endIfLate()
	return l.cause
}

// SetGroup names the process group of [AcquireOptions.Group]. After an error the lease is
// still held, but if this process is killed, the lock stays held until its TTL has passed.
func (l *Lease) SetGroup(pgid int) error { return l.grant.Keeper.SetGroup(pgid) }

// Release ends the lease and releases the lock. Call it for every lease, even for a lost one.
// It takes no context, so that it works after the work was cancelled; it returns after a few
// attempts. The error wraps [ErrLost] or [ErrExpired] if the lock was not held to the end, or
// [ErrReleased] if Release was called before. After any other error the lock becomes free
// when its TTL has passed.
func (l *Lease) Release() error {
	l.mu.Lock()
	l.endIfLate()
	if l.released {
		l.mu.Unlock()
		return ErrReleased
	}
	l.released = true
	before := l.cause
	l.end(ErrReleased)
	l.mu.Unlock()
	err := l.grant.Keeper.Free()
	if before != nil {
		err = before
	} else {
		l.mu.Lock()
		l.tell(EventReleased, err)
		l.mu.Unlock()
	}
	l.deliver()
	return err
}

// tell queues an event for deliver. It is called with mu held.
func (l *Lease) tell(kind EventKind, err error) {
	if l.events != nil {
		l.pending = append(l.pending, Event{Kind: kind, Context: l.values, Name: l.name, Owner: l.owner, Fence: l.grant.Fence, Took: time.Since(l.began), Err: err})
	}
}

// deliver passes the queued events to the function of the Locker, in order. It does nothing
// if another goroutine is doing that, and does not wait for that goroutine, because that
// function may have called Release.
func (l *Lease) deliver() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.delivering {
		return
	}
	l.delivering = true
	defer func() { l.delivering = false }()
	for len(l.pending) > 0 {
		next := l.pending[0]
		l.pending = l.pending[1:]
		func() {
			l.mu.Unlock()
			defer l.mu.Lock()
			l.events(next)
		}()
	}
}

// end ends the lease, once, and records the cause. It is called with mu held.
func (l *Lease) end(cause error) {
	if l.cause != nil {
		return
	}
	l.cause = cause
	l.renewal.Stop()
	if l.expiry != nil {
		l.expiry.Stop()
	}
	if l.cancel != nil {
		l.cancel(cause)
	}
	if cause != ErrReleased && l.events != nil {
		l.tell(EventLost, cause)
		go l.deliver() // not with mu held
	}
}

// endIfLate ends the lease if its deadline has passed. It is called with mu held.
func (l *Lease) endIfLate() {
	if !l.grant.Deadline.IsZero() && !time.Now().Before(l.grant.Deadline) {
		l.end(ErrExpired)
	}
}

// watchDeadline starts the timer that ends the lease at its deadline. It is called with mu
// held.
func (l *Lease) watchDeadline() {
	if l.expiry == nil && !l.grant.Deadline.IsZero() {
		l.expiry = time.AfterFunc(time.Until(l.grant.Deadline), l.expire)
	}
}

// expire runs when that timer fires.
func (l *Lease) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endIfLate()
	if l.cause == nil { // renewed at the last moment
		l.expiry.Reset(time.Until(l.grant.Deadline))
	}
}

// renew renews the lease and sets the timer for the next renewal.
func (l *Lease) renew() {
	l.mu.Lock()
	l.endIfLate()
	ended := l.cause != nil
	if !ended {
		l.watchDeadline() // the renewal may hang
	}
	l.mu.Unlock()
	if ended {
		return
	}
	asked := time.Now()
	deadline, err := l.grant.Keeper.Keep()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endIfLate() // a late answer does not revive a lease
	switch {
	case l.cause != nil:
	case errors.Is(err, ErrLost):
		l.end(err)
	case err != nil:
		l.failed = true
		l.renewal.Reset(max(min(l.grant.TTL/6, time.Second)-time.Since(asked), 0))
	default:
		if deadline.After(l.grant.Deadline) {
			l.grant.Deadline = deadline
			l.expiry.Reset(time.Until(deadline))
		}
		if l.failed {
			l.failed = false
			l.tell(EventRenewedLate, nil)
			go l.deliver()
		}
		l.renewal.Reset(l.grant.TTL / 3)
	}
}
