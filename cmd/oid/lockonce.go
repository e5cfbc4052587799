package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/lock"
)

// onceHelp is the help topic about --once.
const onceHelp = `With --once, the command of "oid lock" runs at most once per tick, however many hosts call
oid lock at about the same time, as their crontabs do. A tick is one due run. SCHEDULE says
when ticks are due:

  10m             every 10 minutes; a period that divides a day begins at midnight UTC
  '30 2 * * *'    the five fields of a crontab
  @daily          midnight; also @hourly, @weekly, @monthly and @yearly
  key=2026-11-24  a single tick with a name of your own

The fields and the words with @ are in the time zone of --tz or, without --tz, of this
host. Give --tz if the hosts have different zones. 'CRON_TZ=Europe/Berlin 30 2 * * *' does
the same.

Each call is for the tick nearest to now, but never for a tick that is over an hour ahead.
The time is that of the server that keeps the lock; for locks in files and SQLite it is
that of this host. Clocks may differ by a third of the time between two ticks, and by an
hour at most.

oid refuses a call with 111 at a time when clocks that differ a little would choose
different ticks. If two ticks are at least 130 minutes apart, that is from 70 to 60 minutes
before the later one. If they are closer, it is near the midpoint between them: up to a
twelfth of the time between them before and after it, and at most 5 minutes.

OID_LOCK_TICK in the environment of the command is the tick: its time (RFC 3339, UTC) or
its key.

If another host has run the tick, or is running it, oid prints nothing and exits with 0
or, with --skipped CODE, with CODE. --status names that host.

A tick is done when its command exits with 0. If the command fails or its host dies, the
tick is not run again. With --retry N, it may be run again up to N times: the other hosts
wait for the outcome, and one of them runs the tick again.

If ticks become due while an earlier command still runs, the last 15 of them are run after
it, oldest first. With --wait 0 they are missed instead. If no host calls for a tick, it is
missed too. With --catch-up N, oid runs the last N missed ticks before the tick of the
call; N is at most 16.

oid remembers the last 16 ticks and the last 16 keys of each lock. --status shows them, and
the ticks that were missed or are due. An older key runs again. With --format prometheus,
--status writes them as metrics, for the textfile collector of node_exporter.

This is not "exactly once". A host may die when its command has done its work and that is
not yet recorded. A server that loses its data, as Redis without persistence does, forgets
which ticks have run. If no earlier run is recorded, oid says so on stderr and runs the
command.`

// lockTickVariable contains the tick, in the environment of a command.
const lockTickVariable = "OID_LOCK_TICK"

// onceFlags are --once and the flags that need it.
type onceFlags struct {
	text     string
	schedule lock.Schedule
	retry    int
	catchUp  int
}

// errOtherHost says that another host has run the tick or is running it.
var errOtherHost = errors.New("another host has the tick")

func (o *onceFlags) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.text, "once", "", "run at most once per tick of `SCHEDULE` on all hosts")
	cmd.Flags().IntVar(&o.retry, "retry", 0, "rerun a failed tick up to `N` times")
	cmd.Flags().IntVar(&o.catchUp, "catch-up", 0, "before this tick, run up to `N` missed ones")
}

// check checks the flags and parses --once.
func (o *onceFlags) check(cmd *cobra.Command, z *zone) (err error) {
	for _, name := range []string{"retry", "catch-up"} {
		if cmd.Flags().Changed(name) && !cmd.Flags().Changed("once") {
			return usagef("--%s needs --once", name)
		}
	}
	switch {
	case !cmd.Flags().Changed("once"):
		return nil
	case o.retry < 0:
		return usagef("--retry %d: want 0 or more", o.retry)
	case o.catchUp < 0 || o.catchUp > 16:
		return usagef("--catch-up %d: want 0 to 16", o.catchUp)
	case o.catchUp > 0 && strings.HasPrefix(o.text, "key="):
		return usagef("--catch-up needs a period or a cron expression: a key has no ticks before it")
	}
	if _, err = lock.ParseSchedule(o.text); err == nil { // so that an error quotes the text as it was given
		o.schedule, err = lock.ParseSchedule(inZone(o.text, z))
		if err != nil && z.chosen != nil {
			return usagef("--tz %v: --once needs the name of a zone, such as Europe/Berlin", z.chosen)
		}
	}
	if err != nil {
		return usageError{fmt.Errorf("--once: %w", err)}
	}
	return nil
}

// inZone returns the schedule text with a time zone, if it is a cron expression without one:
// the zone of --tz or, without --tz, of this host, as cron does.
func inZone(text string, z *zone) string {
	if !strings.ContainsAny(text, " @") || strings.HasPrefix(text, "key=") || strings.HasPrefix(text, "TZ=") || strings.HasPrefix(text, "CRON_TZ=") {
		return text
	}
	name := time.Local.String()
	if z.chosen != nil {
		name = z.chosen.String()
	}
	if name == "Local" { // "Local" says nothing to other hosts
		path, _ := os.Readlink("/etc/localtime")
		if _, of, found := strings.Cut(path, "/zoneinfo/"); found {
			name = of
		}
	}
	return "CRON_TZ=" + name + " " + text
}

// Error returns the text of the error, or names the code if there is none.
func (e exitError) Error() string {
	if e.error == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.error.Error()
}

// ExitCode returns the exit code, for the record of [lock.Once].
func (e exitError) ExitCode() int { return e.code }

// ExitCode returns the exit code by which shells show a signal.
func (i interrupted) ExitCode() int {
	number, _ := i.signal.(syscall.Signal)
	return 128 + int(number)
}

// run calls work if this host is to run the tick. wait is the rest of --wait: 0 means no
// limit, and a negative value means not to wait. When parent ends, no further tick begins.
func (o *onceFlags) run(ctx, parent context.Context, std streams, l lock.Locker, name string, wait time.Duration, acquire lock.AcquireOptions, work func(lease *lock.Lease, env ...string) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var ended error // of the last command that did not exit with 0
	r, err := lock.Once(ctx, l, name, o.schedule, func(_ context.Context, lease *lock.Lease, due lock.Run) error {
		if due.First {
			std.warn("no earlier run of %q is recorded: this is the first run, or the backend has lost the record", name)
		}
		err := work(lease, lockTickVariable+"="+due.Tick.String())
		if err != nil {
			ended = err
		}
		if errors.As(err, new(interrupted)) || parent.Err() != nil {
			stop() // no further ticks
		}
		return err
	}, &lock.OnceOptions{Retry: o.retry, CatchUp: o.catchUp, Wait: wait, Acquire: acquire})
	if errors.Is(err, lock.ErrLost) || errors.Is(err, lock.ErrExpired) {
		return exitError{exitLockLost, fmt.Errorf("the lock was lost while the command ran: %w", err)}
	}
	if errors.Is(err, lock.ErrUnrecorded) || err != nil && ended == nil && r.Here {
		std.warn("warning: %v", err)
	}
	switch {
	case ended != nil:
		return ended
	case !r.Here && parent.Err() != nil:
		return context.Cause(parent)
	case r.Here:
		return nil
	case err == nil:
		return errOtherHost
	}
	return err
}

// runLine describes a run to people.
func runLine(r lock.Run, now time.Time, z *zone) string {
	line := cmp.Or(phrase.Shown(r.Tick.Key), z.text(r.Tick.Time)) + " " + string(r.Outcome)
	if r.Attempt == 0 {
		return line
	}
	if r.ExitCode != nil && *r.ExitCode != 0 {
		line += fmt.Sprintf(" with exit code %d", *r.ExitCode)
	}
	if r.Host != "" {
		line += " on " + phrase.Shown(r.Host)
	}
	end := r.End
	if end.IsZero() {
		end = now
	}
	if r.Outcome != lock.OutcomeDied {
		line += fmt.Sprintf(", %v", max(0, end.Sub(r.Start)).Round(time.Millisecond))
	}
	if r.Attempt > 1 {
		line += fmt.Sprintf(", attempt %d", r.Attempt)
	}
	return line + fmt.Sprintf(", fence %d", r.Fence)
}
