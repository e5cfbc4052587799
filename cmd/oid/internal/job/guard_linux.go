package job

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/cmd/oid/internal/job/guard"
)

// guardProcess is a process of package guard, in a process group of its own. If it is killed,
// the kernel kills the command, and oid adopts the other processes.
type guardProcess struct {
	pid    int           // 0 if there is none
	conn   *os.File      // to the guard; when it closes, the guard kills the processes
	told   *bufio.Reader // reads what the guard tells
	killed atomic.Bool   // the guard was killed
}

// start starts the guard of cmd. The guard inherits everything that the command is to
// inherit.
func (g *guardProcess) start(cmd *exec.Cmd) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	conn := os.NewFile(uintptr(pair[0]), "guard")
	defer unix.Close(pair[1])
	if _, err = unix.FcntlInt(uintptr(pair[1]), unix.F_SETFD, 0); err == nil {
		second := &exec.Cmd{
			Path: "/proc/self/exe", Env: cmd.Env, Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr,
			Args: guard.Args(pair[1], cmd.SysProcAttr.Foreground, cmd.Path, cmd.Args),
		}
		inOwnGroup(second)
		if err = second.Start(); err == nil {
			g.pid, g.conn, g.told = second.Process.Pid, conn, bufio.NewReader(conn)
			return nil
		}
	}
	return errors.Join(err, conn.Close())
}

// leave makes the guard end, without killing processes that still run.
func (g *guardProcess) leave() {
	if g.pid != 0 {
		_, _ = g.conn.Write([]byte{0})
		_ = g.conn.Close()
	}
}

// start starts the guard, which starts cmd.
func (g *group) start(cmd *exec.Cmd) error {
	if cmd.Err != nil {
		return cmd.Err
	}
	guard.Adopt() // if the guard is killed, oid adopts its children
	if err := g.guard.start(cmd); err != nil {
		return fmt.Errorf("start a second process of oid, which needs /proc: %v", err) // %v, because a missing /proc is not a missing command
	}
	var number syscall.Errno
	if _, err := fmt.Fscanln(g.guard.told, &g.id, &number); err != nil {
		return fmt.Errorf("the guard of the command has ended unexpectedly: %w", err)
	} else if number != 0 {
		return &fs.PathError{Op: "fork/exec", Path: cmd.Path, Err: number}
	}
	return nil
}

// ask makes the guard answer, with a change, whether a signal was sent to it too.
func (g *group) ask(s syscall.Signal) {
	if _, err := g.guard.conn.Write([]byte{byte(s)}); err != nil {
		g.report(change{arrived: s})
	}
}

// watch reports changes of the command, and returns when all processes that it has started
// have ended.
func (g *group) watch() {
	ended := false
	report := func(status syscall.WaitStatus) bool {
		ended = ended || !status.Stopped()
		return g.report(changeOf(status))
	}
	for {
		var number int
		var asked syscall.Signal
		if _, err := fmt.Fscanln(g.guard.told, &number, &asked); err != nil {
			break
		} else if asked == 0 && !report(syscall.WaitStatus(number)) || asked != 0 && !g.report(change{arrived: asked, shared: number != 0}) {
			return
		}
	}
	if g.guard.wasKilled() {
		g.guard.killed.Store(true)
		guard.Reap(g.id, report)
	}
	if !ended { // the guard was killed before it could tell
		report(syscall.WaitStatus(syscall.SIGKILL))
	}
}

// wasKilled waits for the guard to end, and reports whether a signal has ended it.
func (g *guardProcess) wasKilled() bool {
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(g.pid, &status, 0, nil); !errors.Is(err, syscall.EINTR) {
			return err == nil && status.Signaled()
		}
	}
}

// lasting returns a process group that exists until the last process of the command has
// ended.
func (g *group) lasting() int { return g.guard.pid }

// stopSelf stops oid by the default action of a signal, and returns when oid continues. If no
// process could make oid continue, the kernel ignores the signal, see setpgid(2) on orphaned
// process groups.
func stopSelf(s syscall.Signal) {
	// signal.Reset leaves Go's handler in place, which ignores the signal.
	var caught, byDefault [20]uint64 // as long as any system's struct sigaction
	const maskSize = 8
	set := func(action, old *[20]uint64) {
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(action)), uintptr(unsafe.Pointer(old)), maskSize, 0, 0)
	}
	set(&byDefault, &caught)
	defer set(&caught, nil)
	// A signal to the current thread acts before Tgkill returns.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), s)
}

// processes returns the command and the processes that it has started, even in groups and
// sessions of their own, such as daemons and programs under su(1). It may miss one that
// starts meanwhile.
func (g *group) processes() (found []process) {
	parent := g.guard.pid
	if g.guard.killed.Load() {
		parent = os.Getpid()
	}
	for _, p := range guard.Descendants(parent) {
		found = append(found, process{p.PID, p.Name, p.Group == g.id, p.Stopped})
	}
	return found
}
