//go:build !unix

package job

import (
	"os"
	"os/exec"
	"os/signal"
)

// CatchSignals returns a channel that receives the signals to pass on to a command.
func CatchSignals() chan os.Signal {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt)
	return signals
}

// catchStops does nothing: no signal stops programs here.
func catchStops(chan os.Signal) {}

// Guard does nothing: only Linux has guards.
func Guard() {}

// endsPrograms reports whether s asks programs to end.
func endsPrograms(os.Signal) bool { return true }

// group is a command. There are no process groups on this system.
type group struct {
	id      int
	changes chan change
	gone    chan struct{} // closed when the command has ended
	cmd     *exec.Cmd
}

// startGroup starts cmd.
func startGroup(cmd *exec.Cmd, _ chan os.Signal) (*group, error) {
	g := &group{changes: make(chan change, 1), gone: make(chan struct{}), cmd: cmd}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g.id = cmd.Process.Pid
	go func() {
		_ = cmd.Wait() // ProcessState says how it ended
		g.changes <- change{ended: true, code: cmd.ProcessState.ExitCode()}
		close(g.gone)
	}()
	return g, nil
}

func (g *group) close() {}

func (g *group) lasting() int { return g.id }

func (g *group) commandEnded() bool { return false }

func (g *group) share(os.Signal) {}

func (g *group) commandStopped(os.Signal, func() bool) {}

func (g *group) stopOwn(os.Signal, func() bool) bool { return false }

// pass ends the command: there are no other signals on this system.
func (g *group) pass(os.Signal) { _ = g.kill() }

func (g *group) terminate() error { return g.kill() }

func (g *group) kill() error { return g.cmd.Process.Kill() }
