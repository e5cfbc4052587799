package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/lock"
)

// Variables in the environment of a command that runs under a lock.
const (
	lockNameVariable     = "OID_LOCK_NAME"
	lockOwnerVariable    = "OID_LOCK_OWNER"
	lockFenceVariable    = "OID_LOCK_FENCE"
	lockDeadlineVariable = "OID_LOCK_DEADLINE"
)

// lockEnvironment returns the environment of a command that runs under lease.
func lockEnvironment(lease *lock.Lease) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "OID_LOCK_") { // of a lock further out
			env = append(env, v)
		}
	}
	env = append(env,
		lockNameVariable+"="+lease.Name(),
		lockOwnerVariable+"="+lease.Owner().String(),
		lockFenceVariable+"="+strconv.FormatUint(lease.Fence(), 10))
	if d := lease.Deadline(); !d.IsZero() {
		env = append(env, lockDeadlineVariable+"="+d.UTC().Format(time.RFC3339Nano))
	}
	return env
}

// runUnder runs a command in a process group of its own, and sees to it that the
// group has ended when the lease does.
func runUnder(std streams, lease *lock.Lease, grace time.Duration, signals <-chan os.Signal, command []string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = std.in, std.out, std.err
	cmd.Env = lockEnvironment(lease)
	restore := ownGroup(cmd, std.in)
	defer restore()
	// The kernel kills the command when the thread that has started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			return exitError{exitNotFound, err}
		}
		return exitError{exitCannotRun, err}
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	group := processGroup(cmd.Process.Pid)
	lost := lease.Context().Done()
	var kill <-chan time.Time // when to kill a command that was asked to end
	term := func(left time.Duration) {
		group.terminate()
		kill = time.After(left)
	}
	for {
		var expiring <-chan time.Time
		if d := lease.Deadline(); !d.IsZero() && kill == nil {
			expiring = time.After(time.Until(d) - grace)
		}
		select {
		case err := <-ended:
			return endOf(cmd, err)
		case s := <-signals:
			group.signal(s)
		case <-expiring:
			if left := time.Until(lease.Deadline()); left <= grace { // it was not renewed meanwhile
				fmt.Fprintf(std.err, "oid: the lock cannot be renewed; it ends in %v\n", left.Round(time.Millisecond))
				term(left)
			}
		case <-lost:
			lost = nil
			// If another has the lock already, the less time the better. If it has
			// merely vanished, nobody could have it before the deadline.
			if kill == nil && errors.Is(lease.Check(), lock.ErrLost) {
				term(min(grace, max(0, time.Until(lease.Deadline()))))
			} else {
				group.kill()
			}
		case <-kill:
			group.kill()
		}
	}
}

// endOf returns nil if a command ended with 0, and otherwise what makes oid end
// like it.
func endOf(cmd *exec.Cmd, err error) error {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &exit):
		return exitError{exitLockFailed, fmt.Errorf("run %s: %w", cmd.Path, err)}
	}
	if s, ok := endedBy(exit); ok {
		return signalled(s)
	}
	return exitError{code: exit.ExitCode()}
}
