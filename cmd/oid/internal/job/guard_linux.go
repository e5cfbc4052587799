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

// guardWord is the first argument of a guard.
const guardWord = "(guard)"

// guard is a process between oid and a command: a second process of this program, in a
// process group of its own. It adopts what the command leaves, waits for all of it, and
// tells oid what becomes of the command. If SIGKILL ends oid, it kills all of that. If it
// is killed itself, the kernel kills the command, and oid adopts the rest.
type guard struct {
	pid    int           // 0 if there is none
	conn   *os.File      // of oid; the guard acts when it is closed
	told   *bufio.Reader // what the guard writes of the command
	killed atomic.Bool
}

// start starts the guard of cmd. The guard inherits what the command is to inherit.
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

// leave lets the guard end, whatever runs.
func (g *guard) leave() {
	if g.pid != 0 {
		_, _ = g.conn.Write([]byte{0})
		_ = g.conn.Close()
	}
}

// start starts cmd by a guard.
func (g *group) start(cmd *exec.Cmd) error {
	if cmd.Err != nil {
		return cmd.Err
	}
	adopt() // what a guard leaves that is killed
	if err := g.guard.start(cmd); err != nil {
		return fmt.Errorf("start a second process of oid, which needs /proc: %v", err) // err may be that a file does not exist
	}
	var number syscall.Errno
	if _, err := fmt.Fscanln(g.guard.told, &g.id, &number); err != nil {
		return fmt.Errorf("the guard of the command has ended: %w", err)
	} else if number != 0 {
		return &fs.PathError{Op: "fork/exec", Path: cmd.Path, Err: number}
	}
	return nil
}

// watch reports what becomes of the command, until all that it has started has ended.
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

// wasKilled waits for the end of the guard and reports whether it was killed.
func (g *guard) wasKilled() bool {
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(g.pid, &status, 0, nil); !errors.Is(err, syscall.EINTR) {
			return err == nil && status.Signaled()
		}
	}
}

// lasting returns a process group that ends with the last process of the command.
func (g *group) lasting() int { return g.guard.pid }

// Guard does the work of a guard and does not return if this process was started as one.
// The main function of a program that calls [Run] calls it first.
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

// runGuard runs a command and returns when all that it has started has ended.
func runGuard(oid io.ReadWriter, foreground bool, path string, args []string) {
	// Signals that reach the guard too are for the command, and oid passes them on.
	dropped := make(chan os.Signal, 1)
	CatchUnlessIgnored(dropped, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	catchStops(dropped)
	cmd := &exec.Cmd{Path: path, Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	inOwnGroup(cmd)
	adopt()
	runtime.LockOSThread() // the kernel kills the command when the thread ends that has started it
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
			os.Exit(0) // oid leaves what runs
		}
		killDescendants()
	}()
	reap(cmd.Process.Pid, func(c change) bool {
		fmt.Fprintln(oid, c.ended, int(c.signal), c.code, int(c.stopped))
		return true
	})
}

// killDescendants kills what the guard has adopted, again and again: a process may be
// starting another, and one that may not be killed may end by itself.
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

// adopt makes this process the parent of what the command has started when its own
// parent ends.
func adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// stopSelf stops oid by the default action of a signal and returns when oid goes
// on. The kernel ignores the signal if nobody could make oid go on, see setpgid(2)
// on orphaned process groups.
func stopSelf(s syscall.Signal) {
	// signal.Reset leaves Go's handler in place, which ignores the signal.
	var caught, byDefault [20]uint64 // as long as any system's struct sigaction
	const maskSize = 8
	set := func(action, old *[20]uint64) {
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(action)), uintptr(unsafe.Pointer(old)), maskSize, 0, 0)
	}
	set(&byDefault, &caught)
	defer set(&caught, nil)
	// A signal to this very thread acts before the call returns.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), s)
}

// processes returns the command and what it has started, also in groups and sessions of
// its own, as daemons are and what su(1) runs. One that begins while it looks may be
// missing.
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

// descendants returns what descends from a process and has not ended.
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

// listedChildren reads the kernel's lists of the children of a process, proc_pid_task(5).
// They find a process that starts another and ends: to read all processes takes longer
// than it lives.
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

// childrenOfAll reads all processes, and returns a function that returns the children of one.
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
