//go:build unix && !linux

package job

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adopts says that oid is not the parent of what the command has started.
const adopts = false

// tie does nothing: only Linux knows how.
func tie(*syscall.SysProcAttr) {}

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
