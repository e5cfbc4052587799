package job

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/internal/backoff"
)

// guardWord is the first argument of a guard process.
const guardWord = "(guard)"

// guard is a second process of this program, between oid and the command, in a process group
// of its own. It starts the command, adopts the processes that the command leaves, waits for
// all of them, and tells oid when the command ends or is stopped. If oid is killed by
// SIGKILL, the guard kills all these processes. If the guard is killed, the kernel kills the
// command, and oid adopts the other processes.
type guard struct {
	pid    int           // 0 if there is none
	conn   *os.File      // to the guard; when it closes, the guard kills the processes
	told   *bufio.Reader // reads what the guard tells
	killed atomic.Bool   // the guard was killed
}

// start starts the guard of cmd. The guard inherits everything that the command is to
// inherit.
func (g *guard) start(cmd *exec.Cmd) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	conn := os.NewFile(uintptr(pair[0]), "guard")
	defer unix.Close(pair[1])
	if _, err = unix.FcntlInt(uintptr(pair[1]), unix.F_SETFD, 0); err == nil {
		second := &exec.Cmd{
			Path: "/proc/self/exe", Env: cmd.Env, Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr,
			Args: append([]string{os.Args[0], guardWord, strconv.Itoa(pair[1]), strconv.FormatBool(cmd.SysProcAttr.Foreground), cmd.Path}, cmd.Args...),
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
func (g *guard) leave() {
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
	adopt() // if the guard is killed, oid adopts its children
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

// watch reports changes of the command, and returns when all processes that it has started
// have ended.
func (g *group) watch() {
	ended := false
	report := func(c change) bool {
		ended = ended || c.ended
		return g.report(c)
	}
	for {
		var c change
		if _, err := fmt.Fscanln(g.guard.told, &c.ended, &c.signal, &c.code, &c.stopped); err != nil {
			break
		} else if !report(c) {
			return
		}
	}
	if g.guard.wasKilled() {
		g.guard.killed.Store(true)
		reap(g.id, report)
	}
	if !ended { // the guard was killed before it could tell
		report(change{ended: true, signal: syscall.SIGKILL})
	}
}

// wasKilled waits for the guard to end, and reports whether a signal has ended it.
func (g *guard) wasKilled() bool {
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

// Guard turns this process into a guard, and does not return, if it was started as one. A
// program that calls [Run] must call Guard first in its main function.
func Guard() {
	if len(os.Args) < 6 || os.Args[1] != guardWord {
		return
	}
	fd, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return
	}
	syscall.CloseOnExec(fd)
	runGuard(os.NewFile(uintptr(fd), "oid"), os.Args[3] == "true", os.Args[4], os.Args[5:])
	os.Exit(0)
}

// runGuard runs a command, and returns when all processes that it has started have ended.
func runGuard(oid io.ReadWriter, foreground bool, path string, args []string) {
	// Ignore signals that reach the guard: they are for the command, and oid passes them on.
	dropped := make(chan os.Signal, 1)
	CatchUnlessIgnored(dropped, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	catchStops(dropped)
	cmd := &exec.Cmd{Path: path, Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	inOwnGroup(cmd)
	adopt()
	runtime.LockOSThread() // the kernel kills the command when the thread that has started it ends
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if t := openTerminal(dropped); foreground && t != nil {
		cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, t.fd
	}
	if err := cmd.Start(); err != nil {
		number := syscall.EINVAL
		errors.As(err, &number)
		fmt.Fprintln(oid, 0, int(number))
		return
	}
	fmt.Fprintln(oid, cmd.Process.Pid, 0)
	go func() {
		if _, err := oid.Read(make([]byte, 1)); err == nil {
			os.Exit(0) // oid has called leave
		}
		killDescendants()
	}()
	reap(cmd.Process.Pid, func(c change) bool {
		fmt.Fprintln(oid, c.ended, int(c.signal), c.code, int(c.stopped))
		return true
	})
}

// killDescendants kills the processes that the guard has adopted, again and again: one may
// just be starting another, and one that may not be killed may end by itself.
func killDescendants() {
	named := make(map[int]bool)
	for pause := (backoff.Backoff{First: time.Millisecond, Max: time.Second}); ; time.Sleep(pause.Next()) {
		for _, p := range descendants(os.Getpid()) {
			if errors.Is(syscall.Kill(p.PID, syscall.SIGKILL), syscall.EPERM) && !named[p.PID] {
				named[p.PID] = true
				fmt.Fprintf(os.Stderr, "oid: oid lock was killed and its command cannot be ended: may not signal process %d (%s)\n", p.PID, p.Comm)
			}
		}
	}
}

// adopt makes this process adopt the descendants of the command whose parents have ended.
func adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

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
	for _, stat := range descendants(parent) {
		found = append(found, process{stat.PID, stat.Comm, stat.PGRP == g.id, stat.State == "T" || stat.State == "t"})
	}
	return found
}

// descendants returns the processes that descend from pid and have not ended.
func descendants(pid int) (found []procfs.ProcStat) {
	children := listedChildren
	if _, err := os.Stat("/proc/thread-self/children"); err != nil { // this kernel has no lists
		children = childrenOfAll()
	}
	for parents := []int{pid}; len(parents) > 0; parents = parents[1:] {
		for _, stat := range children(parents[0]) {
			if stat.State != "Z" && stat.State != "X" {
				found = append(found, stat)
				parents = append(parents, stat.PID)
			}
		}
	}
	return found
}

// listedChildren returns the children of a process by the lists of the kernel, see
// proc_pid_task(5). Unlike childrenOfAll, it is fast enough to find processes that start
// another process and end at once.
func listedChildren(pid int) (found []procfs.ProcStat) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list) // the thread may have ended
		for child := range strings.FieldsSeq(string(text)) {
			pid, _ := strconv.Atoi(child)
			p, err := procfs.NewProc(pid)
			if err != nil {
				continue
			}
			if stat, err := p.Stat(); err == nil {
				found = append(found, stat)
			}
		}
	}
	return found
}

// childrenOfAll reads all processes, and returns a function that returns the children of one
// process.
func childrenOfAll() func(pid int) []procfs.ProcStat {
	all, _ := procfs.AllProcs()
	children := make(map[int][]procfs.ProcStat)
	for _, p := range all {
		if stat, err := p.Stat(); err == nil {
			children[stat.PPID] = append(children[stat.PPID], stat)
		}
	}
	return func(pid int) []procfs.ProcStat { return children[pid] }
}
