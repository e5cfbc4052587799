package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/lock"
)

// slotsHelp is the help about --slots.
const slotsHelp = `With --slots N up to N commands of "oid lock" run under the lock NAME at a time, on all
hosts together. Each has a slot: a number from 0 to N-1 that no other command has at that
time. It can be the worker number of a generator of Snowflake ids.

  oid lock resize --slots 3 -- ./resize.sh

Slot 2 of NAME is the lock NAME#2: --list and OID_LOCK_NAME show this name, and it has
fences of its own. So oid takes no lock whose own name ends in # and a number, or in
#queue.

oid waits in one queue for the first slot that is free. The first waiter has the lock
NAME#queue. Use the same N everywhere: oid takes only slots below its own N.

While NAME is held without --slots, oid cannot take a slot of it, and the reverse. It then
ends with 124 at once. "oid lock --status NAME --slots N" shows how many of N slots are
held.`

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

// withoutSlot returns the name of the lock to which a slot belongs, or the queue for its
// slots, or else the name.
func withoutSlot(name string) string {
	i := strings.LastIndexByte(name, '#')
	if _, err := strconv.ParseUint(name[i+1:], 10, 64); i > 0 && (err == nil || name[i+1:] == "queue") {
		return name[:i]
	}
	return name
}
