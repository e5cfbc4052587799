package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/lock"
)

// slotsHelp is the help about --slots.
const slotsHelp = `With --slots N up to N commands of "oid lock" run at a time, on all hosts together. Each has a slot:
a number from 0 to N-1 that no other has meanwhile, such as the worker number of a
generator of Snowflake ids. Slot 2 of NAME is the lock NAME#2, which is its name in
OID_LOCK_NAME and --list, with fences of its own. oid waits in one queue for the slot that
is free first; the first of the queue has the lock NAME#queue. Give the same N everywhere:
oid takes slots below its own N only. A name that is held without --slots is refused with
--slots and the reverse, with 124 at once. With --status, --slots N says how many of N are
held.

  oid lock resize --slots 3 -- ./resize.sh`

// checkSlots checks --slots.
func checkSlots(cmd *cobra.Command, n int) error {
	switch {
	case !cmd.Flags().Changed("slots"):
		return nil
	case cmd.Flags().Changed("once"):
		return usagef("--slots does not go with --once: one host runs a tick")
	case n < 1 || n > lock.MaxSlots:
		return usagef("--slots %d: want 1 to %d", n, lock.MaxSlots)
	}
	return nil
}

// excludeSlots gives the lease of a lock back if slots of the lock are held.
func excludeSlots(ctx context.Context, l lock.Locker, lease *lock.Lease) error {
	held, err := lock.HeldSlots(ctx, l, lease.Name())
	if err == nil && len(held) > 0 {
		err = fmt.Errorf("in use with slots: %w", &lock.HeldError{Status: held[0]})
	}
	if err != nil {
		err = errors.Join(err, lease.Release())
	}
	return err
}

// slotWaiters returns how many wait for a slot of a lock. Where nobody counts the waiters,
// least is set if there may be more.
func slotWaiters(ctx context.Context, l lock.Locker, name string) (n int, least bool, err error) {
	queue, err := l.Status(ctx, name+"#queue")
	if n = queue.Waiters; queue.Held {
		n++ // the first
	}
	return n, queue.Held && queue.TTL == 0, err
}

// slotName matches the name of a slot, or of the queue for all slots of a lock.
var slotName = regexp.MustCompile(`^(.+)#(?:\d+|queue)$`)

// withoutSlot returns the name of the lock to which a slot belongs, or else the name.
func withoutSlot(name string) string { return slotName.ReplaceAllString(name, "$1") }
