package lock

import "time"

// EventKind is what happened to a lock, in lower case with hyphens.
type EventKind string

// The kinds of events.
const (
	// Waiting: the lock is held by another, and Acquire waits for it.
	Waiting EventKind = "waiting"
	// Unanswered: a request of an Acquire that waits has failed, or there was no answer for
	// five seconds; Err is why. Acquire goes on, and tells it again only after an answer.
	Unanswered EventKind = "unanswered"
	// Acquired: a lease has begun. Took is the time from the call to the lease.
	Acquired EventKind = "acquired"
	// RenewedLate: a renewal has succeeded after at least one that failed. Took
	// is the age of the lease.
	RenewedLate EventKind = "renewed-late"
	// Lost: the lease has ended before it was released; Err is the reason. Took is
	// the age of the lease.
	Lost EventKind = "lost"
	// Released: the lease was released; Err is the error of Release. Took is
	// the age of the lease.
	Released EventKind = "released"
	// Paused: a term of [Lead] has ended for the reason Err, and Lead asks for the lock
	// again after the time Took.
	Paused EventKind = "paused"
)

// Event is something that happened to a lock in this process. The engines'
// Options have a function that gets every event; it must return soon and may be
// called from several goroutines at the same time.
type Event struct {
	Kind  EventKind
	Name  string // of the lock
	Owner Owner  // that this process has or asks for the lock with
	Fence uint64 // 0 while waiting
	Took  time.Duration
	Err   error // nil unless the kind has a reason
}
