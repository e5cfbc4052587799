package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/lock"
)

const lockHelp = `Run a command while holding the lock called NAME. oid waits until the lock is free,
runs the command, and releases the lock when all processes of the command have
ended. See also "oid help exit-codes".

  oid help lock-command  environment, signals, a lost lock
  oid help lock-ticks    --once
  oid help lock-slots    --slots
  oid help lock-break    --break`

// lockCommandHelp is the help topic about the command that runs under a lock.
const lockCommandHelp = `The command of "oid lock" runs in a process group of its own. If oid is in the foreground
of a terminal, so is the command. Ctrl-Z stops oid and the command together. The
environment of the command contains:
  OID_LOCK_NAME      the name of the lock; with --slots, that of the slot
  OID_LOCK_OWNER     the owner, as --status shows it
  OID_LOCK_FENCE     a fencing token: a number greater than that of every earlier
                     holder. A resource that rejects lower numbers is safe from
                     writes of stale holders
  OID_LOCK_DEADLINE  when the lock ends if it is not renewed again (RFC 3339); not
                     set for a lock in files
  OID_LOCK_TICK      the tick, with --once
  OID_LOCK_SLOT      the number of the slot, with --slots
  OID_LOCK_OUTER     the owners of the locks under which oid itself runs

The lock is held until all processes of the command have ended, even those that the
command leaves in the background, as with flock(1). On Linux and Windows these are all
descendants of the command, even in sessions of their own (su, setsid, daemons); on other
systems they are its process group. With --leave the lock is released when the command
itself ends.

oid passes signals on to the group, a sixth of a second late, except those that the command
has got already. For example "systemctl stop" signals all processes of a unit. A program
that looks for the file of oid, as "killall /usr/bin/oid" does, cannot be told from that:
send such a signal again within 10s, and oid passes it on.

If the command has ended and oid still waits for processes that it left, the first signal
to oid asks them to end, and the second kills them. Then oid dies of that signal too, so
that this does not look like success.

--wait limits how long oid waits for the lock and for the first answer of its server.
Without --wait, oid waits for the lock without a limit, and for the server for 10s. With
--wait 0, it does not wait for the lock. It waits 3s for an answer of the server, and fails
at once if the server refuses the connection. If the server stops answering while oid waits,
oid says so on stderr.

--skipped CODE is for cron and other schedulers. If somebody else holds the lock for all of
--wait, or another host has the tick of --once, oid prints nothing and exits with CODE.
Anything else is reported as usual: a server that does not answer, a lost lock, a command
that fails. This line of a crontab runs a job every minute, unless the last run goes on:
  * * * * *  oid lock report --wait 0 --skipped 0 -- /usr/local/bin/report

--ttl is how long a lock in Redis or a store stays held after its holder has crashed. A
lock in files ends with its holder.

--max limits how long the command, with the processes that it leaves, may run. After that
oid sends SIGTERM to all of them, and SIGKILL after --grace, releases the lock and exits
with 114. With --once, each tick has that time, and a tick that takes longer has failed.

If the lock cannot be renewed, oid sends SIGTERM to all these processes, and SIGKILL
after --grace. The default of --grace is a sixth of --ttl, and the limit is a third.
SIGKILL comes a twentieth of --ttl before another holder can get the lock. Then oid
exits with 113, whatever the command returns. oid cannot end processes of other users,
such as those of sudo, unless it runs as root.

If oid was stopped for so long that the lock has ended, it kills the command when it
continues. Ctrl-Z and SIGTSTP stop the command too, so the command does not run again.
SIGSTOP stops only oid, and the command continues without it. If a container or a machine
was frozen, the command continues until oid sees that the lock has ended. Meanwhile
another holder may run: only a resource that compares fencing tokens is safe from this.

On Linux the parent of the command is a second process of oid, the guard. If SIGKILL ends
oid, the guard kills the command and everything that it has started. A waiter on this
machine then gets the lock; a waiter on another machine gets it after the TTL, and so does
every waiter if the command had run for less than 0.1s. The guard cannot end processes of
other users, and names them on stderr. If SIGKILL ends both oid and the guard, or ends oid
on another system, the processes of the command continue. They keep a lock in files held,
but no other lock.

On Windows, Ctrl-C and Ctrl-Break reach the command too, so it can tidy up. If the lock is
lost, oid sends Ctrl-Break to the command instead of SIGTERM, and ends it after --grace.
A program that is not attached to oid's console does not get Ctrl-Break; it is only ended.
The command and all processes that it starts are in a job object: they keep the lock held
while they run, and Windows ends them if oid is ended.

A command that runs under a lock cannot take the same lock or a slot of it again, because
it might wait for itself. oid refuses that with 111.

If SIGINT, SIGTERM or SIGHUP ends the command, oid dies of the same signal. So Ctrl-C
also ends a shell script that runs oid.`

// lockCommand is one call of oid lock.
type lockCommand struct {
	std          streams
	where        locksFlag
	options      lockOptions
	status, list bool
	breaks, yes  bool
	asJSON       jsonFlag
	format       string
	zone         zone
}

// The values of --format.
const (
	formatText       = "text"
	formatPrometheus = "prometheus"
)

func newLockCommand(std streams) *cobra.Command {
	c := &lockCommand{std: std}
	o := &c.options
	cmd := &cobra.Command{
		Use:   "lock NAME [flags] -- COMMAND [ARG...]",
		Short: "Run a command while holding a lock, or show who holds one",
		Long:  lockHelp,
		Example: `  oid lock nightly-report -- ./report.sh
  oid lock nightly-report --locks redis://cache:6379 --wait 10s -- ./report.sh
  oid lock nightly-report --wait 0 --skipped 0 -- ./report.sh
  oid lock nightly-report --once '0 3 * * *' -- ./report.sh
  oid lock --status nightly-report`,
		RunE: c.run,
	}
	c.where.addFlag(cmd)
	cmd.Flags().DurationVar(&o.ttl, "ttl", lock.DefaultTTL, "how long the lock stays held after its holder crashes")
	cmd.Flags().DurationVar(&o.wait, "wait", 0, "maximum wait for the lock")
	cmd.Flags().DurationVar(&o.grace, "grace", 0, "time from SIGTERM to SIGKILL (default ttl/6)")
	cmd.Flags().DurationVar(&o.max, "max", 0, "end COMMAND after this time")
	cmd.Flags().BoolVar(&o.leave, "leave", false, "release the lock when COMMAND ends, even if its children run")
	cmd.Flags().IntVar(&o.skipCode, "skipped", 0, "exit quietly with `CODE` if the lock is held or another host has the tick")
	o.once.addFlags(cmd)
	cmd.Flags().IntVar(&o.slots, "slots", 0, fmt.Sprintf("let up to `N` commands hold the lock, at most %d", lock.MaxSlots))
	cmd.Flags().BoolVar(&c.status, "status", false, "show who holds the locks NAME..., and their ticks")
	cmd.Flags().BoolVar(&c.list, "list", false, "show all held locks")
	cmd.Flags().BoolVar(&c.breaks, "break", false, "free the held lock NAME")
	cmd.Flags().BoolVar(&c.yes, "yes", false, "break without asking")
	c.asJSON.addFlag(cmd, jsonObjects)
	stringForms([]string{formatText, formatPrometheus}).addFlag(cmd, &c.format, "format", formatText, "with --status, write this `FORMAT`")
	c.zone.addFlag(cmd)
	return cmd
}

func (c *lockCommand) run(cmd *cobra.Command, args []string) error {
	c.status = c.status || c.breaks // the status comes first
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
	o.skips = cmd.Flags().Changed("skipped")
	switch {
	case o.limited && o.wait < 0:
		return usagef("--wait %v: want 0 or more", o.wait)
	case o.skipCode < 0 || o.skipCode > 255:
		return usagef("--skipped %d: want 0 to 255", o.skipCode)
	case o.skips && !o.limited && o.once.text == "":
		return usagef("--skipped without --wait: oid would wait without a limit; to skip at once, write --wait 0 --skipped %d", o.skipCode)
	}
	if cmd.Flags().Changed("max") && o.max <= 0 {
		return usagef("--max %v: want more than 0", o.max)
	}
	if err := checkTTL(cmd, o.ttl, &o.grace); err != nil {
		return err
	}
	o.acquire = lock.AcquireOptions{Command: commandLine(names[0], command), Group: true}
	return lockAndRun(cmd.Context(), c.std, engine, url, names[0], *o, command)
}

// splitLockArguments splits the arguments into the names of locks and the command.
func splitLockArguments(cmd *cobra.Command, args []string, show bool) (names, command []string) {
	if dash := cmd.ArgsLenAtDash(); dash > 0 || dash == 0 && !show {
		return args[:dash], args[dash:]
	}
	return args, nil
}

// check checks the arguments, and which flags may be combined.
func (c *lockCommand) check(cmd *cobra.Command, names, command []string) error {
	show := c.status || c.list
	switch {
	case c.yes && !c.breaks:
		return usagef("--yes needs --break")
	case c.breaks && len(names) == 0:
		return usagef("--break needs the name of a lock; oid lock --list shows all that are held")
	case c.status && c.list:
		return usagef("give only one of --status NAME, --list and --break NAME")
	case show && len(command) > 0:
		return usagef("--status, --list and --break run no command; leave out -- and what follows it")
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
		return exitError{exitNotFound, errors.New("the command after -- is empty, as if from a variable that is not set; write oid lock NAME -- COMMAND")}
	case bool(c.asJSON) && len(command) > 0:
		return usagef("--json works only with --status or --list: a command that runs under a lock prints its own output")
	case c.format == formatPrometheus && (!c.status || bool(c.asJSON)):
		return usagef("--format prometheus needs --status NAME, without --json")
	case show && cmd.Flags().Changed("once"):
		return usagef("--once needs a command; to see the ticks, write oid lock --status NAME without --once")
	case !cmd.Flags().Changed("slots"):
	case c.list:
		return usagef("--slots needs a command or --status; --list shows all held slots without --slots")
	case cmd.Flags().Changed("once"):
		return usagef("--slots and --once cannot be combined: only one host runs a tick")
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
		if of := lock.WithoutSlot(n); of != n && (!show || c.options.slots > 0) {
			return usagef("%q is the name of a slot of %q, which only --slots takes; choose another name, such as %q", n, of, strings.ReplaceAll(n, "#", "-"))
		}
	}
	return nil
}

// slotsHelp is the help topic about --slots.
const slotsHelp = `With --slots N, up to N commands of "oid lock" run under the lock NAME at the same time,
on all hosts together. Each has a slot: a number from 0 to N-1 that no other command has
at that time. It can be the worker number of a generator of Snowflake ids.

  oid lock resize --slots 3 -- ./resize.sh

Each slot is a lock with fencing tokens of its own: slot 2 of NAME is the lock NAME#2 in
--list and in OID_LOCK_NAME. Waiters wait in one queue for the first free slot. The first
waiter holds the lock NAME#queue. So oid refuses names that end in #queue or in # and a
number.

Use the same N everywhere: oid takes only slots below its own N.

A lock cannot be used with and without --slots at the same time. If NAME is held the other
way, oid exits with 112 at once. "oid lock --status NAME --slots N" shows how many of N
slots are held.`

// excludeSlots releases a lease if slots of its lock are held.
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
