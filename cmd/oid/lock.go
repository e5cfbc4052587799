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

const lockHelp = `Run a command while holding the lock called NAME. oid waits until the lock is
free, runs the command, and releases the lock when all processes of the command have
ended. See also "oid help exit-codes".

  oid help lock-command  environment, signals, a lost lock
  oid help lock-ticks    --once
  oid help lock-slots    --slots`

// lockCommandHelp is the help about the command that runs under a lock.
const lockCommandHelp = `The command of "oid lock" runs in a process group of its own. If oid is in the foreground
of a terminal, so is the command. oid passes signals on to the group. Ctrl-Z stops oid
and the command together. The environment of the command contains:
  OID_LOCK_NAME      the name of the lock; with --slots, that of the slot
  OID_LOCK_OWNER     the owner, as --status shows it
  OID_LOCK_FENCE     a number that is higher than that of each earlier holder: a
                     resource that refuses lower numbers is safe from late writers
  OID_LOCK_DEADLINE  when the lock ends if it is never renewed (RFC 3339); not set
                     for a lock in a file
  OID_LOCK_TICK      the tick, with --once
  OID_LOCK_SLOT      the number of the slot, with --slots
  OID_LOCK_OUTER     the owners of the locks under which oid itself runs

The lock is held until all processes of the command have ended, also those that it
leaves in the background, as with flock(1). On Linux these are all descendants of the
command, also in sessions of their own (su, setsid, daemons); elsewhere they are its
process group. With --leave the lock is released when the command itself ends. After its
end, a signal to oid ends what it has left, and a second one kills it. Then oid dies of
that signal too, so that this does not look like success.

--wait limits the time for the lock and for the first answer of the server that has it:
by default, the lock has no limit and the server 10s. --wait 0 does not wait for the lock
and gives the server 3s. A server that stops answering while oid waits is named on
stderr. --ttl is how long a lock in Redis or a store outlives a holder that has crashed;
a lock in a file ends with its holder.

If the lock cannot be renewed, oid sends SIGTERM to all these processes, and SIGKILL
after --grace. The default of --grace is a sixth of --ttl, and the limit is a third.
SIGKILL comes a twentieth of --ttl before another holder can get the lock. Then oid
exits with 123, whatever the command returns. oid cannot end processes of other users,
such as those of sudo, unless it runs as root.

If Ctrl-Z or SIGTSTP has stopped oid and the command for so long that the lock has
ended, oid kills the command instead of continuing it. SIGSTOP stops only oid: the
command continues, and oid kills it when oid itself continues and the lock has ended.
After a container or a machine was frozen, the command also continues until oid sees
that the lock has ended. Another holder may run meanwhile. Only a resource that compares
fences is safe from this.

On Linux the parent of the command is a second process of oid, the guard. If SIGKILL ends
oid, the guard kills the command and all that it has started. Then a waiter on this
machine gets the lock; one on another machine gets it after the TTL. The guard cannot end
processes of other users, and names them. If SIGKILL ends oid and the guard, or oid on
another system, the processes of the command continue. They keep a lock in a file, but
not one elsewhere.

A command that runs under a lock or a slot cannot take the same lock again: it might
wait for itself. oid refuses that with 125.

If SIGINT, SIGTERM or SIGHUP ends the command, oid dies of the same signal. So Ctrl-C
also ends a shell script that runs oid.`

// lockCommand is a call of oid lock.
type lockCommand struct {
	std          streams
	where        locksFlag
	options      lockOptions
	status, list bool
	asJSON       jsonFlag
	zone         zone
}

func newLockCommand(std streams) *cobra.Command {
	c := &lockCommand{std: std}
	o := &c.options
	cmd := &cobra.Command{
		Use:   "lock NAME [flags] -- COMMAND [ARG...]",
		Short: "Run a command while holding a lock, or show who holds one",
		Long:  lockHelp,
		Example: `  oid lock nightly-report -- ./report.sh
  oid lock nightly-report --locks redis://cache:6379 --wait 10s -- ./report.sh
  oid lock nightly-report --once '0 3 * * *' -- ./report.sh
  oid lock --status nightly-report`,
		RunE: c.run,
	}
	c.where.addFlag(cmd)
	cmd.Flags().DurationVar(&o.ttl, "ttl", lock.DefaultTTL, "how long the lock outlives a crashed holder")
	cmd.Flags().DurationVar(&o.wait, "wait", 0, "wait for the lock at most this long")
	cmd.Flags().DurationVar(&o.grace, "grace", 0, "time from SIGTERM to SIGKILL when the lock is lost (default ttl/6)")
	cmd.Flags().BoolVar(&o.leave, "leave", false, "release the lock when COMMAND itself ends")
	o.once.addFlags(cmd)
	cmd.Flags().IntVar(&o.slots, "slots", 0, fmt.Sprintf("let up to `N` commands hold the lock, at most %d", lock.MaxSlots))
	cmd.Flags().BoolVar(&c.status, "status", false, "show who holds the named locks, and their ticks")
	cmd.Flags().BoolVar(&c.list, "list", false, "show all held locks")
	c.asJSON.addFlag(cmd, jsonObjects)
	c.zone.addFlag(cmd)
	return cmd
}

func (c *lockCommand) run(cmd *cobra.Command, args []string) error {
	names, command := splitLockArguments(cmd, args, c.status || c.list)
	if err := c.check(cmd, names, command); err != nil {
		return err
	}
	engine, url, err := c.where.engine()
	if err != nil {
		return err
	}
	if c.status || c.list {
		return c.show(cmd.Context(), engine, url, names)
	}
	o := &c.options
	o.limited = cmd.Flags().Changed("wait")
	if o.limited && o.wait < 0 {
		return usagef("--wait %v: want 0 or more", o.wait)
	}
	if err := checkTTL(cmd, o.ttl, &o.grace); err != nil {
		return err
	}
	o.acquire = lock.AcquireOptions{Command: commandLine(names[0], command), Group: true}
	return lockAndRun(cmd.Context(), c.std, engine, url, names[0], *o, command)
}

// splitLockArguments returns the names of locks and the command.
func splitLockArguments(cmd *cobra.Command, args []string, show bool) (names, command []string) {
	switch dash := cmd.ArgsLenAtDash(); {
	case dash == 0 && len(args) > 1 && args[1] == "--": // -- NAME -- COMMAND, for a name that begins with -
		return args[:1], args[2:]
	case dash >= 0 && !(dash == 0 && show):
		return args[:dash], args[dash:]
	}
	return args, nil
}

// check checks what goes with what.
func (c *lockCommand) check(cmd *cobra.Command, names, command []string) error {
	show := c.status || c.list
	switch {
	case c.status && c.list:
		return usagef("give --status NAME or --list, not both")
	case show && len(command) > 0:
		return usagef("--status and --list run no command; leave out -- and what follows it")
	case c.list && len(names) > 0:
		return usagef("--list takes no name; write oid lock --status NAME to see one lock")
	case c.status && len(names) == 0:
		return usagef("--status needs the name of a lock; write oid lock --status NAME, or oid lock --list for all")
	case !show && len(names) == 0:
		return usagef("no name; write oid lock NAME -- COMMAND")
	case !show && len(names) > 1:
		return usagef("%d names before --, want one; write oid lock NAME -- COMMAND", len(names))
	case !show && len(command) == 0:
		return usagef("no command; write oid lock NAME -- COMMAND")
	case !show && command[0] == "":
		return exitError{exitNotFound, errors.New("the command after -- is empty, as with a variable that is not set; write oid lock NAME -- COMMAND")}
	case bool(c.asJSON) && len(command) > 0:
		return usagef("--json goes with --status or --list; a command that runs under a lock prints its own output")
	case show && cmd.Flags().Changed("once"):
		return usagef("--once needs a command; --status shows its ticks without it")
	case !cmd.Flags().Changed("slots"):
	case c.list:
		return usagef("--slots goes with a command and with --status")
	case cmd.Flags().Changed("once"):
		return usagef("--slots does not go with --once: one host runs a tick")
	case c.options.slots < 1 || c.options.slots > lock.MaxSlots:
		return usagef("--slots %d: want 1 to %d", c.options.slots, lock.MaxSlots)
	}
	if err := c.options.once.check(cmd, &c.zone); err != nil {
		return err
	}
	for _, n := range names {
		if err := lock.CheckName(n); err != nil {
			return usageError{err}
		}
		if of := withoutSlot(n); of != n && (!show || c.options.slots > 0) {
			return usagef("%q is the name of a slot: --slots takes those of %q; use another name, such as %q", n, of, strings.ReplaceAll(n, "#", "-"))
		}
	}
	return nil
}

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

// excludeSlots gives the lease of a lock back if slots of the lock are held.
func excludeSlots(ctx context.Context, l lock.Locker, lease *lock.Lease) error {
	held, err := lock.HeldSlots(ctx, l, lease.Name())
	if err == nil && len(held) > 0 {
		err = fmt.Errorf("the lock is in use with slots: %w", &lock.HeldError{Status: held[0]})
	}
	if err != nil {
		err = errors.Join(err, lease.Release())
	}
	return err
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
