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

	"github.com/oidkit/oid/cmd/oid/internal/job/guard"
)

// CatchSignals returns a channel that receives the signals to pass on to a command. If a
// signal was ignored when oid began, as SIGHUP is under nohup and SIGINT in the background of
// a script, it stays ignored, in the command too.
func CatchSignals() chan os.Signal {
	signals := make(chan os.Signal, 16)
	guard.CatchUnlessIgnored(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	return signals
}

// inOwnGroup makes cmd run in a process group of its own. It replaces cmd.SysProcAttr.
func inOwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endsPrograms reports whether s asks programs to end.
func endsPrograms(s os.Signal) bool { return s != syscall.SIGUSR1 && s != syscall.SIGUSR2 }

// group is a command that runs in a process group of its own, with all processes that it has
// started. On Linux these include processes in other groups and sessions. Only one goroutine
// may use a group.
type group struct {
	id       int           // of the group, and the pid of the command
	changes  chan change   // receives when the command ends or is stopped
	gone     chan struct{} // closed when all its processes have ended
	terminal *terminal     // nil if oid has none
	signals  chan os.Signal
	frozen   []int         // pids in other groups that stop has stopped
	done     chan struct{} // closed by close
	guard    guardProcess
}

// process is a process that has not ended.
type process struct {
	pid     int
	name    string // of its program
	member  bool   // it is in the group
	stopped bool
}

// catchStops also sends the signals that stop jobs to signals. Before that they stop only
// oid, which is right while it waits for the lock.
func catchStops(signals chan os.Signal) {
	guard.CatchUnlessIgnored(signals, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
}

// startGroup starts cmd. The caller must have called [catchStops] and must call close.
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

// close gives the terminal back to oid. Processes that still run continue.
func (g *group) close() {
	close(g.done)
	g.guard.leave()
	g.terminal.move(g.id, g.terminal.ownGroup())
	g.terminal.close()
	signal.Reset(syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
}

// changeOf returns what a status of the command says.
func changeOf(status syscall.WaitStatus) (c change) {
	switch {
	case status.Stopped():
		c.stopped = status.StopSignal()
	case status.Signaled():
		c.ended, c.signal = true, status.Signal()
	default:
		c.ended, c.code = true, status.ExitStatus()
	}
	return c
}

// report sends c to changes. It returns false when close was called.
func (g *group) report(c change) bool {
	select {
	case g.changes <- c:
		return true
	case <-g.done:
		return false
	}
}

// commandEnded makes oid the foreground job again if the command was, and reports whether it
// was. Ctrl-C then reaches oid and not the processes that the command has left.
func (g *group) commandEnded() bool { return g.terminal.move(g.id, g.terminal.ownGroup()) }

// share sends SIGINT, if it has ended the command in the foreground, to the process group of
// oid, as the terminal would have done without oid. A shell ends a script only if both the
// command and the shell got the signal.
func (g *group) share(s syscall.Signal) {
	if s == syscall.SIGINT {
		_ = syscall.Kill(0, s)
	}
}

// pass sends a signal to the group.
func (g *group) pass(s os.Signal) {
	if s, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(-g.id, s) // an error if all have ended
	}
}

// signalAll sends a signal to the group, and to processes that it has started in other
// groups. The error names processes that oid may not signal, such as those of other users.
func (g *group) signalAll(s syscall.Signal) error {
	found := g.processes() // before s, which may change who is whose parent
	refused := syscall.Kill(-g.id, s)
	var named []string
	for _, p := range found {
		own := s
		if p.member {
			own = 0 // the group got s; only check the permission
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
	return nil // another error means that all have ended
}

// terminate asks all processes to end, also stopped ones.
func (g *group) terminate() error {
	err := g.signalAll(syscall.SIGTERM)
	_ = g.signalAll(syscall.SIGCONT)
	return err
}

// kill kills all processes that it finds. It may miss one that is just being started.
func (g *group) kill() error { return g.signalAll(syscall.SIGKILL) }
