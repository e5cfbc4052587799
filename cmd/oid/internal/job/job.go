// Package job runs a command, with all that it starts, only as long as a lease holds.
// It does what a shell does for its jobs: process groups, the terminal, stopping.
package job

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Lease permits a command to run. A lock.Lease is one.
type Lease interface {
	// Context returns a context that ends when the lease does.
	Context() context.Context
	// Deadline returns when the lease ends if nothing renews it, or the zero Time if
	// it needs no renewal.
	Deadline() time.Time
	// Check returns nil while the lease holds.
	Check() error
	// SetGroup records the process group of the command. It may take long.
	SetGroup(pgid int) error
}

// Options say when a command is ended, and what is reported meanwhile: each report is
// made in a goroutine of its own, for which Run waits before it returns. All must be set.
type Options struct {
	Margin time.Duration // from the kill to the deadline of the lease
	Grace  time.Duration // from SIGTERM to SIGKILL when the lease is not renewed
	Leave  bool          // do not wait for what the command leaves running

	Expiring func(left time.Duration) // the command is asked to end: the lease ends so soon
	Left     func()                   // the command has ended, and what it has started runs
	Refused  func(err error)          // processes that cannot be signalled
}

// End is how a command ended.
type End struct {
	Lost   bool           // it was ended because of its lease; the rest does not matter
	Signal syscall.Signal // the signal that ended it or what it had left running, or 0
	Code   int            // its exit code, if no signal ended it
}

// change is what became of a command.
type change struct {
	ended   bool
	signal  syscall.Signal // that ended it, or 0
	code    int            // its exit code, if no signal ended it
	stopped syscall.Signal // that stopped it, or 0
}

// run is a command that runs under a lease.
type run struct {
	Options
	lease   Lease
	group   *group
	signals chan os.Signal

	end        change           // how the command ended
	inFront    bool             // it was the foreground job of the terminal then
	lost       bool             // it is being ended because of the lease
	kill       <-chan time.Time // when to kill it
	kills      int              // how often it was killed
	refused    string           // the last error of signalling that was reported
	asked      int              // signals that asked what the command left to end
	ending     syscall.Signal   // the first of them
	background sync.WaitGroup
}

// CatchUnlessIgnored relays signals to c, but none that was ignored when this process began,
// as SIGINT is in the background of a script.
func CatchUnlessIgnored(c chan<- os.Signal, all ...os.Signal) {
	for _, s := range all {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
}

// Run runs a command in a process group of its own, in the foreground of the terminal
// if this process is there, and passes on the signals of [CatchSignals]. It returns when
// all that the command has started has ended, which is before the lease does. On Linux
// a second process of this program adopts what the command leaves, see [Guard].
//
// An error says why the command did not begin: with Lost because the lease had ended,
// otherwise it wraps [fs.ErrNotExist] if there is no such program.
func Run(cmd *exec.Cmd, lease Lease, signals chan os.Signal, o Options) (End, error) {
	catchStops(signals)
	if err := lease.Check(); err != nil { // this process may have been stopped since it asked
		return End{Lost: true}, err
	}
	g, err := startGroup(cmd, signals)
	if errors.Is(err, syscall.ENOEXEC) { // a script without a first line that names its shell
		script := cmd
		cmd = exec.Command("/bin/sh", append([]string{script.Path}, script.Args[1:]...)...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = script.Stdin, script.Stdout, script.Stderr, script.Env
		g, err = startGroup(cmd, signals)
	}
	if errors.Is(err, exec.ErrNotFound) {
		err = fs.ErrNotExist // not in the folders of PATH either
	}
	if err != nil {
		return End{}, err
	}
	defer g.close()
	r := &run{Options: o, lease: lease, group: g, signals: signals}
	defer r.background.Wait()
	// An error only means that the lock is not freed before its TTL should this
	// process be killed.
	r.background.Go(func() { _ = lease.SetGroup(g.lasting()) })
	r.wait()
	if r.inFront && !r.lost {
		g.share(r.end.signal)
	}
	end := End{r.lost, r.end.signal, r.end.code}
	if end.Signal == 0 && end.Code == 0 {
		end.Signal = r.ending // what it left was not allowed to finish
	}
	return end, nil
}

// leftoverNotice is how long Run waits for what a command has left running before it
// reports that.
const leftoverNotice = time.Second

// wait returns when all that counts has ended. A channel that is nil never fires, and that
// is how the states differ:
//
//	channel        fires
//	leaseEnd       once, at the end of the lease
//	expiring       before the deadline of the lease, if it has one and lost is not set
//	kill           after endCommand alone, which sets lost: again and again until wait returns
//	gone, notice   after the command itself has ended; wait does not return before
//
// lost is never taken back: a lease that is renewed after it was set does not save the
// command.
func (r *run) wait() {
	leaseEnd := r.lease.Context().Done()
	var gone <-chan struct{}
	var notice <-chan time.Time
	for gone == nil || r.lost || !r.Leave {
		select {
		case c := <-r.group.changes:
			switch {
			case c.ended:
				r.end = c
				r.inFront = r.group.commandEnded()
				gone, notice = r.group.gone, time.After(leftoverNotice)
			case c.stopped != 0:
				r.group.commandStopped(c.stopped, r.held)
			}
		case s := <-r.signals:
			r.receive(s)
		case <-r.expiring():
			if left := r.untilKill(); left <= r.Grace { // it was not renewed meanwhile
				r.background.Go(func() { r.Expiring(max(left+r.Margin, 0)) })
				r.endCommand(left)
			}
		case <-leaseEnd:
			leaseEnd = nil
			left := r.Grace
			if r.kill != nil {
				left = 0
			} else if !r.lease.Deadline().IsZero() {
				left = min(left, r.untilKill())
			}
			r.endCommand(left)
		case <-r.kill:
			r.killAll()
		case <-gone:
			return
		case <-notice:
			if !r.lost {
				r.background.Go(r.Left)
			}
		}
	}
}

// held reports whether the command may go on after this process was stopped. If not,
// it kills the command.
func (r *run) held() bool {
	if r.lease.Check() == nil {
		return true
	}
	r.endCommand(0)
	return false
}

// expiring fires when the command must be asked to end, unless it was. When that is
// due it is ready at once, or what else happens without a pause would come first.
func (r *run) expiring() <-chan time.Time {
	if r.lease.Deadline().IsZero() || r.lost {
		return nil
	}
	left := r.untilKill() - r.Grace
	if left > 0 {
		return time.After(left)
	}
	due := make(chan time.Time, 1)
	due <- time.Now()
	return due
}

// untilKill returns the time until the command must be killed if the deadline of the
// lease, which has one, does not change.
func (r *run) untilKill() time.Duration { return time.Until(r.lease.Deadline()) - r.Margin }

// endCommand ends the command because of the lease: it asks the command to end
// and kills what is left of it later, or kills it at once if no time is left.
func (r *run) endCommand(left time.Duration) {
	r.lost = true
	if left <= 0 {
		r.killAll()
		return
	}
	r.kill = time.After(left)
	r.check(r.group.terminate())
}

// killAll kills what is left of the command, and again after a pause.
func (r *run) killAll() {
	err := r.group.kill()
	if r.kills == 0 {
		r.check(err)
	}
	r.kill = time.After(min(time.Millisecond<<min(r.kills, 10), time.Second))
	r.kills++
}

// receive acts on a signal to this process.
func (r *run) receive(s os.Signal) {
	switch {
	case r.group.stopOwn(s, r.held):
	case r.end.ended && endsPrograms(s): // what the command left may ignore s
		if r.asked++; r.asked == 1 {
			r.ending, _ = s.(syscall.Signal)
			r.check(r.group.terminate())
		} else {
			r.check(r.group.kill())
		}
	default:
		r.group.pass(s)
	}
}

// check reports, once, that the command cannot be signalled.
func (r *run) check(err error) {
	if err != nil && err.Error() != r.refused {
		r.refused = err.Error()
		r.background.Go(func() { r.Refused(err) })
	}
}
