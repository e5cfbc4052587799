package lock

import "time"

// EventKind is what happened to a lock, in lower case with hyphens.
type EventKind string

// The kinds of events. Err is nil except where a kind says what it is.
const (
	// EventWaiting: another holds the lock, and Acquire waits for it.
	EventWaiting EventKind = "waiting"
	// EventUnanswered: a request of a waiting Acquire failed, or got no answer for five
	// seconds; Err says why. The next one is reported only after an answer.
	EventUnanswered EventKind = "unanswered"
	// EventAcquired: a lease has begun.
	EventAcquired EventKind = "acquired"
	// EventRenewedLate: the lease was renewed after at least one renewal that failed.
	EventRenewedLate EventKind = "renewed-late"
	// EventLost: the lease ended before it was released. Err wraps [ErrLost] or
	// [ErrExpired].
	EventLost EventKind = "lost"
	// EventReleased: the lease was released. Err is the error of [Lease.Release].
	EventReleased EventKind = "released"
	// EventPaused: a term of [Lead] ended for the reason Err. The next one is asked for
	// after the time Took.
	EventPaused EventKind = "paused"
)

// EventKinds returns all kinds.
func EventKinds() []EventKind {
	return []EventKind{EventWaiting, EventUnanswered, EventAcquired, EventRenewedLate, EventLost, EventReleased, EventPaused}
}

// Event is something that happened to a lock in this process. The function in the Options of
// an engine receives every event of the Locker. It must return soon.
//
// An owner stands for one call of Acquire or TryAcquire and for the lease that the call
// returns. The events of one owner come one at a time and in this order:
//
//	EventWaiting once, EventUnanswered any number of times    only if Acquire has to wait
//	EventAcquired                                             before the call returns a lease
//	EventRenewedLate any number of times
//	EventLost or EventReleased                                the last event
//
// A call that returns an error has no event after it returned, and never EventAcquired. If a
// lease was lost, its Release is no event. The function may receive events of different
// owners at the same time.
type Event struct {
	Kind  EventKind
	Name  string        // of the lock
	Owner Owner         // of the call and its lease
	Fence uint64        // 0 before EventAcquired
	Took  time.Duration // since the call; after EventAcquired the age of the lease
	Err   error
}
