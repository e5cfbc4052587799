//go:build !unix

package main

import "os/exec"

// ownGroup does nothing: there are no process groups here.
func ownGroup(*exec.Cmd) {}

// ownSession does nothing: there are no sessions here.
func ownSession(*exec.Cmd) {}

// groupEnded returns true: there are no process groups here.
func groupEnded(*exec.Cmd) bool { return true }

// killGroup kills a command alone.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
