package main

import "syscall"

// dieWithParent makes a command end when oid is killed.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
