package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/internal/testenv"
)

// running reports whether a process runs.
func running(pid string) bool {
	state := processState(pid)
	return state != "" && state != "Z"
}

// kill kills a process and waits for its end.
func kill(t *testing.T, pid string) {
	t.Helper()
	signalPID(t, pid, syscall.SIGKILL)
	gone(t, pid)
}

// signalPID sends s. After SIGSTOP it returns when all threads of the process stand still.
func signalPID(t *testing.T, pid string, s syscall.Signal) {
	t.Helper()
	number, err := strconv.Atoi(pid)
	if err := errors.Join(err, syscall.Kill(number, s)); err != nil {
		t.Fatal(err)
	}
	if s != syscall.SIGSTOP {
		return
	}
	testenv.Await(t, "process "+pid+" to stop", func() error {
		threads, err := filepath.Glob("/proc/" + pid + "/task/*")
		for _, thread := range threads {
			if state := processState(strings.TrimPrefix(thread, "/proc/")); state != "T" {
				err = errors.Join(err, fmt.Errorf("%s is in state %s", thread, state))
			}
		}
		return err
	})
}

// adoptOrphans makes the test the parent of what its children leave. Without a parent in its
// session a group that stands still is woken by the kernel.
func adoptOrphans(t *testing.T) {
	t.Helper()
	subreaper := func(on uintptr) error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, on, 0, 0, 0) }
	if err := subreaper(1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = subreaper(0) })
}

// oid is killed. All that its command has started is killed too, also in sessions of its
// own, and a waiter of this machine gets the lock after that, long before the TTL, even if
// the guard is slow.
func TestLockOfAKilledOid(t *testing.T) {
	adoptOrphans(t)
	for backend, url := range map[string]string{"Redis": testenv.Redis(t).URL(), "file": "file:" + t.TempDir()} {
		t.Run(backend, func(t *testing.T) {
			const children = 10
			where := []string{"--locks", url, "--ttl", "10m"}
			h := startLock(t, nil, append([]string{"job"}, append(where, "--", "sh", "-c", fmt.Sprintf(`echo $PPID
for i in $(seq %d); do setsid sh -c 'trap "" TERM HUP; echo $$; sleep 1000 & wait' 2>/dev/null & done`, children))...)...)
			guard := h.line()
			var pids []string
			for range children {
				pids = append(pids, h.line())
			}
			awaitGroup(t, url)
			waiter := startLock(t, nil, append([]string{"job"}, append(where, "--", "sh", "-c",
				`for pid in `+strings.Join(pids, " ")+`; do cut -d' ' -f2,3 /proc/$pid/stat 2>/dev/null | grep -v Z; done; echo end`)...)...)
			signalPID(t, guard, syscall.SIGSTOP)
			h.signal(syscall.SIGKILL)
			time.Sleep(300 * time.Millisecond) // the waiter begins if it may
			if state := processState(guard); state != "T" {
				t.Errorf("the guard was to stand still, and is in state %q", state)
			}
			signalPID(t, guard, syscall.SIGCONT)
			if got := waiter.line(); got != "end" {
				t.Errorf("the waiter's command began while %q of the killed one ran", got)
			}
			if got := waiter.code(); got != 0 {
				t.Errorf("exit code of the waiter %d; stderr: %s", got, waiter.stderr.String())
			}
		})
	}
}

// The guard is killed. The command dies with it, and oid holds the lock until what the
// command has started has ended, which a signal to oid ends too.
func TestLockGuardIsKilled(t *testing.T) {
	h := startLock(t, nil, "job", "--", "sh", "-c", `echo $PPID; echo $$; setsid sh -c 'echo $$; exec sleep 1000' 2>/dev/null & wait`)
	guard, command, child := h.line(), h.line(), h.line()
	kill(t, guard)
	gone(t, command)
	time.Sleep(100 * time.Millisecond)
	if !running(child) || !running(pidOf(h)) {
		t.Error("oid or what the command has started has ended with the guard")
	}
	testenv.Await(t, "end of what the command has started", func() error {
		h.signal(syscall.SIGTERM) // again, if oid had not noticed yet that the command has ended
		if running(child) {
			return errors.New("it runs")
		}
		return nil
	})
	if got := h.code(); got != 128+9 {
		t.Errorf("exit code %d, want that of the command, %d", got, 128+9)
	}
}

// SIGKILL ends both oid and the guard. What the command has started goes on, and holds a
// lock in a file, which --status says.
func TestLockInAFileOutlivesTheGuard(t *testing.T) {
	backend := "file:" + t.TempDir()
	h := startLock(t, nil, "job", "--locks", backend, "--", "sh", "-c", `sleep 1000 >/dev/null 2>&1 & echo $PPID; echo $!; wait`)
	guard, child := h.line(), h.line()
	awaitGroup(t, backend)
	// oid stands still while the guard is killed, so that neither ends the child. The other way
	// round the guard would go on: the kernel wakes a group that loses its last parent.
	signalPID(t, pidOf(h), syscall.SIGSTOP)
	kill(t, guard)
	h.signal(syscall.SIGKILL)
	h.code()
	const orphan = ", ended, but processes of its command still run: oid lock job --"
	if got := oid(t, "", "lock", "--status", "job", "--locks", backend).out; !strings.Contains(got, orphan) {
		t.Errorf("%q, want %q", got, orphan)
	}
	if got := startLock(t, nil, "job", "--locks", backend, "--wait", "0", "--", "true").code(); got != exitNotLocked {
		t.Errorf("another oid lock exits with %d while process %s of the first is in state %q, want %d", got, child, processState(child), exitNotLocked)
	}
	kill(t, child)
	if got := startLock(t, nil, "job", "--locks", backend, "--wait", "30s", "--", "true").code(); got != 0 {
		t.Errorf("afterwards another oid lock exits with %d", got)
	}
}

// The guard begins before the packages of oid initialize: it costs a few of them, not all.
func TestGuardStartsEarly(t *testing.T) {
	cmd := exec.Command("oid", "lock", "job", "--locks", "file:"+t.TempDir(), "--", "true")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	times := make(map[string]int)
	var byBoth []string
	for _, m := range initTrace.FindAllStringSubmatch(string(out), -1) {
		times[m[1]]++
		if times[m[1]] == 2 {
			byBoth = append(byBoth, m[1])
		}
	}
	const early = "os/signal" // the guard needs it
	if times[early] != 2 || times["main"] != 1 {
		t.Fatalf("%s was initialized %d times and main %d times, want 2 and 1", early, times[early], times["main"])
	}
	if len(byBoth) > 34 {
		t.Errorf("the guard initializes %d packages before it begins, want 34 at most: see the imports of its package:\n%s", len(byBoth), strings.Join(byBoth, "\n"))
	}
}

// A process of another user that oid may not signal is named, whether the lock is lost or
// oid is killed.
func TestLockNamesWhatItCannotEnd(t *testing.T) {
	setpriv, err := exec.LookPath("setpriv")
	if err != nil || os.Getuid() != 0 {
		t.Skip("needs root, and setpriv of util-linux")
	}
	program, err := os.ReadFile(setpriv)
	if err != nil {
		t.Fatal(err)
	}
	oid, err := exec.LookPath("oid")
	if err != nil {
		t.Fatal(err)
	}
	becomesRoot := filepath.Join(t.TempDir(), "setpriv")
	if err := errors.Join(os.WriteFile(becomesRoot, program, 0o755), os.Chmod(becomesRoot, 0o755|os.ModeSetuid)); err != nil {
		t.Fatal(err)
	}
	letUsersReach(t, becomesRoot)
	letUsersReach(t, oid)
	redis := testenv.Redis(t)
	for how, test := range map[string]struct {
		end  func(h *holding)
		code int
		said string
	}{
		"lost":   {func(*holding) { redis.CLI("FLUSHALL") }, exitLockLost, "oid: the command cannot be ended: "},
		"killed": {func(h *holding) { h.signal(syscall.SIGKILL) }, 128 + 9, "oid: oid lock was killed and its command cannot be ended: "},
	} {
		t.Run(how, func(t *testing.T) {
			as := func(user string) []string { return []string{"--reuid", user, "--regid", user, "--clear-groups"} }
			h := newHolding(t, nil, append([]string{"job", "--locks", redis.URL(), "--ttl", "1s", "--", becomesRoot},
				append(as("0"), "sh", "-c", "echo $(id -u) $$; exec sleep 1000")...)...)
			h.cmd.Path, h.cmd.Args = setpriv, append(append([]string{"setpriv"}, as("65534")...), h.cmd.Args...)
			h.start()
			user, pid, _ := strings.Cut(h.line(), " ")
			t.Cleanup(func() {
				if running(pid) {
					signalPID(t, pid, syscall.SIGKILL)
				}
			})
			if user != "0" {
				t.Skip("the folder for temporary files is mounted with nosuid")
			}
			test.end(h)
			testenv.Await(t, "the name of the process", func() error {
				if said := h.stderr.String(); !strings.Contains(said, test.said+"may not signal process "+pid+" (") {
					return errors.New(said)
				}
				return nil
			})
			if !running(pid) {
				t.Error("the process was ended")
			}
			signalPID(t, pid, syscall.SIGKILL)
			if code := h.code(); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
		})
	}
}
