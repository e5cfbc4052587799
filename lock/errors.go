package lock

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrHeld is wrapped by the error of [Locker.TryAcquire], and of a
	// [Locker.Acquire] whose context ended, if another has the lock. That error
	// is or wraps a [HeldError].
	ErrHeld = errors.New("lock: held by another")

	// ErrLost is the cause of a lease's end if the engine found that the lock is
	// no longer this lease's: it was removed, or the engine lost its data.
	ErrLost = errors.New("lock: lost")

	// ErrExpired is the cause of a lease's end if it could not be renewed in
	// time. Nobody else had the lock before then.
	ErrExpired = errors.New("lock: expired before it could be renewed")

	// ErrReleased is the cause of a lease's end if it was released.
	ErrReleased = errors.New("lock: released")

	// ErrStale is wrapped by the errors of guards that refuse a write because
	// the resource has seen a higher fence.
	ErrStale = errors.New("lock: stale fence")

	// ErrInvalid is wrapped by errors that say what is wrong with a name, a TTL,
	// the text of an owner or the URL of a Redis.
	ErrInvalid = errors.New("lock: invalid")

	// ErrBetween is wrapped by the error of a [Once] that was called at a time between
	// two ticks, too far from both to belong to one of them for certain.
	ErrBetween = errors.New("lock: between two ticks")

	// ErrTooLate is wrapped by the error of a [Once] whose tick passed so long ago that
	// the record does not reach back to it any more.
	ErrTooLate = errors.New("lock: too late for the tick")

	// ErrUnrecorded is wrapped by the error of a [Once] that could not record the outcome
	// of its run. Others take the run for one whose holder died.
	ErrUnrecorded = errors.New("lock: the outcome of the run could not be recorded")

	// ErrClosed is wrapped by the errors of a Locker after its Close.
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

// Error returns one line with the name, the number of slots if there are any, the owner,
// its host and command if they are known, and since when it holds.
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
