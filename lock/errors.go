package lock

import (
	"errors"
	"fmt"
	"time"
)

// The errors of this package wrap one of these, or the error of an engine.
var (
	// ErrHeld: another has the lock. The error is or wraps a [HeldError].
	ErrHeld = errors.New("lock: held by another")

	// ErrLost ended a lease: the lock was removed, or the backend lost its data.
	ErrLost = errors.New("lock: lost")

	// ErrExpired ended a lease that could not be renewed in time. Nobody else had the
	// lock before.
	ErrExpired = errors.New("lock: expired before it could be renewed")

	// ErrReleased ended a lease: it was released.
	ErrReleased = errors.New("lock: released")

	// ErrStale: a guard rejected a write because the resource has seen a higher fence.
	ErrStale = errors.New("lock: stale fence")

	// ErrInvalid: a name, a TTL, an option, an owner or a URL is wrong.
	ErrInvalid = errors.New("lock: invalid")

	// ErrBetween: [Once] was called too far from two ticks to belong to one for certain.
	ErrBetween = errors.New("lock: between two ticks")

	// ErrTooLate: the record does not reach back to the tick of [Once] any more.
	ErrTooLate = errors.New("lock: too late for the tick")

	// ErrUnrecorded: [Once] could not record the outcome of its run. For others its
	// holder died.
	ErrUnrecorded = errors.New("lock: the outcome of the run could not be recorded")

	// ErrClosed: the Locker is closed.
	ErrClosed = errors.New("lock: locker is closed")
)

// HeldError reports who has a lock that was asked for. It wraps [ErrHeld].
type HeldError struct {
	// Status is what was known of the lock when it was asked for. If it is not
	// held, its owner is the first waiter, for which it is reserved for a moment.
	Status Status
	// Slots is how many slots were asked for, if none of them was free, see [Slots];
	// otherwise it is 0. Status is then that of one of them, or of NAME#queue, whose owner
	// is the first waiter.
	Slots int
}

// Error returns one line with what is known of the holder.
func (e *HeldError) Error() string {
	s := e.Status
	text := fmt.Sprintf("%v: %q: ", ErrHeld, s.Name)
	if e.Slots > 0 {
		name, slot := splitSlot(s.Name)
		text = fmt.Sprintf("%v: %q: %d of %d slots, slot %s: ", ErrHeld, name, e.Slots, e.Slots, slot)
		if slot == queueWord {
			text = fmt.Sprintf("%v: %q: %d of %d slots, the first waiter: ", ErrHeld, name, e.Slots, e.Slots)
		}
	}
	switch {
	case !s.Held:
		return text + "reserved for the next waiter, " + s.Owner.String()
	case s.Owner.IsZero():
		return text + "by a program that does not say who it is, such as flock(1)"
	}
	text += s.Owner.String()
	if s.Holder.Host != "" {
		text += " on " + s.Holder.Host
	}
	if s.Holder.Command != "" {
		text += fmt.Sprintf(" (%s)", s.Holder.Command)
	}
	return text + " since " + s.Since.Format(time.RFC3339)
}

// Unwrap returns [ErrHeld].
func (e *HeldError) Unwrap() error { return ErrHeld }

// StaleError reports which fences a guard compared. It wraps [ErrStale].
type StaleError struct {
	// Fence is that of the write that was refused.
	Fence uint64
	// Seen is the highest fence that the resource has seen.
	Seen uint64
}

// Error returns one line with both fences.
func (e *StaleError) Error() string {
	return fmt.Sprintf("%v: %d, the resource has seen %d", ErrStale, e.Fence, e.Seen)
}

// Unwrap returns [ErrStale].
func (e *StaleError) Unwrap() error { return ErrStale }
