package lock

import (
	"time"

	"github.com/oidkit/oid/gpid"
)

// Status is what everybody can see of a lock.
type Status struct {
	// Name is the lock's name.
	Name string
	// Held reports whether somebody has it. All further fields but Waiters are
	// zero if not.
	Held bool
	// Owner is the lease that has it.
	Owner Owner
	// Fence is the lease's fence.
	Fence uint64
	// Since is when it was granted, by the holder's clock.
	Since time.Time
	// TTL is how long the engine would wait for a sign of the holder. It is 0 in
	// filelock, where the kernel knows.
	TTL time.Duration
	// Waiters is how many wait in the queue, some of whom may have died
	// meanwhile. filelock does not know and says 0.
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
	// State says whether the process and its group still run. It is Unknown
	// unless they belong to this host, boot and pid namespace.
	State State `json:"-"`
}

// State says whether a holder still runs.
type State string

// The states of a holder.
const (
	Unknown State = ""
	Alive   State = "alive"
	Ended   State = "ended"
)
