package wire

import (
	"time"

	"github.com/oidkit/oid/objectid"
)

// Lock is the status of a lock.
type Lock struct {
	Name    string  `json:"name"`
	Holder  *Holder `json:"holder,omitempty" doc:"Who holds the lock; absent if it is free."`
	Waiters *int    `json:"waiters,omitempty" doc:"How many processes wait for the lock; absent if that is not known."`
}

// LockStatus is the status of a lock with its slots and its last runs. Slots are the
// numbered positions of a lock that several processes may hold at once. Runs are those of a
// job that several hosts share, of which one runs the job at each tick.
type LockStatus struct {
	Lock
	Slots []Lock `json:"slots,omitempty" doc:"The slots of oid lock --slots that are held, by number."`
	Runs  []Run  `json:"runs,omitempty" doc:"The last runs of oid lock --once, oldest first; absent if there are none."`
}

// Run is one run of a job, for a tick or for a key.
type Run struct {
	Tick     time.Time   `json:"tick,omitzero" doc:"When the schedule made the run due. Absent if the run was named by a key."`
	Key      string      `json:"key,omitempty" doc:"The key that names the run. Absent if a schedule made it due."`
	Outcome  string      `json:"outcome" enum:"running,done,failed,died,missed" doc:"How the run ended. If it was missed, all further fields are absent."`
	Attempt  int         `json:"attempt,omitempty" doc:"How many times the run was started."`
	Host     string      `json:"host,omitempty" doc:"Name of the host that made the latest attempt; absent if it is not known."`
	GPID     string      `json:"gpid,omitempty" doc:"GPID of the process that made the latest attempt."`
	Lease    objectid.ID `json:"lease,omitzero" doc:"Id of the lease of the latest attempt."`
	Fence    uint64      `json:"fence,omitempty" doc:"Fencing token of the lease."`
	Start    time.Time   `json:"start,omitzero" doc:"When the run began, by the clock of the backend."`
	End      time.Time   `json:"end,omitzero" doc:"When the run ended; absent if it has not, or if its host died."`
	ExitCode *int        `json:"exit_code,omitempty" doc:"Exit code of the command; absent if there is none."`
}

// Holder is the process that holds a lock, and its lease. A lock in a file may be held by a
// program that does not name itself, such as flock(1); then all fields are absent.
type Holder struct {
	GPID       string      `json:"gpid,omitempty" doc:"GPID of the process. For a program that does not name itself, such as flock(1), all fields are absent."`
	Lease      objectid.ID `json:"lease,omitzero" doc:"Id of the lease."`
	Fence      uint64      `json:"fence,omitempty" doc:"Fencing token of the lease."`
	Since      time.Time   `json:"since,omitzero" doc:"When the lease was granted, by the clock of the holder."`
	TTLSeconds *float64    `json:"ttl_seconds,omitempty" doc:"Time until the lease expires unless it is renewed; absent if it does not expire."`
	Host       string      `json:"host,omitempty" doc:"Name of the host of the process; absent if it is not known."`
	PID        int         `json:"pid,omitempty" doc:"Process id on that host."`
	Command    string      `json:"command,omitempty" doc:"Command line of the process; absent if the process did not give it."`
	State      string      `json:"state,omitempty" enum:"alive,ended" doc:"Whether the process or its command still runs; absent if that cannot be seen from here: it runs on another host, in another PID namespace, or before the last boot."`
}

// Locks is one page of the list of locks that are held.
type Locks struct {
	Locks []Lock `json:"locks" nullable:"false"`
	Next  string `json:"next,omitempty" doc:"The value of after for the next page; absent after the last one."`
}
