//go:build unix && !linux

package main

import "syscall"

// dieWithParent does nothing: only Linux knows how.
func dieWithParent(*syscall.SysProcAttr) {}
