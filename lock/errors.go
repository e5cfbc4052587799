package lock

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrHeld is wrapped by the error of [Locker.TryAcquire], and of a
	// [Locker.Acquire] whose context ended, if another has the lock. That error
	// is a [HeldError], or wraps one, which says who.
	ErrHeld = errors.New("lock: held by another")

	// ErrLost is the cause of a lease's end if the engine found that the lock is
	// no longer this lease's: it was taken away, or the engine lost its memory.
	ErrLost = errors.New("lock: lost")

	// ErrExpired is the cause of a lease's end if it could not be renewed in
	// time. Nobody else has had the lock until then.
	ErrExpired = errors.New("lock: expired before it could be renewed")

	// ErrReleased is the cause of a lease's end if it was released.
	ErrReleased = errors.New("lock: released")

	// ErrStale is wrapped by the errors of guards that refuse a write because
	// the resource has seen a higher fence.
	ErrStale = errors.New("lock: stale fence")

	// ErrInvalid is wrapped by errors that say what is wrong with a name, a TTL
	// or the text of an owner.
	ErrInvalid = errors.New("lock: invalid")

	// ErrClosed is wrapped by the errors of a Locker after its Close.
	ErrClosed = errors.New("lock: locker is closed")
)

// HeldError says who has a lock that was asked for. It wraps [ErrHeld].
type HeldError struct {
	// Status is what was known of the lock when it was asked for.
	Status Status
}

// Error returns one line with the name, the owner and since when it holds.
func (e *HeldError) Error() string {
	if e.Status.Owner.IsZero() {
		return fmt.Sprintf("%v: %q: it cannot be told by whom", ErrHeld, e.Status.Name)
	}
	return fmt.Sprintf("%v: %q: %v since %v", ErrHeld, e.Status.Name, e.Status.Owner, e.Status.Since.Format(time.RFC3339))
}

// Unwrap returns [ErrHeld].
func (e *HeldError) Unwrap() error { return ErrHeld }

// StaleError says which fences a guard compared. It wraps [ErrStale].
type StaleError struct {
	// Fence is that of the write that was refused.
	Fence uint64
	// Seen is the highest fence that the resource has taken.
	Seen uint64
}

// Error returns one line with both fences.
func (e *StaleError) Error() string {
	return fmt.Sprintf("%v: %d, the resource has taken %d", ErrStale, e.Fence, e.Seen)
}

// Unwrap returns [ErrStale].
func (e *StaleError) Unwrap() error { return ErrStale }
