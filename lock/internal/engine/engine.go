// Package engine is what package lock and its engines agree on, out of the sight
// of their users.
//
// An engine grants a lock with calls.NewLease, and the lease renews it and ends in time. The
// engine owes
//
//   - a [Deadline] counted from before the request that took or renewed the lock, because
//     nobody knows when within a request the place has done it;
//   - lock.ErrClosed from every call of a Locker after its Close, from calls that wait, and
//     from Keep if the lease has a deadline: the lock stays held until the place ends it;
//   - the events EventWaiting, EventAcquired and, if the backend may be silent, EventUnanswered. The lease
//     reports EventRenewedLate, EventLost and EventReleased through the function given to calls.NewLease.
package engine

import "time"

// What package lock gives to its engines and not to its users. It sets these functions when
// it is initialised; lock/internal/calls has them with their types.
var (
	// NewLease is a func(ctx, name, lock.Owner, func(lock.Event), Grant) *lock.Lease.
	NewLease any
	// WithNotes is a func(lock.Locker, func(ctx, name) (Note, error)) lock.Locker.
	WithNotes any
)

// Keeper renews and frees a lock for a lease. All methods may be called at the
// same time.
type Keeper interface {
	// Keep renews the lease and returns its new deadline, the zero Time for
	// none. It limits the time that it takes. An error that wraps lock.ErrLost
	// ends the lease at once; after any other it is called again until the
	// deadline.
	Keep() (deadline time.Time, err error)
	// Free gives the lock back if the lease still has it, and returns an error
	// that wraps lock.ErrLost if it does not. It limits the time that it takes.
	Free() error
	// SetGroup records the process group that the lock protects.
	SetGroup(pgid int) error
	// SetNote replaces the note of the lock if the lease still has it, in one step,
	// and returns an error that wraps lock.ErrLost if it does not. The place may
	// forget the note after life. It limits the time that it takes.
	SetNote(text string, life time.Duration) error
}

// Note is a text that an engine keeps beside a lock, also while the lock is free. A
// lease that has ended cannot replace it any more.
type Note struct {
	// Text is the note, empty if there is none.
	Text string
	// Now is the time at which it was read, by the clock of the place that keeps it if
	// that has one, or else by that of this machine.
	Now time.Time
}

// Grant describes a lock that an engine has just taken.
type Grant struct {
	Fence uint64
	// Deadline is until when the lease is safe without a renewal, on the
	// monotonic clock, see [Deadline]; zero if it needs none.
	Deadline time.Time
	// TTL is how long the place keeps the lock after a renewal. The lease calls Keep every
	// TTL/3, and TTL/6 after a Keep that failed. Without a Deadline it is for these pauses only.
	TTL    time.Duration
	Keeper Keeper
}

// Deadline returns until when a lease is safe after a request that was sent at sent and took
// or renewed the lock for ttl: a twentieth of ttl before its end, for clocks that run at
// different speeds and for the time that a holder takes to stop.
func Deadline(sent time.Time, ttl time.Duration) time.Time { return sent.Add(ttl - ttl/20) }
