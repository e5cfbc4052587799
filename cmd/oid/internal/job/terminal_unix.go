//go:build unix

package job

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminal is the controlling terminal of oid. A nil one has no foreground.
type terminal struct {
	fd      int
	own     int // oid's process group
	signals chan<- os.Signal
}

// openTerminal returns nil if oid has no terminal. signals gets SIGTTOU after the
// first move.
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

// ownGroup returns oid's process group, or 0 without a terminal.
func (t *terminal) ownGroup() int {
	if t == nil {
		return 0
	}
	return t.own
}

// isForeground reports whether a process group is the foreground job.
func (t *terminal) isForeground(group int) bool {
	if t == nil {
		return false
	}
	front, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	return err == nil && front == group
}

// move makes a process group the foreground job if another now is, and reports
// whether it did.
func (t *terminal) move(from, to int) bool {
	if !t.isForeground(from) {
		return false
	}
	// The kernel stops a process of the background that does this, unless it
	// ignores the signal.
	signal.Ignore(syscall.SIGTTOU)
	err := unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, to)
	signal.Notify(t.signals, syscall.SIGTTOU)
	return err == nil
}

// inPipeline reports whether the command may share the terminal with others, as
// in "oid lock ... | less". It then gets the terminal only when it asks for it.
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
