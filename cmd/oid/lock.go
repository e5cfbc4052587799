package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/lock"
)

func newLockCommand(std streams) *cobra.Command {
	var (
		where        lockerFlags
		wait, grace  time.Duration
		status, list bool
		asJSON       bool
	)
	cmd := &cobra.Command{
		Use:   "lock NAME [flags] -- COMMAND [ARG...]",
		Short: "Run a command while holding a lock, or see who holds one",
		Long: `Run a command while holding the lock called NAME, waiting for it first.

Locks are held by files in your data folder, among the programs of this machine
and user. With --redis or the variable OID_REDIS they are held in Redis, among
many machines.

The command runs in a process group of its own and gets the signals that oid gets.
It finds in its environment:
  OID_LOCK_NAME      the name
  OID_LOCK_OWNER     the owner, as --status shows it
  OID_LOCK_FENCE     a number above that of every holder before: a resource that
                     refuses writes with a number below one it has seen is safe
                     from holders of the past
  OID_LOCK_DEADLINE  until when the lock is safe if it cannot be renewed any more
                     (RFC 3339; in Redis only)

When the lock cannot be renewed, the command gets SIGTERM a --grace before that
deadline and SIGKILL at it, so that it has ended before another may have the lock.
Should oid itself be killed with SIGKILL, the command is killed as well (on
Linux), though not what it has started.

A Redis that cannot be reached when oid begins is an error; once it has been, oid
waits for it to come back.

Exit codes: that of the command, or 128 plus the number of the signal that ended
it; 123 the lock was lost; 124 it was not acquired in time; 125 oid failed; 126 the
command could not be run; 127 it was not found; 2 wrong use.`,
		Example: `  oid lock nightly-report -- ./report.sh
  oid lock nightly-report --redis redis://cache:6379 --wait 10s -- ./report.sh
  oid lock --status nightly-report
  oid lock --list --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dash := cmd.ArgsLenAtDash()
			name, command := args, []string(nil)
			if dash >= 0 {
				name, command = args[:dash], args[dash:]
			}
			switch {
			case status && list:
				return usagef("--status does not go with --list")
			case (status || list) && len(command) > 0:
				return usagef("--status and --list run no command")
			case list && len(name) > 0:
				return usagef("--list takes no name")
			case status && len(name) == 0:
				return usagef("--status needs the name of a lock")
			case !status && !list && len(name) != 1:
				return usagef("%d names before --, want one; write oid lock NAME -- COMMAND", len(name))
			case !status && !list && len(command) == 0:
				return usagef("no command; write oid lock NAME -- COMMAND")
			case asJSON && len(command) > 0:
				return usagef("--json goes with --status and --list")
			}
			for _, n := range name {
				if err := lock.CheckName(n); err != nil {
					return usageError{err}
				}
			}
			if status || list {
				return showLocks(cmd.Context(), std, where, name, asJSON)
			}
			limit := waitLimit{wait, cmd.Flags().Changed("wait")}
			if limit.set && wait < 0 {
				return usagef("--wait %v: want 0 or more", wait)
			}
			if grace, err := where.grace(cmd, grace); err != nil {
				return err
			} else {
				return lockAndRun(std, where, name[0], limit, grace, command)
			}
		},
	}
	where.addFlags(cmd)
	cmd.Flags().DurationVar(&wait, "wait", 0, "how long to wait for the lock; 0: not at all (default without end)")
	cmd.Flags().DurationVar(&grace, "grace", 0, "time between SIGTERM and SIGKILL when the lock cannot be renewed, up to a third of --ttl (default a sixth)")
	cmd.Flags().BoolVar(&status, "status", false, "show who holds the locks that are named")
	cmd.Flags().BoolVar(&list, "list", false, "show all locks that are held")
	cmd.Flags().BoolVar(&asJSON, "json", false, "show them as JSON, one object per line")
	return cmd
}

// waitLimit is how long to wait for a lock, if set.
type waitLimit struct {
	time.Duration
	set bool
}

// acquire waits for the lock.
func (w waitLimit) acquire(ctx context.Context, l lock.Locker, name string) (*lock.Lease, error) {
	switch {
	case !w.set:
		return l.Acquire(ctx, name)
	case w.Duration == 0:
		return l.TryAcquire(ctx, name)
	}
	ctx, cancel := context.WithTimeout(ctx, w.Duration)
	defer cancel()
	return l.Acquire(ctx, name)
}

// lockAndRun runs a command while holding a lock.
func lockAndRun(std streams, where lockerFlags, name string, limit waitLimit, grace time.Duration, command []string) error {
	signals := catchSignals()
	defer signal.Stop(signals)
	// Signals are passed on to the command once it runs. Until then they end the
	// waiting, and main's ctx with its own idea of signals is not needed.
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	waiting := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case s := <-signals:
			stop(signalled(s))
		case <-waiting:
		}
	}()
	var lease *lock.Lease
	l, err := where.open(ctx, std)
	if err == nil {
		defer l.Close()
		lease, err = limit.acquire(ctx, l, name)
	}
	close(waiting)
	<-watched
	switch interrupted := context.Cause(ctx); {
	case err == nil && interrupted != nil:
		return errors.Join(interrupted, lease.Release())
	case err == nil:
		return hold(std, lease, grace, signals, command)
	case interrupted != nil:
		return interrupted
	case errors.Is(err, lock.ErrHeld), errors.Is(err, context.DeadlineExceeded):
		return exitError{exitNotLocked, err}
	default:
		return exitError{exitLockFailed, err}
	}
}

// hold runs a command under a lease and releases that.
func hold(std streams, lease *lock.Lease, grace time.Duration, signals <-chan os.Signal, command []string) error {
	err := runUnder(std, lease, grace, signals, command)
	switch lost := lease.Release(); {
	case lost == nil:
	case errors.Is(lost, lock.ErrLost), errors.Is(lost, lock.ErrExpired):
		return exitError{exitLockLost, fmt.Errorf("the lock was lost while the command ran: %w", lost)}
	default:
		fmt.Fprintf(std.err, "oid: warning: %v\n", lost)
	}
	return err
}
