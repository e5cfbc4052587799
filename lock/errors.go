package lock

import (
	"errors"
	"fmt"
	"time"
)

// Every error of this package wraps one of these, or an error of the backend.
var (
	// ErrHeld: somebody else holds the lock. The error is or wraps a [HeldError].
	ErrHeld = errors.New("lock: held by another")

	// ErrLost: the lease ended because the lock was broken, see [Locker.Break], or was removed,
	// or the backend lost its data.
	ErrLost = errors.New("lock: lost")

	// ErrExpired: the lease ended at its deadline because it could not be renewed in time.
	// Until then, nobody else got the lock.
	ErrExpired = errors.New("lock: expired before it could be renewed")

	// ErrReleased: [Lease.Release] was called.
	ErrReleased = errors.New("lock: released")

	// ErrStale: a write was rejected because the resource has seen a higher fence.
	ErrStale = errors.New("lock: stale fence")

	// ErrInvalid: a name, an option or a text cannot be used.
	ErrInvalid = errors.New("lock: invalid")

	// ErrBetween: [Once] cannot tell which of two ticks the call is for.
	ErrBetween = errors.New("lock: the time is between two ticks")

	// ErrTooLate: [Once] does not run the tick any more, because too many later ticks are due.
	ErrTooLate = errors.New("lock: too late for the tick")

	// ErrUnrecorded: [Once] ran the function but could not record the outcome. Other callers
	// see [OutcomeDied].
	ErrUnrecorded = errors.New("lock: the outcome of the run could not be recorded")

	// ErrClosed: [Locker.Close] was called.
	ErrClosed = errors.New("lock: locker is closed")
)

// HeldError says who holds the lock that was asked for.
type HeldError struct {
	// Status is the status of the lock when the call asked for it. If Status.Held is false,
	// the lock is free but reserved for its first waiter: Status.Owner is then that waiter.
	Status Status
	// Slots is the number of slots of the lock, none of which was free. Status then describes
	// one of the slots, or the lock that the first waiter holds, see [Slots]. If the lock has
	// no slots, this field is 0.
	Slots int
}

// Error names the lock and its holder in one line.
func (e *HeldError) Error() string {
	s := e.Status
	text := fmt.Sprintf("%v: %q: ", ErrHeld, s.Name)
	if e.Slots > 0 {
		name, slot := splitSlot(s.Name)
		text = fmt.Sprintf("%v: %q: none of %d slots is free; slot %s: ", ErrHeld, name, e.Slots, slot)
		if slot == queueWord {
			text = fmt.Sprintf("%v: %q: none of %d slots is free; first waiter: ", ErrHeld, name, e.Slots)
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

// StaleError says which fences were compared.
type StaleError struct {
	// Fence is the fence of the rejected write.
	Fence uint64
	// Seen is the highest fence that the resource has seen.
	Seen uint64
}

// Error names both fences in one line.
func (e *StaleError) Error() string {
	return fmt.Sprintf("%v: %d, the resource has seen %d", ErrStale, e.Fence, e.Seen)
}

// Unwrap returns [ErrStale].
func (e *StaleError) Unwrap() error { return ErrStale }
