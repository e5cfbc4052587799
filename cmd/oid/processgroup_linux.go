package main

import (
	"os"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// dieWithParent makes a command end when oid is killed. The kernel does so when
// the thread that has started the command ends.
func dieWithParent(a *syscall.SysProcAttr) {
	runtime.LockOSThread()
	a.Pdeathsig = syscall.SIGKILL
}

// adoptOrphans makes oid the parent of what the command has started when its own
// parent ends.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

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

// started returns the processes of the group, and those of other groups of oid's
// session that descend from oid. A process that begins a session of its own, as
// daemons do, leaves the command.
func (g *processGroup) started() (group, others []procfs.ProcStat) {
	all, _ := procfs.AllProcs()
	children := make(map[int][]procfs.ProcStat)
	var session int
	for _, p := range all {
		stat, err := p.Stat() // it may have ended
		switch {
		case err != nil:
		case stat.PID == os.Getpid():
			session = stat.Session
		case stat.State == "Z", stat.State == "X":
		default:
			children[stat.PPID] = append(children[stat.PPID], stat)
		}
	}
	for parents := []int{os.Getpid()}; len(parents) > 0; parents = parents[1:] {
		for _, stat := range children[parents[0]] {
			if stat.Session != session {
				continue
			}
			if stat.PGRP == g.id {
				group = append(group, stat)
			} else {
				others = append(others, stat)
			}
			parents = append(parents, stat.PID)
		}
	}
	return group, others
}

// others returns what the group has started in other groups.
func (g *processGroup) others() []int {
	_, others := g.started()
	pids := make([]int, len(others))
	for i, stat := range others {
		pids[i] = stat.PID
	}
	return pids
}

// othersRunning returns those of others that are not stopped.
func (g *processGroup) othersRunning() (pids []int) {
	_, others := g.started()
	for _, stat := range others {
		if !isStopped(stat) {
			pids = append(pids, stat.PID)
		}
	}
	return pids
}

// isStopped reports whether the whole group is stopped.
func (g *processGroup) isStopped() bool {
	group, _ := g.started()
	return !slices.ContainsFunc(group, func(stat procfs.ProcStat) bool { return !isStopped(stat) })
}

// commandIsStopped reports whether the command is stopped.
func (g *processGroup) commandIsStopped() bool {
	group, _ := g.started()
	return slices.ContainsFunc(group, func(stat procfs.ProcStat) bool { return stat.PID == g.id && isStopped(stat) })
}

func isStopped(stat procfs.ProcStat) bool { return stat.State == "T" || stat.State == "t" }
