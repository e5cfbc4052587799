package registry

import (
	"errors"
	"fmt"

	"github.com/oidkit/oid/gpid"
)

var (
	// ErrCollision is wrapped by a [*CollisionError]: another live process has the
	// same process value.
	ErrCollision = errors.New("registry: another live process is recorded with the same process value")

	// ErrEvidence is wrapped by the error of [Registry.Adopt] and
	// [Registry.AdoptRemote] if the process cannot have created the evidence id.
	ErrEvidence = errors.New("registry: the process cannot have created the evidence id")

	// ErrDescription is wrapped by the errors of all methods that record a process if its
	// name, its version or a label has characters that people do not see, or if it has too
	// many labels or too long ones.
	ErrDescription = errors.New("registry: invalid description of a process")

	// ErrEnded is wrapped by the errors of [Member.End], [Member.Detach],
	// [Registry.Heartbeat] and [Registry.End] if the process has ended before.
	ErrEnded = errors.New("registry: the process has ended")

	// ErrSelfManaged is wrapped by the errors of [Registry.Heartbeat] and
	// [Registry.End] for a process that was recorded with [Registry.Register] or
	// [Registry.Adopt].
	ErrSelfManaged = errors.New("registry: the process sends its own heartbeats")

	// ErrCopied is wrapped by the error of [Member.Err] after a copy of this
	// process, such as that of a cloned virtual machine, was found to use the same
	// process block. Each copy has a new block and a new [Member.Generator] then.
	ErrCopied = errors.New("registry: a copy of this process uses the same process block")

	// ErrKey is wrapped by the errors of [Registry.RegisterRemote] and
	// [Registry.AdoptRemote] if another process was recorded with the same key.
	ErrKey = errors.New("registry: another process was registered with the same key")

	// ErrFormat is wrapped by the error of every method that reads a document
	// that has another format version than this package writes.
	ErrFormat = errors.New("registry: document was stored by another version of oid")
)

// CollisionError lists the live processes that have the same process value. It
// wraps [ErrCollision].
type CollisionError struct {
	Value  string      // in hexadecimal
	Others []gpid.GPID // never empty
}

// Error names the value and the first of the others.
func (e *CollisionError) Error() string {
	return fmt.Sprintf("%v: %s, %v", ErrCollision, e.Value, e.Others[0])
}

// Unwrap returns [ErrCollision].
func (e *CollisionError) Unwrap() error { return ErrCollision }
