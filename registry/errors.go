package registry

import (
	"errors"
	"fmt"

	"github.com/oidkit/oid/gpid"
)

var (
	// ErrCollision means that another live process has the same process value. A
	// [*CollisionError] wraps it.
	ErrCollision = errors.New("registry: another live process is recorded with the same process value")

	// ErrEvidence means that no evidence id was given, or that the process cannot have
	// created one of the evidence ids. Such an id is older than the process or from the
	// future, contains another pid, or is not a generated id but zero or the bound of a time
	// range.
	ErrEvidence = errors.New("registry: the process cannot have created the evidence id")

	// ErrDescription means that a name, a version or a label contains characters that are
	// not printable, or that labels exceed the bounds of [RegisterOptions].
	ErrDescription = errors.New("registry: invalid description of a process")

	// ErrEnded means that the end of the process is already recorded.
	ErrEnded = errors.New("registry: the process has ended")

	// ErrSelfManaged means that [Registry.Heartbeat] or [Registry.End] was called for a
	// process that is not remote: its [Member] sends the heartbeats.
	ErrSelfManaged = errors.New("registry: the process sends its own heartbeats")

	// ErrCopied means that a copy of this process was found to use the same process block,
	// for example because its virtual machine was cloned. [Member.Err] returns an error that
	// wraps it. Each copy then has a new block and a new [Member.Generator].
	ErrCopied = errors.New("registry: a copy of this process uses the same process block")

	// ErrKey means that [RemoteOptions].Key was already used for another process.
	ErrKey = errors.New("registry: another process was registered with the same key")

	// ErrFormat means that a stored document has a format version that this package does
	// not read. Every method that reads documents may return it. Methods that record a
	// process look at one record before they write anything.
	ErrFormat = errors.New("registry: stored by another version of oid")
)

// CollisionError means that other live processes have the same process value as the process
// for which a method was called. It wraps [ErrCollision].
type CollisionError struct {
	Value  string      // the process value, in hexadecimal
	Others []gpid.GPID // the other live processes; never empty
}

// Error names the value and the first of the other processes.
func (e *CollisionError) Error() string {
	return fmt.Sprintf("%v: %s, %v", ErrCollision, e.Value, e.Others[0])
}

// Unwrap returns [ErrCollision].
func (e *CollisionError) Unwrap() error { return ErrCollision }
