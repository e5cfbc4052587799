//go:build unix

package job

import (
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is the controlling terminal of oid. A nil terminal has no foreground job.
type terminal struct {
	fd      int
	own     int // oid's process group
	signals chan<- os.Signal
}

// openTerminal returns nil if oid has no terminal. After the first move, signals gets
// SIGTTOU.
func openTerminal(signals chan<- os.Signal) *terminal {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	return &terminal{fd, unix.Getpgrp(), signals}
}

func (t *terminal) close() {
	if t != nil {
		_ = unix.Close(t.fd)
	}
}

// ownGroup returns the process group of oid, or 0 without a terminal.
func (t *terminal) ownGroup() int {
	if t == nil {
		return 0
	}
	return t.own
}

// isForeground reports whether a process group is the foreground job.
func (t *terminal) isForeground(id int) bool {
	if t == nil {
		return false
	}
	front, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	return err == nil && front == id
}

// move makes the process group to the foreground job if from is the foreground job, and
// reports whether it did.
func (t *terminal) move(from, to int) bool {
	if !t.isForeground(from) {
		return false
	}
	// The kernel stops a background process that changes the foreground job, unless the
	// process ignores SIGTTOU.
	signal.Ignore(syscall.SIGTTOU)
	err := unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, to)
	signal.Notify(t.signals, syscall.SIGTTOU)
	return err == nil
}

// inPipeline reports whether the command is part of a pipeline, such as "oid lock ... |
// less", and so shares the terminal. It then gets the terminal only when it asks for it.
func inPipeline(cmd *exec.Cmd) bool {
	for _, file := range []any{cmd.Stdin, cmd.Stdout} {
		if f, ok := file.(*os.File); ok {
			if info, err := f.Stat(); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
				return true
			}
		}
	}
	return false
}

// Either oid (O) or the command (C) is the foreground job of the terminal:
//
//	what happens                          in front     who is stopped
//	the command starts                    O -> C       nobody
//	Ctrl-Z, while C is in front           C -> O       the command, then oid
//	  both continue with fg               O -> C       nobody
//	the command uses the terminal         O -> C       nobody: it continues at once
//	a neighbour of oid in a pipeline uses
//	  the terminal, while C is in front   C -> O       nobody: the neighbour continues
//	one of these two, while another job
//	  is in front                         unchanged    the command, then oid
//	the command ends                      C -> O       nobody
//
// Only SIGSTOP stops oid without the command. After a stop, the command continues only if the
// lock is still held.

// commandStopped handles a signal that has stopped the command. If the command wants the
// terminal and oid is the foreground job, the command gets the terminal and continues.
// Otherwise oid stops together with the command. After SIGSTOP, which somebody has sent to
// the command, oid does not stop and keeps the lock. held reports whether oid still has the
// lock.
func (g *group) commandStopped(s os.Signal, held func() bool) {
	runs := func(p process) bool { return p.pid == g.id && !p.stopped } // the command continues already
	if s == syscall.SIGSTOP || g.terminal == nil {
		return
	}
	if slices.ContainsFunc(g.processes(), runs) {
		return
	}
	if s != syscall.SIGTSTP && (g.terminal.move(g.terminal.own, g.id) || g.terminal.isForeground(g.id)) {
		g.pass(syscall.SIGCONT)
		return
	}
	g.suspend(s, held)
}

// stopOwn handles a signal that would stop oid, and reports whether s is one. SIGTTIN and
// SIGTTOU arrive when another process of oid's group, such as the pager in "oid lock ... |
// less", wants the terminal while the command has it.
func (g *group) stopOwn(s os.Signal, held func() bool) bool {
	switch s {
	case syscall.SIGTSTP:
		g.suspend(s, held)
	case syscall.SIGTTIN, syscall.SIGTTOU:
		if g.terminal.move(g.id, g.terminal.ownGroup()) || g.terminal.isForeground(g.terminal.ownGroup()) {
			_ = syscall.Kill(0, syscall.SIGCONT)
		} else {
			g.suspend(s, held)
		}
	default:
		return false
	}
	return true
}

// suspend stops the command and then oid. When oid continues, so does the command, unless the
// lock was lost meanwhile: held then kills the command.
func (g *group) suspend(s os.Signal, held func() bool) {
	g.stop()
	had := g.terminal.move(g.id, g.terminal.ownGroup())
	stopSelf(s.(syscall.Signal))
	if !held() {
		return
	}
	if had {
		g.terminal.move(g.terminal.own, g.id)
	}
	g.pass(syscall.SIGCONT)
	for _, pid := range g.frozen {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
}

// stopPatience is how long the processes of a command may take to stop by themselves, so that
// they can, for example, restore the terminal's settings.
const stopPatience = 300 * time.Millisecond

// stop stops the command and all processes that it has started.
func (g *group) stop() {
	g.pass(syscall.SIGTSTP)
	for began := time.Now(); time.Since(began) < stopPatience; time.Sleep(5 * time.Millisecond) {
		members := slices.DeleteFunc(g.processes(), func(p process) bool { return !p.member })
		if len(members) > 0 && !slices.ContainsFunc(members, func(p process) bool { return !p.stopped }) {
			break
		}
	}
	_ = syscall.Kill(-g.id, syscall.SIGSTOP)
	g.frozen = nil
	for more := true; more; { // again, because one of them may have started another
		more = false
		for _, p := range g.processes() {
			if !p.member && !p.stopped && !slices.Contains(g.frozen, p.pid) {
				_ = syscall.Kill(p.pid, syscall.SIGSTOP)
				g.frozen = append(g.frozen, p.pid)
				more = true
			}
		}
	}
}
