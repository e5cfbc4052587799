//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// catchSignals returns the signals that are passed on to a command.
func catchSignals() chan os.Signal {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	return signals
}

// ownGroup makes cmd begin a process group. If stdin is the terminal in front of
// oid, the group takes it over, so that the command can read from it and gets
// what is typed there, such as Ctrl-C. restore takes it back.
func ownGroup(cmd *exec.Cmd, stdin io.Reader) (restore func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	file, ok := stdin.(*os.File)
	if !ok {
		return func() {}
	}
	terminal := int(file.Fd())
	front, err := unix.IoctlGetInt(terminal, unix.TIOCGPGRP)
	if err != nil || front != unix.Getpgrp() {
		return func() {}
	}
	cmd.SysProcAttr.Foreground = true
	cmd.SysProcAttr.Ctty = terminal
	// Nobody would take the terminal back from a group that Ctrl-Z has stopped.
	// What is ignored stays so in the command.
	signal.Ignore(syscall.SIGTSTP, syscall.SIGTTOU)
	return func() {
		_ = unix.IoctlSetPointerInt(terminal, unix.TIOCSPGRP, unix.Getpgrp())
		signal.Reset(syscall.SIGTSTP, syscall.SIGTTOU)
	}
}

// processGroup is the group of a command, by the pid of that.
type processGroup int

// signal sends s to all of the group. There may be nobody left.
func (g processGroup) signal(s os.Signal) {
	if s, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(-int(g), s)
	}
}

// terminate asks the group to end, also if it is stopped.
func (g processGroup) terminate() {
	g.signal(syscall.SIGTERM)
	g.signal(syscall.SIGCONT)
}

// kill ends the group.
func (g processGroup) kill() { g.signal(syscall.SIGKILL) }

// endedBy returns the signal that has ended a command, if one has.
func endedBy(exit *exec.ExitError) (syscall.Signal, bool) {
	status, ok := exit.Sys().(syscall.WaitStatus)
	return status.Signal(), ok && status.Signaled()
}
