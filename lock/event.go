package lock

import (
	"context"
	"time"
)

// EventKind is what happened to a lock. Its text is lower case with hyphens.
type EventKind string

// The kinds of events. Event.Err is nil unless the kind says otherwise.
const (
	// EventWaiting: somebody else holds the lock, and Acquire waits for it.
	EventWaiting EventKind = "waiting"
	// EventUnanswered: Acquire waits, and its request failed or was not answered within five
	// seconds; Err says why. Further failures are reported only after the backend has
	// answered again.
	EventUnanswered EventKind = "unanswered"
	// EventFailed: Acquire or TryAcquire returns an error instead of a lease. Err is that error:
	// it wraps [ErrHeld] if somebody else holds the lock.
	EventFailed EventKind = "failed"
	// EventAcquired: a lease has begun.
	EventAcquired EventKind = "acquired"
	// EventRenewedLate: the lease was renewed after one or more renewals had failed.
	EventRenewedLate EventKind = "renewed-late"
	// EventLost: the lease ended before it was released. Err wraps [ErrLost] or
	// [ErrExpired].
	EventLost EventKind = "lost"
	// EventReleased: the lease was released. Err is the error of [Lease.Release].
	EventReleased EventKind = "released"
	// EventPaused: a term of [Lead] ended, or Lead could not take the lock; Err says why. Lead
	// pauses for Took and then asks for the lock again. If there was no term, the event has no
	// Owner.
	EventPaused EventKind = "paused"
)

// Event is something that happened to a lock in this process. A Locker passes its events to
// the function Events in the Options of the engine. That function must return soon. If it
// panics within Acquire, TryAcquire or Release, the panic leaves that call, and the lock is
// not held afterwards. While a call of a Locker from [Slots] waits, a panic ends the program.
//
// Each call of Acquire or TryAcquire has a new owner, which becomes the owner of its lease. The
// events of one owner come one at a time and in this order:
//
//	EventWaiting once, EventUnanswered any number of times    only if Acquire has to wait
//	EventFailed                                               the last event, before the call returns an error
//	EventAcquired                                             before the call returns a lease
//	EventRenewedLate any number of times
//	EventLost or EventReleased                                the last event
//
// Events of different owners may come at the same time. A call that returns an error never
// reports EventAcquired, and reports nothing after it has returned. It reports nothing at all
// if it was not begun, because its arguments are invalid or the Locker is closed. Release of a
// lost lease reports nothing.
//
// A Locker from [Slots] takes a slot by several calls, each for the lock of one slot or of the
// queue. Each of these calls reports its own events.
//
// Package lockmetrics makes metrics of events.
type Event struct {
	Kind EventKind
	// Context is the context of the call of Acquire or TryAcquire. Use only its values, such as
	// the span of a trace: it may have ended.
	Context context.Context
	Name    string // of the lock
	Owner   Owner
	Fence   uint64 // 0 before EventAcquired
	// Took is the time since the call began or, after EventAcquired, since the lease began. In
	// EventPaused it is the length of the pause.
	Took time.Duration
	Err  error
}
