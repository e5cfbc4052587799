package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/oidkit/oid/cmd/oid/internal/job"
	"github.com/oidkit/oid/internal/failure"
	"github.com/oidkit/oid/lock"
)

// lockOptions say how long to wait for a lock, and how to run a command under it.
type lockOptions struct {
	limited  bool          // --wait was given
	wait     time.Duration // --wait; 0 means not to wait
	skips    bool          // --skipped was given
	skipCode int           // --skipped
	ttl      time.Duration
	acquire  lock.AcquireOptions
	grace    time.Duration // from SIGTERM to SIGKILL when the lock cannot be renewed, or after max
	max      time.Duration // how long the command may run; 0 for no limit
	leave    bool          // release the lock when the command itself ends
	once     onceFlags
	slots    int // 0 for a lock without slots
}

// mayPass reports whether err says that the backend could not be reached, did not answer, or
// refuses requests for a while. oid retries only after such errors; others, such as a wrong
// password, would come again.
func mayPass(err error) bool { return failure.Of(err).Retry() }

// commandLine returns the command line that --status shows. It omits the flags of oid lock,
// because --locks may contain a password.
func commandLine(name string, command []string) string {
	words := append([]string{"oid", "lock", name, "--"}, command...)
	for i, w := range words {
		if w == "" || strings.ContainsFunc(w, func(r rune) bool { return r == ' ' || r == '"' || !unicode.IsPrint(r) }) {
			words[i] = strconv.Quote(w)
		}
	}
	return strings.Join(words, " ")
}

// connectTime is how long oid without --wait tries to reach the backend of the locks. A
// failover takes some seconds, but a wrong address should be noticed.
const connectTime = 10 * time.Second

// answerTime is how long oid with --wait 0 waits for the backend.
const answerTime = 3 * time.Second

// connectPause is the pause between two attempts to reach the backend.
const connectPause = 100 * time.Millisecond

// open opens the backend of the locks. The error says why that failed, or that oid would wait
// for itself. The Locker is nil if the backend could not be opened; otherwise the caller must
// close it, even after an error.
func (o lockOptions) open(ctx context.Context, std streams, engine lockEngine, url, name string) (lock.Locker, error) {
	connecting := ctx
	if !o.limited {
		limited, cancel := context.WithTimeout(ctx, connectTime)
		defer cancel()
		connecting = limited
	}
	l, err := engine.open(connecting, std, url, o.ttl)
	for warned := false; err != nil && mayPass(err) && !o.noWait() && connecting.Err() == nil; warned = true {
		if !warned {
			std.warn("warning: %v; trying again", unanswered(url, err))
		}
		time.Sleep(connectPause)
		// If the time is over, the error of the earlier attempt says more.
		if again, failed := engine.open(connecting, std, url, o.ttl); failed == nil || connecting.Err() == nil {
			l, err = again, failed
		}
	}
	if err != nil {
		return nil, err
	}
	if err = refuseNested(ctx, l, name); err == nil && o.slots > 0 {
		l = lock.Slots(l, o.slots)
	}
	return l, err
}

// noWait reports whether --wait is 0.
func (o lockOptions) noWait() bool { return o.limited && o.wait == 0 }

// waitLeft returns how much of the time of --wait is left. It is 0 if --wait was not given, and
// negative if oid must not wait.
func (o lockOptions) waitLeft(ctx context.Context) time.Duration {
	end, limited := ctx.Deadline()
	switch {
	case o.noWait():
		return -1
	case limited:
		return max(time.Until(end), time.Millisecond)
	}
	return 0
}

// untilCommand returns the context of the time before the command runs. It also returns a
// function that ends that time and returns the signal or error that interrupted it, if any:
//
//	                     before end         after end
//	a signal             ctx ends           is for the command
//	the end of parent    ctx ends           is ignored, because a signal causes it
//
// No signal is lost in between: when end returns, the goroutine that receives signals has
// returned, and a signal that it has received is the cause of ctx.
func untilCommand(parent context.Context, signals <-chan os.Signal) (ctx context.Context, end func() error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	over := make(chan struct{})
	var receiver sync.WaitGroup
	receiver.Go(func() {
		select {
		case s := <-signals:
			cancel(interrupted{s})
		case <-parent.Done():
			cancel(context.Cause(parent))
		case <-over:
		}
	})
	return ctx, sync.OnceValue(func() error {
		close(over)
		receiver.Wait()
		if parent.Err() != nil { // maybe by a signal that came before signals was made
			cancel(context.Cause(parent))
		}
		return context.Cause(ctx)
	})
}

// lockAndRun runs a command while holding a lock, unless parent has ended.
func lockAndRun(parent context.Context, std streams, engine lockEngine, url, name string, o lockOptions, command []string) error {
	signals := job.CatchSignals()
	defer signal.Stop(signals)
	ctx, end := untilCommand(parent, signals)
	work := func(lease *lock.Lease, env ...string) error {
		if err := end(); err != nil {
			return err
		}
		return runUnder(std, lease, o, signals, command, env)
	}
	began, limited, cancel := time.Now(), ctx, func() {}
	if o.noWait() {
		limited, cancel = context.WithTimeout(ctx, answerTime)
	} else if o.limited { // connecting and waiting together
		limited, cancel = context.WithTimeout(ctx, o.wait)
	}
	defer cancel()
	l, err := o.open(limited, std, engine, url, name)
	if l != nil {
		defer l.Close()
	}
	switch {
	case err != nil: // no lock
	case o.once.text != "":
		err = o.once.run(ctx, parent, std, l, name, o.waitLeft(limited), o.acquire, work)
	default:
		err = o.hold(limited, std, l, name, work)
	}
	return o.result(err, end(), url, time.Since(began).Round(time.Millisecond))
}

// result returns the error of oid lock with its exit code. err is the error of the command,
// or says why the command did not run; took is the time until then. interruption is the
// result of the function end of [untilCommand].
func (o lockOptions) result(err, interruption error, url string, took time.Duration) error {
	held := (*lock.HeldError)(nil)
	switch {
	case err == nil, errors.As(err, new(exitError)), errors.As(err, new(interrupted)), errors.As(err, new(usageError)):
		return err
	case interruption != nil:
		return interruption
	case o.skips && (errors.Is(err, errOtherHost) || errors.Is(err, lock.ErrHeld) || errors.Is(err, lock.ErrTooLate)):
		return exitError{code: o.skipCode}
	case errors.Is(err, errOtherHost):
		return nil
	case errors.Is(err, lock.ErrTooLate):
		return exitError{exitNotLocked, err}
	case errors.As(err, &held):
		if o.wait > 0 && errors.Is(err, context.DeadlineExceeded) {
			what := "not"
			if o.slots > 0 {
				what = "no slot"
			}
			err = fmt.Errorf("%s free within %v (--wait): %w", what, o.wait, held)
		}
		if held.Slots > 1 {
			err = fmt.Errorf("%w; --status shows them all", err)
		}
		return exitError{exitNotLocked, err}
	case mayPass(err) && o.wait > 0:
		err = fmt.Errorf("no lock within %v (--wait): %w", o.wait, unanswered(url, err))
	case mayPass(err):
		err = fmt.Errorf("no lock within %v: %w", took, unanswered(url, err))
	}
	return exitError{exitLockFailed, err}
}

// refuseNested returns an error if oid runs under the same lock, or under a slot of it: it
// would wait for itself.
func refuseNested(ctx context.Context, l lock.Locker, name string) error {
	outer := outerOwners()
	if len(outer) == 0 {
		return nil
	}
	whole, err1 := l.Status(ctx, name)
	slots, err2 := lock.HeldSlots(ctx, l, name)
	for _, s := range append(slots, whole) {
		if s.Held && slices.Contains(outer, s.Owner.String()) {
			return fmt.Errorf("this command already runs under the lock %q, held by oid with pid %d: waiting for it might never end; use another name, or run the command without oid lock", s.Name, s.Owner.Process.PID())
		}
	}
	return errors.Join(err1, err2)
}

// killMargin is the part of the TTL that is left when oid kills a command. oid may be late on
// a busy machine, and a killed process may just be starting another. All of them must have
// ended before the lock ends.
const killMargin = 20

// hold takes the lock, calls work and releases the lock.
func (o lockOptions) hold(ctx context.Context, std streams, l lock.Locker, name string, work func(*lock.Lease, ...string) error) error {
	try := l.Acquire
	if o.noWait() {
		try = l.TryAcquire
	}
	lease, err := try(ctx, name, &o.acquire)
	if err == nil && o.slots == 0 {
		err = excludeSlots(ctx, l, lease)
	}
	if err != nil {
		return err
	}
	err = work(lease)
	switch released := lease.Release(); {
	case errors.Is(released, lock.ErrLost), errors.Is(released, lock.ErrExpired):
		return exitError{exitLockLost, fmt.Errorf("the lock was lost while the command ran: %w", released)}
	case released != nil:
		std.warn("warning: %v", released)
	}
	return err
}

// runUnder runs a command under a lease. env are further variables of its environment.
func runUnder(std streams, lease *lock.Lease, o lockOptions, signals chan os.Signal, command, env []string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = std.in, std.out, std.err
	cmd.Env = append(lockEnvironment(lease), env...)
	end, failed := job.Run(cmd, lease, signals, job.Options{
		Margin: o.ttl / killMargin, Grace: o.grace, Max: o.max, Leave: o.leave,
		Expiring: func(left time.Duration) {
			std.warn("the lock cannot be renewed and ends in %v; ending the command", left.Round(time.Millisecond))
		},
		Left: func() {
			std.warn("the command has ended; the lock is held until the processes that it left have ended too (see --leave)")
		},
		Refused: func(err error) { std.warn("the command cannot be ended: %v", err) },
	})
	switch {
	case end.Lost && failed != nil:
		return exitError{exitLockLost, fmt.Errorf("the lock was lost before the command began: %w", failed)}
	case end.Lost:
		return exitError{exitLockLost, errors.New("the command was ended because the lock could not be renewed")}
	case end.Late:
		return exitError{exitTooLong, fmt.Errorf("the command was ended because it ran for %v (--max)", o.max)}
	case failed != nil:
		code := exitCannotRun
		if errors.Is(failed, fs.ErrNotExist) {
			code = exitNotFound
		}
		for inner := failed; inner != nil; inner = errors.Unwrap(inner) {
			failed = inner // without the names of system calls
		}
		return exitError{code, fmt.Errorf("run %q: %w", command[0], failed)}
	case end.Signal != 0:
		return interrupted{end.Signal}
	case end.Code != 0:
		return exitError{code: end.Code}
	}
	return nil
}

// Variables in the environment of a command that runs under a lock.
const (
	lockNameVariable     = "OID_LOCK_NAME"
	lockOwnerVariable    = "OID_LOCK_OWNER"
	lockFenceVariable    = "OID_LOCK_FENCE"
	lockDeadlineVariable = "OID_LOCK_DEADLINE"
	lockSlotVariable     = "OID_LOCK_SLOT"
	lockOuterVariable    = "OID_LOCK_OUTER"
)

// lockEnvironment returns the environment of a command that runs under a lease.
func lockEnvironment(lease *lock.Lease) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "OID_LOCK_") })
	env = append(env,
		lockNameVariable+"="+lease.Name(),
		lockOwnerVariable+"="+lease.Owner().String(),
		lockFenceVariable+"="+strconv.FormatUint(lease.Fence(), 10))
	if d := lease.Deadline(); !d.IsZero() {
		env = append(env, lockDeadlineVariable+"="+d.UTC().Format(time.RFC3339Nano))
	}
	if slot := lease.Slot(); slot >= 0 {
		env = append(env, lockSlotVariable+"="+strconv.Itoa(slot))
	}
	if outer := outerOwners(); len(outer) > 0 {
		env = append(env, lockOuterVariable+"="+strings.Join(outer, " "))
	}
	return env
}

// outerOwners returns the owners of the locks under which oid itself runs, innermost first.
func outerOwners() []string {
	innermost := os.Getenv(lockOwnerVariable)
	if _, err := lock.ParseOwner(innermost); err != nil {
		return nil
	}
	return append([]string{innermost}, strings.Fields(os.Getenv(lockOuterVariable))...)
}
