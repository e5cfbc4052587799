// Package engine is what package lock and its engines agree on, out of the sight
// of their users.
package engine

import "time"

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
	// monotonic clock; zero if it needs none.
	Deadline time.Time
	// Every is the time from one renewal to the next.
	Every time.Duration
	// Retry is the time from a renewal that failed to the next.
	Retry time.Duration
	// Timers calls for the renewals.
	Timers *Timers
	Keeper Keeper
}
