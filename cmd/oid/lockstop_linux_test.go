package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// stopping is an oid lock with a graceful command.
type stopping struct {
	*holding
	oid, guard, command int
}

// startGraceful starts a shell script, which must run graceful.
func startGraceful(t *testing.T, script string) stopping {
	t.Helper()
	h := startLockInGroup(t, "job", "--", "sh", "-c", "echo $PPID; "+script)
	s := stopping{holding: h, oid: h.cmd.Process.Pid}
	if _, err := fmt.Sscan(h.line()+" "+h.line(), &s.guard, &s.command); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // the guard drops what comes at the very start
	return s
}

// send sends SIGTERM to processes one after the other; negative numbers are process groups.
func send(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
}

// finishes checks that the command got SIGTERM once: it has ended, and not before its work was
// finished.
func (s stopping) finishes(t *testing.T, code int) {
	t.Helper()
	if !s.lines.Scan() || s.lines.Text() != "finished" {
		t.Errorf("the command was ended before it had finished")
	}
	if got := s.code(); got != code {
		t.Errorf("exit code %d, want %d; stderr: %s", got, code, s.stderr.String())
	}
}

// The command gets SIGTERM exactly once, no matter who sent the signal to oid and which other
// processes received it.
func TestLockCommandGetsSignalOnce(t *testing.T) {
	const plain = "exec graceful"
	for name, test := range map[string]struct {
		script string
		send   func(t *testing.T, s stopping)
	}{
		"kill PID, KillMode=mixed, docker stop": {plain, func(t *testing.T, s stopping) { send(t, s.oid) }},
		"stopasgroup of supervisord":            {plain, func(t *testing.T, s stopping) { send(t, -s.oid) }},
		"timeout":                               {plain, func(t *testing.T, s stopping) { send(t, s.oid, -s.oid) }},
		"all of a unit":                         {plain, func(t *testing.T, s stopping) { send(t, s.oid, s.guard, s.command) }},
		"all of a tree, children first":         {plain, func(t *testing.T, s stopping) { send(t, s.command, s.guard, s.oid) }},
		"all, slowly": {plain, func(t *testing.T, s stopping) {
			send(t, s.guard)
			time.Sleep(50 * time.Millisecond)
			send(t, s.oid)
			time.Sleep(50 * time.Millisecond)
			send(t, s.command)
		}},
		"two locks": {"exec oid lock inner -- graceful", func(t *testing.T, s stopping) {
			innerGuard := parent(t, s.command)
			send(t, s.oid, s.guard, parent(t, innerGuard), innerGuard, s.command)
		}},
		"two locks, kill PID": {"exec oid lock inner -- graceful", func(t *testing.T, s stopping) { send(t, s.oid) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startGraceful(t, test.script)
			test.send(t, s)
			s.finishes(t, 0)
		})
	}
}

func parent(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[1])
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// What the command has left gets the signal once as well. Then oid dies of the signal.
func TestLockLeftGetsSignalOnce(t *testing.T) {
	for name, to := range map[string]func(s stopping) []int{
		"kill PID": func(s stopping) []int { return []int{s.oid} },
		"timeout":  func(s stopping) []int { return []int{s.oid, -s.oid} },
		"all":      func(s stopping) []int { return []int{s.oid, s.guard, s.command} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startGraceful(t, "graceful & exit 0")
			testenv.Await(t, "notice that the lock is held", func() error {
				if s.stderr.String() == "" {
					return errors.New("nothing on stderr")
				}
				return nil
			})
			send(t, to(s)...)
			s.finishes(t, 128+int(syscall.SIGTERM))
		})
	}
}

// A sender that chose oid and the guard by the file of their program, but not the command,
// succeeds when it repeats the signal.
func TestLockPassesRepeatedSignal(t *testing.T) {
	t.Parallel()
	s := startGraceful(t, "exec graceful")
	send(t, s.oid, s.guard)
	time.Sleep(500 * time.Millisecond)
	send(t, s.oid, s.guard)
	s.finishes(t, 0)
}

// A program that looks for processes by name does not find the guard.
func TestLockGuardHasAnotherName(t *testing.T) {
	t.Parallel()
	s := startGraceful(t, "exec graceful")
	for _, find := range []string{"pidof oid", "pgrep -x oid", "pgrep -f '^[^ ]*oid lock job'"} {
		out, _ := exec.Command("sh", "-c", find).Output()
		pids := strings.Fields(string(out))
		if _, err := exec.LookPath(strings.Fields(find)[0]); err != nil {
			continue
		}
		for _, pid := range pids {
			if pid == strconv.Itoa(s.guard) {
				t.Errorf("%s finds the guard", find)
			}
		}
	}
	send(t, s.oid)
	s.finishes(t, 0)
}

// A command in a cgroup of its own, as that of su(1) with a session, does not get what is sent
// to the unit of oid. So oid passes it on.
func TestLockCommandInAnotherCgroup(t *testing.T) {
	t.Parallel()
	root := cgroups(t)
	dir, err := os.MkdirTemp(root, "oid-test-")
	if err != nil {
		t.Skipf("cannot make a cgroup: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	s := startGraceful(t, "exec graceful")
	below := filepath.Join(dir, "cgroup.procs")
	if err := os.WriteFile(below, []byte(strconv.Itoa(s.oid)), 0); err != nil {
		t.Skipf("cannot move a process to a cgroup: %v", err)
	}
	if err := os.WriteFile(below, []byte(strconv.Itoa(s.guard)), 0); err != nil {
		t.Fatal(err)
	}
	send(t, s.oid, s.guard)
	s.finishes(t, 0)
}

// cgroups returns where cgroups of version 2 are mounted.
func cgroups(t *testing.T) string {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); err == nil && f[2] == "cgroup2" {
			return f[1]
		}
	}
	t.Skip("there are no cgroups of version 2")
	return ""
}

// SIGTERM during one of several ticks: its command finishes, and no further tick begins.
func TestLockStopsBetweenTicks(t *testing.T) {
	t.Parallel()
	where := []string{"--locks", "file:" + t.TempDir(), "--tz", "UTC"}
	call := func(schedule, script string) *holding {
		return startLock(t, nil, slices.Concat([]string{"job"}, where, []string{"--once", schedule, "--catch-up", "2", "--", "sh", "-c", script})...)
	}
	call(yearly(), "true").code() // without a first run, no tick was missed
	h := call(weekly(), `trap 'exit 0' TERM; echo began; while :; do sleep 0.01; done`)
	h.line()
	h.signal(syscall.SIGTERM)
	if h.lines.Scan() {
		t.Error("a further tick began")
	}
	if got, want := h.code(), 128+int(syscall.SIGTERM); got != want {
		t.Errorf("exit code %d, want %d; stderr: %s", got, want, h.stderr.String())
	}
	status := oid(t, "", append([]string{"lock", "--status", "job"}, where...)...).out
	if !strings.Contains(status, " done on ") {
		t.Errorf("the outcome is not recorded: %s", status)
	}
}

// --max ends all that the command has started.
func TestLockMax(t *testing.T) {
	t.Parallel()
	h := startLock(t, nil, "job", "--ttl", "3s", "--max", "500ms", "--", "sh", "-c",
		`setsid sh -c 'trap "" TERM; echo $$; exec sleep 1000' 2>/dev/null & sleep 1000`)
	child := h.line()
	if got := h.code(); got != exitTooLong {
		t.Errorf("exit code %d, want %d", got, exitTooLong)
	}
	if got, want := h.stderr.String(), "oid: the command was ended because it ran for 500ms (--max)\n"; got != want {
		t.Errorf("stderr %q, want %q", got, want)
	}
	gone(t, child)
}

// With --once, --max is for each tick, and the record shows its exit code. The next tick runs.
func TestLockMaxOfTicks(t *testing.T) {
	t.Parallel()
	where := []string{"--locks", "file:" + t.TempDir(), "--tz", "UTC"}
	call := func(schedule, script string) *holding {
		return startLock(t, nil, slices.Concat([]string{"job"}, where, []string{"--once", schedule, "--catch-up", "2", "--max", "1s", "--", "sh", "-c", script})...)
	}
	call(yearly(), "true").code() // without a first run, no tick was missed
	h := call(weekly(), "echo $OID_LOCK_TICK; exec sleep 1000")
	first, second, third := h.line(), h.line(), h.line()
	if got := h.code(); got != exitTooLong || first >= second || second >= third {
		t.Errorf("ticks %s, %s and %s, exit code %d; want %d", first, second, third, got, exitTooLong)
	}
	status := oid(t, "", append([]string{"lock", "--status", "job"}, where...)...).out
	if got := strings.Count(status, " failed with exit code 114 on "); got != 3 {
		t.Errorf("%d of 3 ticks are shown as ended by --max: %s", got, status)
	}
}

// A process that is the first of a container cannot end itself with a signal. There, oid exits with
// 128 plus the number of the signal that ended the command.
func TestLockAsFirstProcessOfAContainer(t *testing.T) {
	container := func(command ...string) *exec.Cmd {
		return exec.Command("unshare", append([]string{"-rpf", "--mount-proc"}, command...)...)
	}
	if container("true").Run() != nil {
		t.Skip("unshare cannot make a namespace of processes here")
	}
	cmd := container("oid", "lock", "job", "--", "sh", "-c", "kill -TERM $$")
	cmd.Env = append(os.Environ(), "OID_LOCKS=file:"+t.TempDir())
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Errorf("exit code %d, want 143; %v: %s", cmd.ProcessState.ExitCode(), err, out)
	}
}
