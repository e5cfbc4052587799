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
// numbered positions of a lock that several processes may hold at once. Runs belong to a job
// that several hosts share: at each tick, one of the hosts runs the job.
type LockStatus struct {
	Lock
	Slots []Lock `json:"slots,omitempty" doc:"The slots that are held, sorted by number, if the lock is used with oid lock --slots."`
	Runs  []Run  `json:"runs,omitempty" doc:"The last runs of oid lock --once, oldest first; absent if there are none."`
}

// Run is one run of a job, for a tick or for a key.
type Run struct {
	Tick     time.Time   `json:"tick,omitzero" doc:"When the schedule made the run due. Absent if the run was named by a key."`
	Key      string      `json:"key,omitempty" doc:"The key that names the run. Absent if a schedule made it due."`
	Outcome  string      `json:"outcome" enum:"running,done,failed,died,missed,due" doc:"How the run ended. running: it has not ended. died: the process that ran it died, or lost the lock, before it recorded an outcome. missed: no host began the run in time. due: no host has begun the run yet. After missed or due all further fields are absent."`
	Attempt  int         `json:"attempt,omitempty" doc:"How many times the run was started."`
	Host     string      `json:"host,omitempty" doc:"Name of the host that made the latest attempt; absent if it is not known."`
	GPID     string      `json:"gpid,omitempty" doc:"GPID of the process that made the latest attempt."`
	Lease    objectid.ID `json:"lease,omitzero" doc:"Id of the lease of the latest attempt."`
	Fence    uint64      `json:"fence,omitempty" doc:"Fencing token of this lease."`
	Start    time.Time   `json:"start,omitzero" doc:"When the latest attempt began, by the clock of the backend."`
	End      time.Time   `json:"end,omitzero" doc:"When the latest attempt ended, by the clock of the backend. Absent if the outcome is running or died."`
	ExitCode *int        `json:"exit_code,omitempty" doc:"Exit code of the command; absent if there is none."`
}

// Holder is the process that holds a lock, and its lease. A lock in a file may be held by a
// program that does not name itself, such as flock(1); then all fields are absent.
type Holder struct {
	GPID       string      `json:"gpid,omitempty" doc:"GPID of the process. If a program that does not name itself holds the lock, such as flock(1), all fields of the holder are absent."`
	Lease      objectid.ID `json:"lease,omitzero" doc:"Id of the lease."`
	Fence      uint64      `json:"fence,omitempty" doc:"Fencing token of the lease."`
	Since      time.Time   `json:"since,omitzero" doc:"When the lease was granted, by the clock of the holder."`
	TTLSeconds *float64    `json:"ttl_seconds,omitempty" doc:"How long the lease lasts if it is not renewed again. For a lock in Redis this time begins now; for a lock in a store it began at the last renewal. Absent if the lease does not expire."`
	Host       string      `json:"host,omitempty" doc:"Name of the host of the process; absent if it is not known."`
	PID        int         `json:"pid,omitempty" doc:"Process id on that host."`
	Command    string      `json:"command,omitempty" doc:"Command line of the process; absent if the process did not give it."`
	State      string      `json:"state,omitempty" enum:"alive,ended" doc:"alive: the process or its command still runs. ended: both have ended. Absent if the server, or the command oid, cannot see that: the process is on another host, in another PID namespace, or from before the last boot."`
}

// Locks is one page of the list of locks that are held.
type Locks struct {
	Locks []Lock `json:"locks" nullable:"false"`
	Next  string `json:"next,omitempty" doc:"Pass this value as after to get the next page. Absent on the last page."`
}
