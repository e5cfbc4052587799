// Package holder describes the processes that hold locks, and notices when one on this host
// ends.
package holder

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock"
)

// self is the part of the description that all leases of this process share.
var self = sync.OnceValue(func() lock.Holder {
	host, _ := os.Hostname() // empty if unknown
	process, _ := gpid.ProcessOf(os.Getpid())
	return lock.Holder{Host: host, Process: process}
})

// maxCommand is how many bytes of a command line are kept.
const maxCommand = 1024

// Self describes this process as a holder. Group is -1 if o.Group is set.
func Self(o lock.AcquireOptions) lock.Holder {
	h := self()
	h.Command = o.Command[:min(len(o.Command), maxCommand)]
	if o.Group {
		h.Group = -1
	}
	return h
}

// State returns whether the process h or its group still runs, or [lock.StateUnknown] if this
// process cannot see that.
func State(h lock.Holder) lock.State {
	if h.Process == (gpid.Process{}) {
		return lock.StateUnknown
	}
	alive, err := h.Process.Alive()
	switch {
	case err != nil, !alive && h.Group < 0: // the group may have begun before the holder could name it
		return lock.StateUnknown
	case alive, h.Group > 0 && !groupEnded(h.Group):
		return lock.StateAlive
	}
	return lock.StateEnded
}

// Watch waits until the process h and its group have ended, and returns nil then. The error
// is that of ctx, or says why this process cannot watch h.
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
