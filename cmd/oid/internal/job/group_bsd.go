//go:build unix && !linux

package job

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Guard does nothing: only Linux has guards.
func Guard() {}

// guard is that of Linux.
type guard struct{}

func (*guard) leave() {}

// start starts cmd as a child of oid.
func (g *group) start(cmd *exec.Cmd) error {
	err := cmd.Start()
	if err == nil {
		g.id = cmd.Process.Pid
	}
	return err
}

// lasting returns the process group of the command.
func (g *group) lasting() int { return g.id }

// watch reports what becomes of the command, until its group has ended, which may have
// members with other parents.
func (g *group) watch() {
	reap(g.id, g.report)
	for !errors.Is(syscall.Kill(-g.id, 0), syscall.ESRCH) {
		select {
		case <-g.done:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// processes knows of none: only Linux shows what has been started.
func (g *group) processes() []process { return nil }

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
