//go:build unix && !linux

package job

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/cmd/oid/internal/job/guard"
)

// guardProcess is empty: only Linux has guards.
type guardProcess struct{}

func (*guardProcess) leave() {}

// start starts cmd as a child of oid.
func (g *group) start(cmd *exec.Cmd) error {
	err := cmd.Start()
	if err == nil {
		g.id = cmd.Process.Pid
	}
	return err
}

// ask answers that nobody knows who else got a signal.
func (g *group) ask(s syscall.Signal) { g.report(change{arrived: s}) }

// lasting returns the process group of the command.
func (g *group) lasting() int { return g.id }

// watch reports changes of the command, and returns when all processes of its group have
// ended. Some of them may not be children of oid.
func (g *group) watch() {
	guard.Reap(g.id, func(status syscall.WaitStatus) bool { return g.report(changeOf(status)) })
	for !errors.Is(syscall.Kill(-g.id, 0), syscall.ESRCH) {
		select {
		case <-g.done:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// processes returns nil: only Linux shows which processes a command has started.
func (g *group) processes() []process { return nil }

// stopSelf stops oid, and returns when oid continues. It returns at once if no process in the
// session could make oid continue.
func stopSelf(syscall.Signal) {
	parent, err1 := unix.Getsid(os.Getppid())
	own, err2 := unix.Getsid(0)
	if err1 != nil || err2 != nil || parent != own {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	time.Sleep(10 * time.Millisecond) // the signal may reach another thread first
}
