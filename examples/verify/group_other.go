//go:build !unix

package main

import "os/exec"

// ownGroup does nothing: there are no process groups here.
func ownGroup(*exec.Cmd) {}

// killGroup kills a command alone.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
