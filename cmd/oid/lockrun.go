package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/oidkit/oid/lock"
)

// change is what became of a command.
type change struct {
	ended   bool
	signal  syscall.Signal // that ended it, or 0
	code    int            // its exit code, if no signal ended it
	stopped syscall.Signal // that stopped it, or 0
}

// lockRun is a command that runs under a lease.
type lockRun struct {
	std     streams
	lease   *lock.Lease
	group   *processGroup
	signals chan os.Signal
	margin  time.Duration // from the kill to the end of the lock
	grace   time.Duration
	leave   bool // do not hold the lock for what the command leaves running

	end        change           // how the command ended
	inFront    bool             // it was the foreground job of the terminal then
	lost       bool             // oid has begun to end the command: the lock is going
	kill       <-chan time.Time // when to kill it
	kills      int              // how often it was killed
	asked      int              // signals that asked what the command left to end
	background sync.WaitGroup
}

// runUnder runs a command in a process group of its own. It returns when the
// group has ended, which is before the lease does.
func runUnder(std streams, lease *lock.Lease, o lockOptions, signals chan os.Signal, command []string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = std.in, std.out, std.err
	cmd.Env = lockEnvironment(lease)
	catchStops(signals)
	if err := lease.Check(); err != nil { // oid may have been stopped since it asked
		return exitError{exitLockLost, fmt.Errorf("the lock was lost before the command began: %w", err)}
	}
	group, err := startGroup(cmd, signals)
	if errors.Is(err, syscall.ENOEXEC) { // a script without a first line that names its shell
		script := cmd
		cmd = exec.Command("/bin/sh", append([]string{script.Path}, command[1:]...)...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = script.Stdin, script.Stdout, script.Stderr, script.Env
		group, err = startGroup(cmd, signals)
	}
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			return exitError{exitNotFound, err}
		}
		return exitError{exitCannotRun, err}
	}
	defer group.close()
	r := &lockRun{std: std, lease: lease, group: group, signals: signals, margin: o.ttl / killMargin, grace: o.grace, leave: o.leave}
	defer r.background.Wait()
	// An error only means that the lock is not freed before its TTL should oid be
	// killed.
	r.background.Go(func() { _ = lease.SetGroup(group.id) })
	r.wait()
	switch {
	case r.lost:
		return exitError{exitLockLost, errors.New("the command was ended because the lock could not be renewed")}
	case r.end.signal != 0:
		if r.inFront {
			group.share(r.end.signal)
		}
		return interrupted{r.end.signal}
	case r.end.code != 0:
		return exitError{code: r.end.code}
	}
	return nil
}

// killMargin is the part of the TTL that is left when oid kills a command, so that
// all of it has ended before the lock does. oid may be late on a busy machine, and
// a process that is killed may be starting another.
const killMargin = 20

// leftoverNotice is how long oid waits for what a command has left running before
// it says so.
const leftoverNotice = time.Second

// wait returns when all that counts has ended.
func (r *lockRun) wait() {
	leaseEnd := r.lease.Context().Done()
	var poll, notice <-chan time.Time
	for {
		select {
		case c := <-r.group.changes:
			switch {
			case c.ended:
				r.end = c
				r.inFront = r.group.commandEnded()
				ticker := time.NewTicker(time.Second)
				defer ticker.Stop()
				poll, notice = ticker.C, time.After(leftoverNotice)
			case c.stopped != 0:
				r.group.commandStopped(c.stopped, r.held)
			}
		case <-r.group.again:
		case s := <-r.signals:
			r.receive(s)
		case <-r.expiring():
			if left := r.untilKill(); left <= r.grace { // it was not renewed meanwhile
				r.say("the lock cannot be renewed; it ends in %v", max(left+r.margin, 0).Round(time.Millisecond))
				r.endCommand(left)
			}
		case <-leaseEnd:
			leaseEnd = nil
			// If another has the lock already, the less time the better. If it has
			// merely vanished, nobody could have it before the deadline.
			left := time.Duration(0)
			if r.kill == nil && errors.Is(r.lease.Check(), lock.ErrLost) {
				left = min(r.grace, r.untilKill())
			}
			r.endCommand(left)
		case <-r.kill:
			r.killAll()
		case <-poll:
		case <-notice:
			if !r.lost {
				r.say("the command has ended; the lock is held until the processes that it left have ended too (see --leave)")
			}
		}
		if poll != nil && (r.leave && !r.lost || !r.group.remains()) {
			return
		}
	}
}

// held reports whether the command may go on after oid was stopped. If not, it
// kills the command.
func (r *lockRun) held() bool {
	if r.lease.Check() == nil {
		return true
	}
	r.endCommand(0)
	return false
}

// expiring fires when the command must be asked to end, unless it was. When that is
// due it is ready at once, or what else happens without a pause would come first.
func (r *lockRun) expiring() <-chan time.Time {
	if r.lease.Deadline().IsZero() || r.lost {
		return nil
	}
	left := r.untilKill() - r.grace
	if left > 0 {
		return time.After(left)
	}
	due := make(chan time.Time, 1)
	due <- time.Now()
	return due
}

// untilKill returns the time until the command must be killed, if the lock has a
// deadline that does not change.
func (r *lockRun) untilKill() time.Duration { return time.Until(r.lease.Deadline()) - r.margin }

// endCommand ends the command because of the lock: it asks the command to end
// and kills what is left of it later, or kills it at once if no time is left.
func (r *lockRun) endCommand(left time.Duration) {
	r.lost = true
	if left <= 0 {
		r.killAll()
		return
	}
	r.kill = time.After(left)
	r.check(r.group.terminate())
}

// killAll kills what is left of the command, and again after a pause.
func (r *lockRun) killAll() {
	err := r.group.kill()
	if r.kills == 0 {
		r.check(err)
	}
	r.kill = time.After(min(time.Millisecond<<min(r.kills, 10), time.Second))
	r.kills++
}

// receive acts on a signal to oid.
func (r *lockRun) receive(s os.Signal) {
	switch {
	case r.group.stopOwn(s, r.held):
	case r.end.ended && endsPrograms(s): // what the command left may ignore s
		if r.asked++; r.asked == 1 {
			r.check(r.group.terminate())
		} else {
			r.check(r.group.kill())
		}
	default:
		r.group.pass(s)
	}
}

// check says so if the command cannot be signalled.
func (r *lockRun) check(err error) {
	if err != nil {
		r.say("the command cannot be ended: %v", err)
	}
}

// say writes a line to stderr, which may be blocked: the command must be ended in
// time all the same.
func (r *lockRun) say(format string, args ...any) {
	r.background.Go(func() { fmt.Fprintf(r.std.err, "oid: "+format+"\n", args...) })
}
