package wire

import (
	"time"

	"github.com/oidkit/oid/objectid"
)

// Lock is the status of a lock.
type Lock struct {
	Name string `json:"name"`
	// Holder is nil if the lock is free.
	Holder *Holder `json:"holder,omitempty" doc:"Who holds the lock; absent if it is free."`
	// Waiters is nil if the engine does not count them.
	Waiters *int `json:"waiters,omitempty" doc:"How many wait for the lock; absent if that is not known."`
}

// Holder is the lease that holds a lock.
type Holder struct {
	GPID  string      `json:"gpid" doc:"Identity of the process."`
	Lease objectid.ID `json:"lease" doc:"Id of the lease."`
	Fence uint64      `json:"fence" doc:"Fencing token of the lease."`
	Since time.Time   `json:"since" doc:"When the lease was granted, by the clock of the engine."`
	// TTLSeconds is nil where the kernel releases the lock of a dead holder.
	TTLSeconds *float64 `json:"ttl_seconds,omitempty" doc:"Time until the lease expires without a renewal; absent if it does not expire."`
}
