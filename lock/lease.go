package lock

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Keeper is what an engine does for a lease that it has granted. Both methods
// may be called at the same time.
type Keeper interface {
	// Keep renews the lease and returns its new deadline, the zero Time for
	// none. An error that wraps [ErrLost] ends the lease at once; after any
	// other it is tried again until the deadline.
	Keep(ctx context.Context) (deadline time.Time, err error)

	// Free gives the lock back if the lease still has it, and returns an error
	// that wraps [ErrLost] if it has not. It may take as long as it takes to be
	// reasonably sure, but not for ever.
	Free() error
}

// Grant is what an engine knows of a lock that it has just taken.
type Grant struct {
	Name  string
	Owner Owner
	Fence uint64
	// Deadline is until when the lease is safe without a renewal, on the
	// monotonic clock; zero if it needs none.
	Deadline time.Time
	// Every is the time from one renewal to the next.
	Every time.Duration
	// Try is how long one try of a renewal may take, and how long to wait
	// between a try that failed and the next.
	Try time.Duration
	// Keeper renews and frees.
	Keeper Keeper
}

// Lease is a lock that is held, renewed in the background until it is released
// or lost. Any number of goroutines may share one. It is made by a [Locker].
type Lease struct {
	grant  Grant
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	deadline time.Time
	cause    error // why the lease has ended; nil while it has not
	released bool
	renewal  *time.Timer
	expiry   *time.Timer // ends the lease at its deadline; made with the first renewal
}

// NewLease begins the lease of a grant. It is meant for engines. Values of ctx
// are those of the lease's context; its end is not the lease's end.
func NewLease(ctx context.Context, g Grant) *Lease {
	l := &Lease{grant: g, deadline: g.Deadline}
	l.ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	first := g.Every
	l.mu.Lock() // the timer may fire before it is assigned
	defer l.mu.Unlock()
	if !g.Deadline.IsZero() {
		first = min(first, time.Until(g.Deadline)/2)
	}
	// One timer is enough until then. Most leases are short, and a timer costs as
	// much as a good part of a request.
	l.renewal = time.AfterFunc(first, l.renew)
	return l
}

// Name returns the name of the lock.
func (l *Lease) Name() string { return l.grant.Name }

// Owner returns the owner that [Locker.Status] shows for this lease.
func (l *Lease) Owner() Owner { return l.grant.Owner }

// Fence returns a number greater than that of every earlier lease of this name.
// Send it along with every write to a resource that compares fences.
func (l *Lease) Fence() uint64 { return l.grant.Fence }

// Context returns a context that ends when the lease does, by whatever cause;
// [context.Cause] returns [ErrLost], [ErrExpired] or [ErrReleased], maybe
// wrapped. It ends in time even if the engine cannot be reached.
func (l *Lease) Context() context.Context { return l.ctx }

// Deadline returns until when the lease is safe even if no renewal succeeds any
// more, or the zero Time if it has no deadline. Renewals move it on.
func (l *Lease) Deadline() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deadline
}

// Check returns nil while the lease is safe and the cause of its end after that.
// It asks the clock and not the engine, so it costs next to nothing: call it
// before every step that must not be taken by two.
func (l *Lease) Check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endIfLate()
	return l.cause
}

// Release ends the lease and gives the lock to the next in line, if the lease
// still has it. Call it for every lease, lost ones too. It takes no context because it must be sent above all when the
// work was cancelled; it takes no longer than a few tries of a renewal. The
// error tells that the lock was not held to the end (it wraps [ErrLost] or
// [ErrExpired]), that it was released before ([ErrReleased]), or that the engine
// could not be told, in which case the lock frees itself after the TTL.
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
		return before
	}
	return err
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
	l.cancel(cause)
}

// endIfLate ends a lease whose deadline has passed. It is called with mu held.
func (l *Lease) endIfLate() {
	if !l.deadline.IsZero() && !time.Now().Before(l.deadline) {
		l.end(ErrExpired)
	}
}

// watch sees to it that the lease ends at its deadline though a renewal may hang,
// and reports whether it has not ended yet.
func (l *Lease) watch() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endIfLate()
	if l.cause == nil && l.expiry == nil && !l.deadline.IsZero() {
		l.expiry = time.AfterFunc(time.Until(l.deadline), l.expire)
	}
	return l.cause == nil
}

// expire runs at the deadline.
func (l *Lease) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endIfLate()
	if l.cause == nil { // renewed at the last moment
		l.expiry.Reset(time.Until(l.deadline))
	}
}

// renew runs when it is time for a renewal.
func (l *Lease) renew() {
	if !l.watch() {
		return
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(l.ctx, l.grant.Try)
	deadline, err := l.grant.Keeper.Keep(ctx)
	cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endIfLate() // a late answer does not bring a lease back
	switch {
	case l.cause != nil:
	case errors.Is(err, ErrLost):
		l.end(err)
	case err != nil:
		l.renewal.Reset(max(0, l.grant.Try-time.Since(began)))
	default:
		if deadline.After(l.deadline) {
			l.deadline = deadline
			l.expiry.Reset(time.Until(deadline))
		}
		l.renewal.Reset(l.grant.Every)
	}
}
