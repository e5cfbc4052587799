// Package job runs a command, and all processes that it starts, only while a lease is held.
// Like a shell with job control, it gives the command a process group and the terminal, and
// stops and continues it.
package job

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Lease permits a command to run. A lock.Lease implements it.
type Lease interface {
	// Context returns a context that ends when the lease does.
	Context() context.Context
	// Deadline returns when the lease ends if it is not renewed again, or the zero Time if it
	// needs no renewal.
	Deadline() time.Time
	// Check returns nil while the lease is held.
	Check() error
	// SetGroup records the process group of the command. It may take a long time.
	SetGroup(pgid int) error
}

// Options say when to end a command, and what to report. All fields must be set. [Run] calls
// each function in a goroutine of its own, and waits for these goroutines before it returns.
type Options struct {
	Margin time.Duration // from SIGKILL to the deadline of the lease
	Grace  time.Duration // from SIGTERM to SIGKILL when the command is ended
	Max    time.Duration // end the command after this time; 0 for no limit
	Leave  bool          // do not wait for processes that the command leaves

	Expiring func(left time.Duration) // the lease ends in left, so the command is being ended
	Left     func()                   // the command has ended, but processes that it started run
	Refused  func(err error)          // processes of the command may not be signalled
}

// End is how a command ended.
type End struct {
	Lost   bool           // it was ended because the lease ended; ignore the other fields
	Late   bool           // it was ended after Options.Max; ignore the fields below
	Signal syscall.Signal // the signal that ended it, or that ended what it had left; or 0
	Code   int            // its exit code, if no signal ended it
}

// change says that a command has ended or was stopped, or who got a signal.
type change struct {
	ended   bool
	signal  syscall.Signal // the signal that ended it, or 0
	code    int            // its exit code, if no signal ended it
	stopped syscall.Signal // the signal that stopped it, or 0

	arrived syscall.Signal // a signal that has arrived, see receive, or 0
	shared  bool           // it was sent to the command too
}

// run is a command that runs under a lease.
type run struct {
	Options
	lease   Lease
	group   *group
	signals chan os.Signal

	end        change           // how the command ended
	inFront    bool             // it was the foreground job of the terminal when it ended
	lost       bool             // it is being ended because the lease ends
	late       bool             // it is being ended after Options.Max
	kill       <-chan time.Time // fires when to kill it
	kills      int              // how often it was killed
	refused    string           // text of the last error that was passed to Refused
	asked      int              // how many signals have asked what the command left to end
	ending     syscall.Signal   // the first of them
	received   map[os.Signal]time.Time
	background sync.WaitGroup
}

// Run runs a command in a process group of its own. If this process is in the foreground of
// the terminal, the command is too. Run passes on the signals of [CatchSignals]. It returns
// when the command and all processes that it has started have ended, which is before the
// lease ends. On Linux and Windows a second process of this program starts the command: a
// program that imports this package, and is started as such a process, does nothing else.
//
// An error says why the command did not start. If the lease had ended, End.Lost is set. If
// the program does not exist, the error wraps [fs.ErrNotExist].
func Run(cmd *exec.Cmd, lease Lease, signals chan os.Signal, o Options) (End, error) {
	catchStops(signals)
	if err := lease.Check(); err != nil { // this process may have been stopped for a while
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
	r := &run{Options: o, lease: lease, group: g, signals: signals, received: make(map[os.Signal]time.Time)}
	defer r.background.Wait()
	// After an error nothing is wrong except this: if this process is killed, the lock stays
	// held until its TTL has passed.
	ended := make(chan struct{})
	r.background.Go(func() {
		select {
		case <-ended: // as most commands, it ran so briefly that nobody needs to know
		case <-time.After(groupPause):
			_ = lease.SetGroup(g.lasting())
		}
	})
	r.wait()
	close(ended)
	if r.inFront && !r.lost && !r.late {
		g.share(r.end.signal)
	}
	end := End{r.lost, r.late, r.end.signal, r.end.code}
	if end.Signal == 0 && end.Code == 0 {
		end.Signal = r.ending // it ended the processes that the command left
	}
	return end, nil
}

// groupPause is how long a command runs before its process group is recorded.
const groupPause = 100 * time.Millisecond

// leftoverNotice is how long Run waits for processes that a command has left before it calls
// Left.
const leftoverNotice = time.Second

// wait returns when the command, and everything that Run waits for, has ended. A channel that
// is nil never fires, so the channels are the state:
//
//	channel        fires
//	leaseEnd       once, when the lease ends
//	expiring       before the deadline of the lease, if it has one and lost is not set
//	late           once, if there is a maximum
//	kill           after endCommand; again and again until wait returns
//	gone, notice   after the command itself has ended; wait does not return before that
//
// Once lost is set it stays set: a lease that is renewed later does not save the command.
func (r *run) wait() {
	leaseEnd := r.lease.Context().Done()
	var gone <-chan struct{}
	var notice, late <-chan time.Time
	if r.Max > 0 {
		late = time.After(r.Max)
	}
	for gone == nil || r.lost || r.late || !r.Leave {
		select {
		case c := <-r.group.changes:
			switch {
			case c.arrived != 0:
				r.passOn(c.arrived, c.shared)
			case c.ended:
				r.end = c
				r.inFront = r.group.commandEnded()
				gone, notice = r.group.gone, time.After(leftoverNotice)
			case c.stopped != 0:
				r.group.commandStopped(c.stopped, r.held)
			}
		case s := <-r.signals:
			r.receive(s)
		case <-late:
			if !r.lost {
				r.late = true
				r.endCommand(r.Grace)
			}
		case <-r.expiring():
			if left := r.untilKill(); left <= r.Grace { // it was not renewed meanwhile
				r.background.Go(func() { r.Expiring(max(left+r.Margin, 0)) })
				r.lost = true
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
			r.lost = true
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

// held reports whether the command may continue after this process was stopped. If the lease
// has ended, it kills the command and returns false.
func (r *run) held() bool {
	if r.lease.Check() == nil {
		return true
	}
	r.lost = true
	r.endCommand(0)
	return false
}

// expiring returns a channel that fires when the command must be asked to end, or nil if the
// command is already being ended. If it is already time, the channel is ready at once, so
// that other events cannot come first.
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

// untilKill returns the time until the command must be killed if the lease is not renewed.
// The lease must have a deadline.
func (r *run) untilKill() time.Duration { return time.Until(r.lease.Deadline()) - r.Margin }

// endCommand asks the command to end, unless it has been asked already, and kills it after
// left. If left is not positive, it kills the command at once.
func (r *run) endCommand(left time.Duration) {
	asked := r.kill != nil
	switch {
	case left <= 0:
		r.killAll()
	case r.kills == 0:
		r.kill = time.After(left)
		if !asked {
			r.check(r.group.terminate())
		}
	}
}

// killAll kills all processes of the command, and does so again after a pause.
func (r *run) killAll() {
	err := r.group.kill()
	if r.kills == 0 {
		r.check(err)
	}
	r.kill = time.After(min(time.Millisecond<<min(r.kills, 10), time.Second))
	r.kills++
}

// check reports an error of signalling the command, unless it was the last one reported.
func (r *run) check(err error) {
	if err != nil && err.Error() != r.refused {
		r.refused = err.Error()
		r.background.Go(func() { r.Refused(err) })
	}
}
