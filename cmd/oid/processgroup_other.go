//go:build !unix

package main

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// catchSignals returns the signals that are passed on to a command.
func catchSignals() chan os.Signal {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt)
	return signals
}

// ownGroup does nothing: there are no process groups here.
func ownGroup(*exec.Cmd, io.Reader) (restore func()) { return func() {} }

// processGroup is a command, by its pid.
type processGroup int

// signal can only end the command here.
func (g processGroup) signal(os.Signal) { g.kill() }

func (g processGroup) terminate() { g.kill() }

func (g processGroup) kill() {
	if p, err := os.FindProcess(int(g)); err == nil {
		_ = p.Kill()
	}
}

// endedBy knows no signals here.
func endedBy(*exec.ExitError) (syscall.Signal, bool) { return 0, false }
