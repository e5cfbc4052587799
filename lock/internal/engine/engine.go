// Package engine is the contract between package lock and its engines: the packages that keep
// locks in a backend. Users of package lock do not see it.
//
// An engine grants a lock with calls.NewLease. The lease then renews the lock by a [Keeper]
// and ends in time. The engine must
//
//   - count each [Deadline] from before the request that took or renewed the lock, because
//     nobody knows at which moment of the request the backend acted;
//   - return lock.ErrClosed after Close of a Locker from all its calls, from those that wait,
//     and from Keep if the lease has a deadline. The lock then stays held until the backend
//     expires it;
//   - report EventWaiting and EventAcquired and, if the backend may fail to answer,
//     EventUnanswered. The lease reports the other events through the function that
//     calls.NewLease gets.
package engine

import "time"

// Package lock sets these functions when it is initialised. Package lock/internal/calls has
// them with their types.
var (
	// NewLease is a func(ctx, name, lock.Owner, func(lock.Event), Grant) *lock.Lease.
	NewLease any
	// WithNotes is a func(lock.Locker, func(ctx, name) (Note, error)) lock.Locker.
	WithNotes any
)

// Keeper renews and releases the lock of one lease. Its methods may be called at the same
// time, and each limits the time that it takes.
type Keeper interface {
	// Keep renews the lock and returns the new deadline of the lease, or the zero Time if it
	// has none. An error that wraps lock.ErrLost ends the lease at once. After any other
	// error the lease calls Keep again until its deadline.
	Keep() (deadline time.Time, err error)
	// Free releases the lock. The error wraps lock.ErrLost if the lease does not have the
	// lock any more.
	Free() error
	// SetGroup records the process group that the lock protects.
	SetGroup(pgid int) error
	// SetNote replaces the note of the lock, in one step. The error wraps lock.ErrLost if the
	// lease does not have the lock any more. The backend may forget the note after life.
	SetNote(text string, life time.Duration) error
}

// Note is a text that the backend keeps with a lock, even while the lock is free. Only the
// current lease can replace it.
type Note struct {
	// Text is the note, or empty if there is none.
	Text string
	// Now is when the note was read, by the clock of the backend or, if the backend has none,
	// of this machine.
	Now time.Time
}

// Grant describes a lock that an engine has just taken.
type Grant struct {
	Fence uint64
	// Deadline is when the lease ends if it is not renewed, on the monotonic clock, see
	// [Deadline]; zero if it does not end.
	Deadline time.Time
	// TTL is how long the lock stays held after a renewal. The lease calls Keep after TTL/3,
	// or after TTL/6 or a second, whichever is less, if the last Keep failed. Without a Deadline
	// the TTL only sets these pauses.
	TTL    time.Duration
	Keeper Keeper
}

// Deadline returns the deadline of a lease whose lock was taken or renewed for ttl by a
// request that was sent at sent. It is a twentieth of ttl before the lock expires, because
// clocks may run at different speeds and a holder needs time to stop.
func Deadline(sent time.Time, ttl time.Duration) time.Time { return sent.Add(ttl - ttl/20) }
