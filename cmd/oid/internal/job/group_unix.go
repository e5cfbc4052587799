//go:build unix

package job

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

// CatchSignals returns a channel for the signals that are passed on to a command.
// If SIGHUP or SIGINT was ignored when oid began, as under nohup and in the background of
// a script, it stays ignored in the command too.
func CatchSignals() chan os.Signal {
	signals := make(chan os.Signal, 16)
	CatchUnlessIgnored(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	return signals
}

// inOwnGroup makes cmd run in a process group of its own. It replaces cmd.SysProcAttr.
func inOwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endsPrograms reports whether s is a signal by which programs are asked to end.
func endsPrograms(s os.Signal) bool { return s != syscall.SIGUSR1 && s != syscall.SIGUSR2 }

// group is a command that runs in a process group of its own, with all
// that it has started, on Linux also in groups and sessions of its own. One goroutine
// uses it.
type group struct {
	id       int           // of the group, and the pid of the command
	changes  chan change   // what becomes of the command
	gone     chan struct{} // closed when all of it has ended
	terminal *terminal     // nil if oid has none
	signals  chan os.Signal
	frozen   []int         // processes of other groups that stop has stopped
	done     chan struct{} // closed by close
	guard    guard
}

// process is a process that runs, or is stopped.
type process struct {
	pid     int
	name    string // of its program
	member  bool   // of the group
	stopped bool
}

// catchStops sends the signals that stop jobs to signals too. Without it they stop
// oid alone, as is right while it waits for the lock.
func catchStops(signals chan os.Signal) {
	CatchUnlessIgnored(signals, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
}

// startGroup starts cmd. The caller has called [catchStops] and calls close.
func startGroup(cmd *exec.Cmd, signals chan os.Signal) (*group, error) {
	g := &group{changes: make(chan change), gone: make(chan struct{}), signals: signals, done: make(chan struct{})}
	inOwnGroup(cmd)
	g.terminal = openTerminal(signals)
	if g.terminal.isForeground(g.terminal.ownGroup()) && !inPipeline(cmd) {
		cmd.SysProcAttr.Foreground = true
		cmd.SysProcAttr.Ctty = g.terminal.fd
	}
	if err := g.start(cmd); err != nil {
		g.guard.leave()
		g.terminal.close()
		return nil, err
	}
	go func() {
		defer close(g.gone)
		g.watch()
	}()
	return g, nil
}

// close gives the terminal back to oid. Processes that are left go on.
func (g *group) close() {
	close(g.done)
	g.guard.leave()
	g.terminal.move(g.id, g.terminal.ownGroup())
	g.terminal.close()
	signal.Reset(syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
}

// reap waits for the children of this process, a command and those that it adopts, and
// reports what becomes of the command. It returns when there is none, or when report
// returns false.
func reap(command int, report func(change) bool) {
	for {
		var c change
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR), err == nil && pid != command:
			continue
		case err != nil:
			return
		case status.Stopped():
			c.stopped = status.StopSignal()
		case status.Signaled():
			c.ended, c.signal = true, status.Signal()
		default:
			c.ended, c.code = true, status.ExitStatus()
		}
		if !report(c) {
			return
		}
	}
}

// report passes a change on, and returns false when nobody needs it any more.
func (g *group) report(c change) bool {
	select {
	case g.changes <- c:
		return true
	case <-g.done:
		return false
	}
}

// commandEnded makes oid the foreground job again, so that Ctrl-C reaches oid
// and not what the command has left. It reports whether the command was that job.
func (g *group) commandEnded() bool { return g.terminal.move(g.id, g.terminal.ownGroup()) }

// share sends SIGINT, by which the command has ended as the foreground job, to the
// job that oid belongs to, as the terminal had done without oid. The shell of a
// script ends it only if both the command and the shell got the signal.
func (g *group) share(s syscall.Signal) {
	if s == syscall.SIGINT {
		_ = syscall.Kill(0, s)
	}
}

// pass sends a signal to the group.
func (g *group) pass(s os.Signal) {
	if s, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(-g.id, s) // there may be nobody left
	}
}

// signalAll sends a signal to the group and to what it has started in other groups. The
// error names those that oid may not signal, such as processes of other users.
func (g *group) signalAll(s syscall.Signal) error {
	found := g.processes() // before s: what the guard adopts meanwhile may be missing
	refused := syscall.Kill(-g.id, s)
	var named []string
	for _, p := range found {
		own := s
		if p.member {
			own = 0 // it has s if oid may send it
		}
		if errors.Is(syscall.Kill(p.pid, own), syscall.EPERM) {
			named = append(named, fmt.Sprintf("process %d (%s)", p.pid, p.name))
		}
	}
	switch {
	case len(named) > 0:
		return fmt.Errorf("may not signal %s", strings.Join(named, ", "))
	case errors.Is(refused, syscall.EPERM):
		return refused
	}
	return nil // there may be nobody left
}

// terminate asks all to end, also those that are stopped.
func (g *group) terminate() error {
	err := g.signalAll(syscall.SIGTERM)
	_ = g.signalAll(syscall.SIGCONT)
	return err
}

// kill ends all that it finds; a process may be starting another meanwhile.
func (g *group) kill() error { return g.signalAll(syscall.SIGKILL) }
