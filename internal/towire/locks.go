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

// Locks returns all; never nil.
func Locks(all []lock.Status) []wire.Lock { return each(all, Lock) }

// LockStatus returns s with the slots of [lock.HeldSlots] and the runs of [lock.Runs].
func LockStatus(s lock.Status, slots []lock.Status, runs []lock.Run) wire.LockStatus {
	out := wire.LockStatus{Lock: Lock(s), Slots: Locks(slots)}
	for _, r := range runs {
		x := wire.Run{
			Tick: r.Tick.Time, Key: r.Tick.Key, Outcome: string(r.Outcome), Attempt: r.Attempt, Host: r.Host,
			Fence: r.Fence, Start: r.Start, End: r.End, ExitCode: r.ExitCode,
		}
		if !r.Owner.IsZero() {
			x.GPID, x.Lease = r.Owner.Process.String(), r.Owner.ID
		}
		out.Runs = append(out.Runs, x)
	}
	return out
}
