package wire

import (
	"time"

	"github.com/oidkit/oid/objectid"
)

// Lock is the status of a lock.
type Lock struct {
	Name    string  `json:"name"`
	Holder  *Holder `json:"holder,omitempty" doc:"Who holds the lock; absent if it is free."`
	Waiters *int    `json:"waiters,omitempty" doc:"How many wait for the lock; absent if that is not known."`
}

// LockStatus is the status of a lock with its slots, and with the last ticks of a job that
// runs once per tick, oldest first.
type LockStatus struct {
	Lock
	Slots []Lock `json:"slots,omitempty" doc:"The slots of oid lock --slots that are held, by number."`
	Runs  []Run  `json:"runs,omitempty" doc:"The last ticks of oid lock --once; absent if there are none."`
}

// Run is what is known of a tick.
type Run struct {
	Tick     time.Time   `json:"tick,omitzero" doc:"When the tick was due; absent for a key."`
	Key      string      `json:"key,omitempty" doc:"The key that the caller gave."`
	Outcome  string      `json:"outcome" enum:"running,done,failed,died,missed" doc:"What is known of it. All further fields are absent if it was missed."`
	Attempt  int         `json:"attempt,omitempty" doc:"Counts the starts, from 1."`
	Host     string      `json:"host,omitempty" doc:"Name of the host that ran it last; absent if that is not known."`
	GPID     string      `json:"gpid,omitempty" doc:"Identity of the process that ran it last."`
	Lease    objectid.ID `json:"lease,omitzero" doc:"Id of the lease."`
	Fence    uint64      `json:"fence,omitempty" doc:"Fencing token of the lease."`
	Start    time.Time   `json:"start,omitzero" doc:"When it began, by the clock of the backend."`
	End      time.Time   `json:"end,omitzero" doc:"When it ended; absent while it runs and after its host died."`
	ExitCode *int        `json:"exit_code,omitempty" doc:"Exit code of its command; absent if there is none."`
}

// Holder is the lease that holds a lock, and its process. All fields are absent for a
// program that does not say who it is, such as flock(1).
type Holder struct {
	GPID       string      `json:"gpid,omitempty" doc:"Identity of the process. All fields are absent for a program that does not say who it is, such as flock(1)."`
	Lease      objectid.ID `json:"lease,omitzero" doc:"Id of the lease."`
	Fence      uint64      `json:"fence,omitempty" doc:"Fencing token of the lease."`
	Since      time.Time   `json:"since,omitzero" doc:"When the lease was granted, by the clock of the holder."`
	TTLSeconds *float64    `json:"ttl_seconds,omitempty" doc:"Time until the lease expires without a renewal; absent if it does not expire."`
	Host       string      `json:"host,omitempty" doc:"Name of the process' host; absent if that is not known."`
	PID        int         `json:"pid,omitempty" doc:"Process id on its host."`
	Command    string      `json:"command,omitempty" doc:"Command line; absent if the process does not give it."`
	State      string      `json:"state,omitempty" enum:"alive,ended" doc:"Whether the process or its command still runs; absent if it belongs to another host, boot or PID namespace."`
}

// Locks is a page of the locks that are held.
type Locks struct {
	Locks []Lock `json:"locks" nullable:"false"`
	Next  string `json:"next,omitempty" doc:"The value of after for the next page; absent after the last one."`
}
