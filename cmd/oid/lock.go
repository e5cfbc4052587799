package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/lock"
)

const lockHelp = `Run a command while holding the lock called NAME. oid waits until the lock is
free, runs the command, and releases the lock when all its processes have ended. See
also "oid help exit-codes".

  oid help lock-command  environment, signals, a lost lock
  oid help lock-ticks    --once
  oid help lock-slots    --slots`

// lockCommandHelp is the help about the command that runs under a lock.
const lockCommandHelp = `The command of "oid lock" runs in a process group of its own, in the foreground of the
terminal if oid is there. oid passes signals on to the group; Ctrl-Z stops oid and the
command together. The environment of the command contains:
  OID_LOCK_NAME      the name of the lock
  OID_LOCK_OWNER     the owner, as --status shows it
  OID_LOCK_FENCE     a number higher than that of all earlier holders: a resource
                     that refuses lower numbers is safe from late writers
  OID_LOCK_DEADLINE  when the lock ends if it is never renewed (RFC 3339); missing
                     for a lock in a file
  OID_LOCK_TICK      the tick, with --once
  OID_LOCK_SLOT      the number of the slot, with --slots
  OID_LOCK_OUTER     the owners of the locks under which oid itself runs

The lock is held until all processes of the command have ended, also those that it
leaves in the background, as with flock(1). On Linux those count that descend from
the command, also in sessions of their own (su, setsid, daemons); elsewhere those of
its process group. With --leave it is released when the command itself ends.

--wait limits the time for the lock, without limit by default, and for an answer of the
server that has it, 10s by default; --wait 0 does not wait at all. --ttl is how long a lock in Redis or a store outlives
a holder that has crashed; one in a file ends with its holder.

If the lock cannot be renewed, oid sends all these processes SIGTERM, and SIGKILL
after the time --grace: a sixth of the TTL by default, a third at most. SIGKILL comes a twentieth of the TTL
before another holder can get the lock. oid then exits with 123, whatever the command
returns. It cannot end processes of other users, such as those of sudo, unless it runs as
root.

If Ctrl-Z or SIGTSTP has stopped oid and the command for so long that the lock has
ended, the command is killed before it continues. SIGSTOP stops oid alone: the
command continues, and oid kills it when oid itself continues and sees that the lock
has ended. After a container or machine was frozen, the command also continues until
oid sees that. Another holder may run meanwhile: only a resource that compares
fences is safe from this.

If SIGKILL ends oid itself, its guard kills the command and all that it has started: on
Linux a second process of oid, the parent of the command. Then a waiter on this machine
gets the lock, or another after the TTL. The guard names processes of other users that it
cannot end. If SIGKILL ends oid and the guard, or on other systems, processes that the
command has started continue. They hold a lock in a file, but not one elsewhere.

A command that runs under a lock or a slot cannot acquire the same lock again: it might
wait for itself. oid refuses that.

If SIGINT, SIGTERM or SIGHUP ends the command, oid dies of the same signal, so that
Ctrl-C also ends the shell script in which oid runs.`

func newLockCommand(std streams) *cobra.Command {
	var (
		where        locksFlag
		o            lockOptions
		status, list bool
		asJSON       jsonFlag
		zone         zone
	)
	cmd := &cobra.Command{
		Use:   "lock NAME [flags] -- COMMAND [ARG...]",
		Short: "Run a command while holding a lock, or show who holds one",
		Long:  lockHelp,
		Example: `  oid lock nightly-report -- ./report.sh
  oid lock nightly-report --locks redis://cache:6379 --wait 10s -- ./report.sh
  oid lock nightly-report --once '0 3 * * *' -- ./report.sh
  oid lock --status nightly-report`,
		ValidArgsFunction: where.completeLock,
		RunE: func(cmd *cobra.Command, args []string) error {
			names, command := args, []string(nil)
			switch dash := cmd.ArgsLenAtDash(); {
			case dash == 0 && len(args) > 1 && args[1] == "--": // -- NAME -- COMMAND, for a name that begins with -
				names, command = args[:1], args[2:]
			case dash == 0 && (status || list):
			case dash >= 0:
				names, command = args[:dash], args[dash:]
			}
			switch {
			case status && list:
				return usagef("--status does not go with --list")
			case (status || list) && len(command) > 0:
				return usagef("--status and --list run no command")
			case list && len(names) > 0:
				return usagef("--list takes no name")
			case status && len(names) == 0:
				return usagef("--status needs the name of a lock")
			case !status && !list && len(names) != 1:
				return usagef("%d names before --, want one; write oid lock NAME -- COMMAND", len(names))
			case !status && !list && len(command) == 0:
				return usagef("no command; write oid lock NAME -- COMMAND")
			case bool(asJSON) && len(command) > 0:
				return usagef("--json goes with --status and --list")
			case (status || list) && cmd.Flags().Changed("once"):
				return usagef("--once needs a command; --status shows its ticks without it")
			case (status || list) && cmd.Flags().Changed("slots"):
				return usagef("--slots needs a command; --status shows the slots without it")
			}
			if err := errors.Join(o.once.check(cmd, &zone), checkSlots(cmd, o.slots)); err != nil {
				return err
			}
			for _, n := range names {
				if err := lock.CheckName(n); err != nil {
					return usageError{err}
				}
			}
			engine, url, err := where.engine(cmd)
			if err != nil {
				return err
			}
			if status || list {
				return showLocks(cmd.Context(), std, engine, url, names, asJSON, &zone)
			}
			o.limited = cmd.Flags().Changed("wait")
			if o.limited && o.wait < 0 {
				return usagef("--wait %v: want 0 or more", o.wait)
			}
			if err := checkTTL(cmd, o.ttl, &o.grace); err != nil {
				return err
			}
			o.claim = lock.AcquireOptions{Command: commandLine(names[0], command), Group: true}
			return lockAndRun(cmd.Context(), std, engine, url, names[0], o, command)
		},
	}
	where.addFlag(cmd)
	cmd.Flags().DurationVar(&o.ttl, "ttl", lock.DefaultTTL, "how long a lock outlives a crashed holder, except in files")
	cmd.Flags().DurationVar(&o.wait, "wait", 0, "how long to wait (default without limit)")
	cmd.Flags().DurationVar(&o.grace, "grace", 0, "time from SIGTERM to SIGKILL when the lock is lost")
	cmd.Flags().BoolVar(&o.leave, "leave", false, "leave processes of the command behind")
	o.once.addFlags(cmd)
	cmd.Flags().IntVar(&o.slots, "slots", 0, fmt.Sprintf("how many may hold the lock at a time, up to %d", lock.MaxSlots))
	cmd.Flags().BoolVar(&status, "status", false, "show who holds the named locks, and their ticks")
	cmd.Flags().BoolVar(&list, "list", false, "show all held locks")
	asJSON.addFlag(cmd, jsonObjects)
	zone.addFlag(cmd)
	return cmd
}
