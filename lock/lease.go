package lock

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/oidkit/oid/lock/internal/engine"
)

// Lease is a lock that is held, renewed in the background until it is released
// or lost. Any number of goroutines may share one. Only a [Locker] creates it: the zero
// Lease cannot be used.
type Lease struct {
	// A lease is held while cause is nil, and has ended for good when end has set it:
	//
	//	held --- the deadline passes -----> ErrExpired ---+
	//	  |----- a renewal finds it lost -> ErrLost ------+--> Release, once
	//	  +----- Release -----------------> ErrReleased --+
	//
	// Only a renewal moves the deadline, and only forward, and only while the lease is held.
	// Every method that asks for the cause calls endIfLate first, so that no timer has to
	// fire for a lease to end in time.

	name   string
	owner  Owner
	grant  engine.Grant // mu guards its Deadline, which renewals move
	events func(Event)  // nil: nobody wants to know
	values context.Context
	began  time.Time

	mu       sync.Mutex
	cause    error // why the lease has ended; nil while it has not
	released bool
	failed   bool // the last renewal did
	untold   []Event
	telling  bool // a goroutine delivers what is untold
	renewal  *time.Timer
	expiry   *time.Timer // ends the lease at its deadline; nil until somebody needs that
	ctx      context.Context
	cancel   context.CancelCauseFunc // nil until somebody asks for ctx
}

// newLease begins a lease for an engine. The lease's context has the values of ctx and does not end with ctx. events may be
// nil.
func newLease(ctx context.Context, name string, owner Owner, events func(Event), g engine.Grant) *Lease {
	l := &Lease{name: name, owner: owner, grant: g, events: events, values: ctx, began: time.Now()}
	first := g.TTL / 3
	if !g.Deadline.IsZero() {
		first = min(first, g.Deadline.Sub(l.began)/2)
	}
	l.mu.Lock() // it may be due at once
	defer l.mu.Unlock()
	l.renewal = time.AfterFunc(first, l.renew)
	return l
}

// Name returns the name of the lock.
func (l *Lease) Name() string { return l.name }

// Owner returns the owner that [Locker.Status] shows for this lease.
func (l *Lease) Owner() Owner { return l.owner }

// Fence returns a number greater than that of every earlier lease of this name.
// Send it with every write to a resource that compares fences.
func (l *Lease) Fence() uint64 { return l.grant.Fence }

// Context returns a context that ends when the lease does, for any reason;
// [context.Cause] returns [ErrLost], [ErrExpired] or [ErrReleased], maybe
// wrapped. It ends in time even if the engine cannot be reached.
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

// Deadline returns the time until which the lease is safe even if all further
// renewals fail, or the zero Time if it has no deadline. Each renewal moves it.
func (l *Lease) Deadline() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grant.Deadline
}

// Check returns nil while the lease is safe, and afterwards the cause of its end.
// It reads the clock and does not ask the engine, so it is cheap: call it before
// every step that no two processes may do at once.
func (l *Lease) Check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endIfLate()
	return l.cause
}

// SetGroup records the process group that the lock protects, see
// [AcquireOptions.Group]. After an error the lease is held as before, but the lock is not
// freed before its TTL if this process is killed.
func (l *Lease) SetGroup(pgid int) error { return l.grant.Keeper.SetGroup(pgid) }

// Release ends the lease and releases the lock if the lease still has it. Call it for every
// lease, also for a lost one. It takes no context, so that it works after the work was
// cancelled, and returns after a few attempts. The error wraps [ErrLost] or [ErrExpired] if
// the lock was not held to the end, [ErrReleased] if it was released before, or is that of
// the engine: the lock is then free after the TTL.
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
		l.untold = append(l.untold, Event{Kind: kind, Name: l.name, Owner: l.owner, Fence: l.grant.Fence, Took: time.Since(l.began), Err: err})
	}
}

// deliver delivers the events in order, unless another goroutine is doing that. It does not
// wait for the other, because an event may have led to this call.
func (l *Lease) deliver() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.telling {
		return
	}
	l.telling = true
	defer func() { l.telling = false }()
	for len(l.untold) > 0 {
		next := l.untold[0]
		l.untold = l.untold[1:]
		func() {
			l.mu.Unlock()
			defer l.mu.Lock()
			l.events(next)
		}()
	}
}

// end ends the lease for a cause, once. It is called with mu held.
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

// endIfLate ends a lease whose deadline has passed. It is called with mu held.
func (l *Lease) endIfLate() {
	if !l.grant.Deadline.IsZero() && !time.Now().Before(l.grant.Deadline) {
		l.end(ErrExpired)
	}
}

// watchDeadline sets the timer that ends the lease. It is called with mu held.
func (l *Lease) watchDeadline() {
	if l.expiry == nil && !l.grant.Deadline.IsZero() {
		l.expiry = time.AfterFunc(time.Until(l.grant.Deadline), l.expire)
	}
}

// expire runs at the deadline.
func (l *Lease) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endIfLate()
	if l.cause == nil { // renewed at the last moment
		l.expiry.Reset(time.Until(l.grant.Deadline))
	}
}

// renew renews the lease, and sets the timer for the next time.
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
		l.renewal.Reset(max(l.grant.TTL/6-time.Since(asked), 0))
	default:
		if deadline.After(l.grant.Deadline) {
			l.grant.Deadline = deadline
			l.expiry.Reset(time.Until(deadline))
		}
		if l.failed {
			l.failed = false
			if l.events != nil {
				l.tell(EventRenewedLate, nil)
				go l.deliver()
			}
		}
		l.renewal.Reset(l.grant.TTL / 3)
	}
}
