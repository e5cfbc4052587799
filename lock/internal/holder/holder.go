// Package holder describes the processes that hold locks and watches those of
// this host.
package holder

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock"
)

// self is what all leases of this process have in common.
var self = sync.OnceValue(func() lock.Holder {
	host, _ := os.Hostname() // unknown is empty
	process, _ := gpid.ProcessOf(os.Getpid())
	return lock.Holder{Host: host, Process: process}
})

// Self returns the description of this process as a holder.
func Self(o lock.AcquireOptions) lock.Holder {
	h := self()
	h.Command = o.Command[:min(len(o.Command), lock.MaxCommand)]
	if o.Group {
		h.Group = -1
	}
	return h
}

// State returns whether h and its group still run, or [lock.StateUnknown] if that
// cannot be seen from here.
func State(h lock.Holder) lock.State {
	if h.Process == (gpid.Process{}) {
		return lock.StateUnknown
	}
	alive, err := h.Process.Alive()
	switch {
	case err != nil, !alive && h.Group < 0: // its group may have begun without a record
		return lock.StateUnknown
	case alive, h.Group > 0 && !groupEnded(h.Group):
		return lock.StateAlive
	}
	return lock.StateEnded
}

// Watch returns nil once h and its group have ended. The error is that of ctx, or
// says why h cannot be watched from here.
func Watch(ctx context.Context, h lock.Holder) error {
	if h.Process == (gpid.Process{}) || h.Group < 0 {
		return errors.ErrUnsupported
	}
	if alive, err := h.Process.Alive(); err != nil {
		return err
	} else if alive {
		if err := awaitEnd(ctx, h.Process); err != nil {
			return err
		}
	}
	return awaitGroup(ctx, h.Group)
}
