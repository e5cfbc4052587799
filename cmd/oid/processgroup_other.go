//go:build !unix

package main

import (
	"os"
	"os/exec"
	"os/signal"
)

// catchSignals returns a channel for the signals that are passed on to a command.
func catchSignals() chan os.Signal {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt)
	return signals
}

// catchStops does nothing: no signal stops programs here.
func catchStops(chan os.Signal) {}

// endsPrograms reports whether s is a signal by which programs are asked to end.
func endsPrograms(os.Signal) bool { return true }

// processGroup is a command: there are no process groups here.
type processGroup struct {
	id      int
	changes chan change
	again   chan struct{} // nil: there is nothing to look at
	cmd     *exec.Cmd
}

// startGroup starts cmd.
func startGroup(cmd *exec.Cmd, _ chan os.Signal) (*processGroup, error) {
	g := &processGroup{changes: make(chan change, 1), cmd: cmd}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g.id = cmd.Process.Pid
	go func() {
		_ = cmd.Wait() // the state says how it ended
		g.changes <- change{ended: true, code: cmd.ProcessState.ExitCode()}
	}()
	return g, nil
}

func (g *processGroup) close() {}

func (g *processGroup) commandEnded() bool { return false }

func (g *processGroup) share(os.Signal) {}

// remains knows of the command alone.
func (g *processGroup) remains() bool { return false }

func (g *processGroup) commandStopped(os.Signal, func() bool) {}

func (g *processGroup) stopOwn(os.Signal, func() bool) bool { return false }

// pass can only end the command here.
func (g *processGroup) pass(os.Signal) { _ = g.kill() }

func (g *processGroup) terminate() error { return g.kill() }

func (g *processGroup) kill() error { return g.cmd.Process.Kill() }
