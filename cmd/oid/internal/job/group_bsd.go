//go:build unix && !linux

package job

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adoptsOrphans says that nothing adopts what the command leaves.
const adoptsOrphans = false

// Guard does nothing: only Linux has guards.
func Guard() {}

// guard is that of Linux.
type guard struct{}

func (*guard) leave() {}

func (g *group) start(cmd *exec.Cmd) error { return g.startChild(cmd) }

// lasting returns the process group of the command.
func (g *group) lasting() int { return g.id }

// watch reports what becomes of the command, and asks for a look at its group from time
// to time, which may have members with other parents.
func (g *group) watch() {
	reap(g.id, g.report)
	for g.report(change{}) {
		time.Sleep(20 * time.Millisecond)
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
