//go:build unix && !linux

package main

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dieWithParent does nothing: only Linux knows how.
func dieWithParent(*syscall.SysProcAttr) {}

// adoptOrphans does nothing: only Linux lets oid see what the command has started
// outside its group.
func adoptOrphans() {}

// others, like othersRunning, knows of none.
func (g *processGroup) others() []int { return nil }

func (g *processGroup) othersRunning() []int { return nil }

// isStopped waits a moment instead of looking.
func (g *processGroup) isStopped() bool {
	time.Sleep(stopPatience)
	return true
}

// commandIsStopped trusts what was said of the command.
func (g *processGroup) commandIsStopped() bool { return true }

// stopSelf stops oid and returns when oid goes on, or at once if nobody in the
// session could make it go on.
func stopSelf(syscall.Signal) {
	parent, err1 := unix.Getsid(os.Getppid())
	own, err2 := unix.Getsid(0)
	if err1 != nil || err2 != nil || parent != own {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	time.Sleep(10 * time.Millisecond) // another thread may be the one that acts on it
}
