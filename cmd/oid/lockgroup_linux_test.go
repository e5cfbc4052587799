package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// processState returns the letter by which /proc shows the state of a process.
func processState(pid string) string {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return ""
	}
	return strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[0]
}

func awaitState(t *testing.T, pid, want string) {
	t.Helper()
	testenv.Await(t, "state "+want+" of process "+pid, func() error {
		if got := processState(pid); got != want {
			return fmt.Errorf("it is %q", got)
		}
		return nil
	})
}

func pidOf(h *holding) string { return strconv.Itoa(h.cmd.Process.Pid) }

// When the lock cannot be renewed, oid exits with 113 whatever the command does
// with SIGTERM: end with 0, end with a code of its own, or die of it.
func TestLockLostWhateverTheCommandReturns(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t)
	proxy := testenv.NewProxy(t, server.Addr)
	var holders []*holding
	for i, script := range []string{
		"trap 'exit 0' TERM; echo held; while :; do sleep 0.01; done",
		"trap 'exit 7' TERM; echo held; while :; do sleep 0.01; done",
		"echo held; exec sleep 1000",
		"trap '' TERM; echo held; while :; do sleep 0.01; done",
	} {
		h := startLock(t, nil, "job"+strconv.Itoa(i), "--locks", proxy.URL(), "--ttl", "2s", "--", "sh", "-c", script)
		h.line()
		holders = append(holders, h)
	}
	proxy.Cut(true, true)
	for i, h := range holders {
		if got := h.code(); got != exitLockLost {
			t.Errorf("command %d: exit code %d, want %d; stderr: %s", i, got, exitLockLost, h.stderr.String())
		}
	}
}

// The command ends on SIGTERM and its children do not, one of them in a process
// group and one in a session of its own. They are killed before the next holder begins, also with --leave.
func TestLockEndsDescendantsBeforeTheNextHolder(t *testing.T) {
	testenv.Long(t, "takes seconds")
	for _, flags := range [][]string{nil, {"--leave"}} {
		t.Run(strings.Join(flags, ""), func(t *testing.T) {
			t.Parallel()
			endsDescendants(t, flags)
		})
	}
}

func endsDescendants(t *testing.T, flags []string) {
	server := testenv.Redis(t)
	proxy := testenv.NewProxy(t, server.Addr)
	log := filepath.Join(t.TempDir(), "log")
	write := `trap "" TERM; while :; do date +%s%N >>` + log + `; sleep 0.01; done`
	// It has a twentieth of the TTL to end them all, on a machine that is busy.
	first := startLock(t, nil, append(append([]string{"job", "--locks", proxy.URL(), "--ttl", "8s"}, flags...), "--", "sh", "-c",
		`sh -c '`+write+`' & bash -c 'set -m; sh -c '"'`+write+`'"' & wait' & setsid sh -c 'touch `+log+`.session; `+write+`' & echo held; wait`)...)
	first.line()
	testenv.Await(t, "the children write", func() error {
		_, err1 := os.Stat(log)
		_, err2 := os.Stat(log + ".session")
		return errors.Join(err1, err2)
	})
	proxy.Cut(true, true)
	next := startLock(t, nil, "job", "--locks", server.URL(), "--ttl", "2s", "--", "sh", "-c", "date +%s%N; sleep 0.5")
	began, err := strconv.ParseInt(next.line(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if got := first.code(); got != exitLockLost {
		t.Errorf("exit code %d, want %d; stderr: %s", got, exitLockLost, first.stderr.String())
	}
	if got := next.code(); got != 0 {
		t.Errorf("exit code of the next %d; stderr: %s", got, next.stderr.String())
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(text))
	last, err := strconv.ParseInt(lines[len(lines)-1], 10, 64)
	if err != nil || last >= began {
		t.Errorf("a child of the first wrote %v after the next began (%v)", time.Duration(last-began), err)
	}
}

// What the command leaves in the background holds the lock, as with flock(1).
func TestLockIsHeldForWhatTheCommandLeaves(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	locks := []string{"--locks", "file:" + dir}
	script := "(read x <" + fifo + ") & echo $!; exit 3"
	h := startLock(t, nil, append([]string{"job"}, append(locks, "--", "sh", "-c", script)...)...)
	left := h.line()
	try := append([]string{"job", "--wait", "0"}, append(locks, "--", "true")...)
	if got := startLock(t, nil, try...).code(); got != exitNotLocked {
		t.Errorf("another oid lock exits with %d while %s runs, want %d", got, left, exitNotLocked)
	}
	if err := os.WriteFile(fifo, []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	if got := h.code(); got != 3 {
		t.Errorf("exit code %d, want that of the command, 3", got)
	}
	if got := startLock(t, nil, try...).code(); got != 0 {
		t.Errorf("afterwards another oid lock exits with %d", got)
	}
}

// A signal ends what the command has left, though background processes of a shell
// ignore SIGINT; a second one kills it.
func TestLockSignalsEndWhatTheCommandLeaves(t *testing.T) {
	h := startLock(t, nil, "job", "--", "sh", "-c", "sh -c 'trap : TERM; echo $$; while :; do sleep 0.01; done' & exit 0")
	left := h.line()
	testenv.Await(t, "notice that the lock is held", func() error {
		if h.stderr.String() == "" {
			return fmt.Errorf("nothing on stderr")
		}
		return nil
	})
	h.signal(syscall.SIGINT)
	time.Sleep(500 * time.Millisecond) // two signals at once count as one
	if state := processState(left); state == "" || state == "Z" {
		t.Error("the first signal killed what was left")
	}
	h.signal(syscall.SIGINT)
	if got, want := h.code(), 128+int(syscall.SIGINT); got != want {
		t.Errorf("exit code %d, want %d: what the command had started was not allowed to finish", got, want)
	}
	gone(t, left)
}

// With --leave the lock is free when the command has ended.
func TestLockLeave(t *testing.T) {
	locks := []string{"--locks", "file:" + t.TempDir()}
	h := startLock(t, nil, append([]string{"job", "--leave"}, append(locks, "--", "sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!")...)...)
	left := h.line()
	if got := h.code(); got != 0 {
		t.Errorf("exit code %d", got)
	}
	if state := processState(left); state != "S" && state != "R" {
		t.Errorf("what the command left is in state %q", state)
	}
	if got := startLock(t, nil, append([]string{"job", "--wait", "0"}, append(locks, "--", "true")...)...).code(); got != 0 {
		t.Errorf("another oid lock exits with %d", got)
	}
	pid, _ := strconv.Atoi(left)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// SIGTSTP stops oid and all that its command has started. It goes on if the lock is still held.
func TestLockStopsTheCommandWithIt(t *testing.T) {
	// The process group of oid must have a parent that could make it go on.
	// A shell that starts others all the time does not stop itself while one of them
	// is stopped that has not begun yet.
	asked := filepath.Join(t.TempDir(), "asked")
	h := startLockInGroup(t, "job", "--", "bash", "-c", `trap 'echo >`+asked+`' TSTP
set -m; for i in 1 2 3; do sh -c "while kill -0 $$; do sleep 0.001; done" 2>/dev/null & done; set +m
setsid bash -c "while kill -0 $$; do :; done" 2>/dev/null & echo $!
(trap '' TSTP; exec sleep 1000) & echo $!; while :; do sleep 0.01; done`)
	session, child := h.line(), h.line()
	for range 2 {
		h.signal(syscall.SIGTSTP)
		awaitState(t, pidOf(h), "T")
		awaitState(t, child, "T")
		awaitState(t, session, "T")
		h.signal(syscall.SIGCONT)
		testenv.Await(t, "the command goes on", func() error {
			if states := processState(child) + processState(session); strings.Contains(states, "T") {
				return fmt.Errorf("states %q", states)
			}
			_, err := os.Stat(asked) // it may prepare for the stop
			return err
		})
	}
	h.signal(syscall.SIGTERM)
	if got := h.code(); got != 128+15 {
		t.Errorf("exit code %d, want %d", got, 128+15)
	}
}

// Where nobody could make oid go on, as under cron, SIGTSTP does not stop it, and the
// command goes on.
func TestLockIsNotStoppedForGood(t *testing.T) {
	t.Parallel()
	h := newHolding(t, nil, "job", "--", "bash", "-c", `trap 'exit 5' CONT; echo held; while :; do sleep 0.01; done`)
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	h.start()
	h.line()
	h.signal(syscall.SIGTSTP)
	if got := h.code(); got != 5 {
		t.Errorf("exit code %d, want that of the command when it goes on, 5", got)
	}
}

// oid is stopped for longer than the TTL. The next holder begins, and the command
// of the first is killed without having gone on.
func TestLockKillsTheCommandThatWasStoppedForTooLong(t *testing.T) {
	server := testenv.Redis(t)
	log := filepath.Join(t.TempDir(), "log")
	h := startLockInGroup(t, "job", "--locks", server.URL(), "--ttl", "1s", "--", "sh", "-c",
		`trap "" TERM; trap "echo first >>`+log+`" CONT; for i in 1 2 3 4 5 6 7; do while :; do :; done & done; echo held; while :; do :; done`)
	h.line()
	h.signal(syscall.SIGTSTP)
	awaitState(t, pidOf(h), "T")
	next := startLock(t, nil, "job", "--locks", server.URL(), "--", "sh", "-c", "echo second >>"+log)
	if got := next.code(); got != 0 {
		t.Errorf("exit code of the next %d; stderr: %s", got, next.stderr.String())
	}
	h.signal(syscall.SIGCONT)
	if got := h.code(); got != exitLockLost {
		t.Errorf("exit code %d, want %d; stderr: %s", got, exitLockLost, h.stderr.String())
	}
	text, err := os.ReadFile(log)
	if err != nil || !strings.HasSuffix(string(text), "second\n") {
		t.Errorf("the command went on after its lock had lapsed: %v, ... %q", err, text[max(0, len(text)-50):])
	}
}

// SIGSTOP stops oid alone for longer than the TTL. The command is killed when oid
// goes on.
func TestLockKillsTheCommandWhenItFindsTheLockEnded(t *testing.T) {
	server := testenv.Redis(t)
	h := startLock(t, nil, "job", "--locks", server.URL(), "--ttl", "1s", "--", "sh", "-c", "trap '' TERM; echo $$; while :; do sleep 0.01; done")
	command := h.line()
	h.signal(syscall.SIGSTOP)
	next := startLock(t, nil, "job", "--locks", server.URL(), "--", "true")
	if got := next.code(); got != 0 {
		t.Errorf("exit code of the next %d; stderr: %s", got, next.stderr.String())
	}
	if state := processState(command); state == "T" {
		t.Error("SIGSTOP to oid has stopped the command")
	}
	h.signal(syscall.SIGCONT)
	if got := h.code(); got != exitLockLost {
		t.Errorf("exit code %d, want %d; stderr: %s", got, exitLockLost, h.stderr.String())
	}
	gone(t, command)
}

// The command starts processes without end, several at a time and each in a group of its
// own. All are killed before the lock ends, and by the guard if oid is killed.
func TestLockKillsProcessesThatStartOthers(t *testing.T) {
	server := testenv.Redis(t)
	for how, code := range map[string]int{"lost": exitLockLost, "killed": 128 + 9} {
		t.Run(how, func(t *testing.T) {
			proxy := testenv.NewProxy(t, server.Addr)
			log := filepath.Join(t.TempDir(), "log")
			// wc makes them live longer than it takes to find one.
			h := startLock(t, nil, how, "--locks", proxy.URL(), "--ttl", "2s", "--", "bash", "-c", `trap "" TERM; set -m
next() { echo $BASHPID >>`+log+`; if [ $SECONDS -gt 40 ]; then echo by itself; else wc </dev/null >/dev/null; next & fi; }
for i in 1 2 3 4 5 6 7 8; do next; done; echo held`)
			h.line()
			if how == "lost" {
				proxy.Cut(true, true)
			} else {
				h.signal(syscall.SIGKILL)
			}
			if h.lines.Scan() { // false when all that have the pipe have ended
				t.Errorf("a process ended %s", h.lines.Text())
			}
			if got := h.code(); got != code {
				t.Errorf("exit code %d, want %d; stderr: %s", got, code, h.stderr.String())
			}
			text, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			pids := strings.Fields(string(text))
			for _, pid := range pids[max(0, len(pids)-10):] {
				if how == "killed" {
					gone(t, pid)
				} else if running(pid) {
					t.Errorf("process %s of %d is left in state %q", pid, len(pids), processState(pid))
				}
			}
		})
	}
}

func TestLockStatusInRedis(t *testing.T) {
	where := []string{"--locks", testenv.Redis(t).URL()}
	h := startLock(t, nil, append([]string{"job"}, append(where, "--", "sh", "-c", "echo held; exec sleep 1000")...)...)
	h.line()
	for range 2 {
		startLock(t, nil, append([]string{"job"}, append(where, "--", "true")...)...)
	}
	status := func(flags ...string) (text string) {
		s := startLock(t, nil, append([]string{"--status", "job"}, append(where, flags...)...)...)
		for s.lines.Scan() {
			text += s.lines.Text() + "\n"
		}
		s.code()
		return text
	}
	testenv.Await(t, "two waiters", func() error {
		if text := status("--json"); !strings.Contains(text, `"waiters":2`) {
			return fmt.Errorf("status: %s", text)
		}
		return nil
	})
	host, _ := os.Hostname()
	text := status()
	for _, want := range []string{", 2 waiting\n", "\n  pid " + pidOf(h) + " on " + host + `, alive: oid lock job -- sh -c "echo held; exec sleep 1000"`} {
		if !strings.Contains(text, want) {
			t.Errorf("status %q, want it to contain %q", text, want)
		}
	}
}
