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
const breakHelp = `"oid lock --break NAME" frees a lock although its holder has not released it. That helps if
the holder hangs or cannot be reached, or if the lock never expires, because a program has
removed the TTL of its key in Redis. oid shows the holder, asks whether to break the lock,
and then breaks it. With --yes it does not ask; without a terminal it needs --yes.

The next waiter gets the lock at once. The command of the old holder may go on until oid
renews the lock there, for up to a third of --ttl. Then oid ends the command, exits with
113, and says who broke the lock. If nobody may run beside this command, end the old holder
first.

Every later holder has a greater fencing token. oid prints the lowest one: resources that
are told this number reject the old holder at once.

If the lock has passed to another holder since it was shown, oid breaks nothing. If the lock
is free, oid says so and exits with 0. To free one slot, write the name of the slot, such as
NAME#2. A tick of --once whose lock is broken counts as one whose host died.

A lock in files ends only with the processes that hold it: oid says which ones to end.`

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
