//go:build unix

package main

import (
	"errors"
	"os/exec"
	"syscall"
)

// ownGroup makes cmd run in a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// ownSession makes cmd run in a session of its own.
func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// groupEnded reports whether no process of the group of a command is left, whose number is then
// free.
func groupEnded(cmd *exec.Cmd) bool {
	return errors.Is(syscall.Kill(-cmd.Process.Pid, 0), syscall.ESRCH)
}

// killGroup kills a command that has begun after [ownGroup] or [ownSession], and all of its group.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
