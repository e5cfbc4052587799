package towire

import (
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/server/wire"
)

// Lock returns s.
func Lock(s lock.Status) wire.Lock {
	out := wire.Lock{Name: s.Name}
	if !s.Held {
		return out
	}
	if s.Owner.IsZero() {
		out.Holder = &wire.Holder{}
		return out
	}
	out.Holder = &wire.Holder{
		GPID: s.Owner.Process.String(), Lease: s.Owner.ID, Fence: s.Fence, Since: s.Since,
		Host: s.Holder.Host, PID: s.Owner.Process.PID(), Command: s.Holder.Command, State: string(s.Holder.State),
	}
	if s.TTL > 0 { // else the kernel knows the holder, and nobody counts the waiters
		out.Holder.TTLSeconds = new(s.TTL.Seconds())
		out.Waiters = &s.Waiters
	}
	return out
}
