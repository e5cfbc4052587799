package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/internal/testenv"
)

// terminal returns the two ends of a pseudo terminal.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	// Without O_NONBLOCK, Close would not end a Read.
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	master = os.NewFile(uintptr(fd), "terminal")
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// ptyShell is a shell that runs on a pseudo terminal.
type ptyShell struct {
	t      *testing.T
	master *os.File
	shell  *exec.Cmd
	shown  []byte // what no expect has passed yet
	more   chan []byte
}

// prompt is what the shell writes when it waits for a command.
const prompt = "ready> "

// interactiveShell starts a shell with job control on a terminal of its own.
func interactiveShell(t *testing.T, env ...string) *ptyShell {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		testenv.Missing(t, "bash is not installed: apt-get install bash")
	}
	master, slave := terminal(t)
	defer slave.Close()
	s := &ptyShell{t: t, master: master, more: make(chan []byte, 1000)}
	s.shell = exec.Command("bash", "--norc", "--noprofile", "-i")
	s.shell.Stdin, s.shell.Stdout, s.shell.Stderr = slave, slave, slave
	s.shell.Env = append(append(os.Environ(), "XDG_DATA_HOME="+t.TempDir(), "OID_LOCKS=", "TERM=dumb", "HISTFILE=/dev/null", "PS1="+prompt), env...)
	s.shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.shell.Process.Kill()
		s.master.Close() // hangs up: the jobs get SIGHUP
		_ = s.shell.Wait()
	})
	go func() {
		defer close(s.more)
		for buffer := make([]byte, 4096); ; {
			n, err := s.master.Read(buffer)
			if err != nil {
				return
			}
			s.more <- bytes.Clone(buffer[:n])
		}
	}()
	s.expect(prompt)
	return s
}

// press presses keys.
func (s *ptyShell) press(keys string) {
	s.t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

const (
	ctrlC = "\x03"
	ctrlZ = "\x1a"
)

// run types a command.
func (s *ptyShell) run(command string) { s.t.Helper(); s.press(command + "\n") }

// expect waits until the screen shows pattern, a regular expression in which a
// dot is any character, and returns what was shown up to its end.
func (s *ptyShell) expect(pattern string) string {
	s.t.Helper()
	re := regexp.MustCompile("(?s)" + pattern)
	for overdue := time.After(time.Minute); ; {
		if at := re.FindIndex(s.shown); at != nil {
			seen := string(s.shown[:at[1]])
			s.shown = s.shown[at[1]:]
			return seen
		}
		select {
		case more, open := <-s.more:
			if !open {
				s.t.Fatalf("the terminal was closed; want %q, it shows %q", pattern, s.shown)
			}
			s.shown = append(s.shown, more...)
		case <-overdue:
			s.t.Fatalf("want %q, the terminal shows %q", pattern, s.shown)
		}
	}
}
