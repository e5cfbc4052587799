package job

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// adoptsOrphans says that oid has a child as long as a process of the command runs.
const adoptsOrphans = true

// adopt makes this process the parent of what the command has started when its own
// parent ends.
func adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// killWithThread makes a command end when this process is killed.
func killWithThread(a *syscall.SysProcAttr) {
	runtime.LockOSThread() // the kernel kills the command when the thread ends that has started it
	a.Pdeathsig = syscall.SIGKILL
}

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
	if parent == 0 || g.guard.killed.Load() {
		parent = os.Getpid()
	}
	for _, stat := range descendants(parent) {
		found = append(found, process{stat.PID, stat.Comm, stat.PGRP == g.id, stat.State == "T" || stat.State == "t"})
	}
	return found
}

// descendants returns what descends from a process and has not ended.
func descendants(pid int) (found []procfs.ProcStat) {
	all, _ := procfs.AllProcs()
	children := make(map[int][]procfs.ProcStat)
	for _, p := range all {
		if stat, err := p.Stat(); err == nil && stat.State != "Z" && stat.State != "X" {
			children[stat.PPID] = append(children[stat.PPID], stat)
		}
	}
	for parents := []int{pid}; len(parents) > 0; parents = parents[1:] {
		for _, stat := range children[parents[0]] {
			found = append(found, stat)
			parents = append(parents, stat.PID)
		}
	}
	return found
}
