package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/filelock"
)

// breakHelp is the help topic about --break.
const breakHelp = `"oid lock --break NAME" frees a lock whose holder hangs, or that never expires. oid shows the
holder and asks before it breaks the lock. With --yes it does not ask; without a terminal it
needs --yes. If the lock is free, oid says so and exits with 0. If it has passed to another
holder meanwhile, oid breaks nothing and exits with 1.

The next waiter gets the lock at once. The old holder's oid notices that at its next renewal,
after a third of --ttl at most. It then ends the command, exits with 113, and says who broke
the lock. Until then the command of the old holder may still write. oid prints a fencing
token: resources that are told this number reject the old holder from then on.

To free one slot, write its name, such as NAME#2. A tick of --once whose lock is broken
counts as one whose host died. A lock in files ends only with the processes that hold it:
oid says which one to end.`

// breakLock frees the lock that was shown, if the user agrees.
func (c *lockCommand) breakLock(ctx context.Context, l lock.Locker, d lockDetails) error {
	switch _, inFiles := l.(*filelock.Locker); {
	case !d.Held && len(d.slots) > 0:
		return usagef("each slot is a lock of its own; write oid lock --break '%s'", d.slots[0].Name)
	case !d.Held:
		return nil
	case inFiles || c.yes: // a lock in files cannot be broken
	case !isTerminal(c.std.in):
		return usagef("to break this lock, add --yes")
	default:
		fmt.Fprint(c.std.err, "oid: break this lock? Its command may go on beside that of the next holder for a while (y/N) ")
		var answer string
		_, _ = fmt.Fscanln(interruptible(ctx, c.std.in), &answer)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !strings.EqualFold(answer, "y") && !strings.EqualFold(answer, "yes") {
			return errors.New("the lock was not broken")
		}
	}
	err := l.Break(ctx, d.Name, d.Owner)
	if errors.Is(err, lock.ErrLost) {
		return fmt.Errorf("nothing was broken, because the holder is another one now: %w", err)
	}
	if err == nil {
		c.std.warn("the lock is broken; every later holder has a fence of at least %d", d.Fence+1)
	}
	return err
}
