package lock

import (
	"time"

	"github.com/oidkit/oid/gpid"
)

// Status is what everyone can see of a lock.
type Status struct {
	// Name is the lock's name.
	Name string
	// Held reports whether somebody has it. All further fields but Waiters are
	// zero if not.
	Held bool
	// Owner is the lease that has it. It is zero, as all further fields are, if a
	// program has it that uses another way to lock, such as flock(1) in filelock.
	Owner Owner
	// Fence is the lease's fence.
	Fence uint64
	// Since is when it was granted, by the holder's clock.
	Since time.Time
	// TTL is how long the lock outlives a holder that no longer renews it. It is 0
	// in filelock, where the kernel frees the lock.
	TTL time.Duration
	// Waiters is how many wait in the queue, some of which may have died
	// meanwhile. In filelock it is always 0, because filelock has no queue.
	Waiters int
	// Holder describes the process that has it.
	Holder Holder
}

// Holder describes a process that holds a lock, as it described itself. Fields
// that are not known are zero. Engines keep it as JSON.
type Holder struct {
	// Host is the name of its host.
	Host string `json:"host,omitempty"`
	// Process is the kernel's identity of the process, with its pid.
	Process gpid.Process `json:"process,omitzero"`
	// Command is the command line that the process gave with
	// [AcquireOptions.Command].
	Command string `json:"command,omitempty"`
	// Group is the process group that the lock protects beside the process, 0 if
	// none and -1 if it does not exist yet, see [AcquireOptions.Group].
	Group int `json:"group,omitempty"`
	// State shows whether the process and its group still run. It is Unknown
	// unless they belong to this host, boot and pid namespace.
	State State `json:"-"`
}

// State is whether a holder still runs.
type State string

// The states of a holder.
const (
	Unknown State = ""
	Alive   State = "alive"
	Ended   State = "ended"
)
