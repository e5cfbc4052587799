//go:build unix

package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// With --skipped, a run that is not possible or not needed now prints nothing and has the exit
// code of the flag, on every kind of backend. Cron mails nothing.
func TestLockSkipped(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	for backend, url := range onceBackends(t) {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			hold := func(args ...string) {
				args = append([]string{"--locks", url}, args...)
				startLock(t, nil, append(args, "--", "sh", "-c", "echo held; exec sleep 1000")...).line()
			}
			hold("held")
			hold("pool", "--slots", "1")
			hold("tick", "--once", "key=a")
			for tick, script := range map[string]string{"done": "true", "failed": "exit 3"} {
				startLock(t, nil, "over", "--locks", url, "--once", "key="+tick, "--", "sh", "-c", script).code()
			}
			for name, args := range map[string][]string{
				"held, no wait":              {"held", "--wait", "0"},
				"held for all of the wait":   {"held", "--wait", "2s"},
				"no slot is free":            {"pool", "--slots", "1", "--wait", "0"},
				"no slot gets free":          {"pool", "--slots", "1", "--wait", "2s"},
				"held with slots":            {"pool", "--wait", "0"},
				"held without slots":         {"held", "--slots", "3", "--wait", "0"},
				"the tick runs":              {"tick", "--once", "key=a"},
				"the tick runs, no wait":     {"tick", "--once", "key=a", "--wait", "0"},
				"the tick was run":           {"over", "--once", "key=done"},
				"the tick failed":            {"over", "--once", "key=failed"},
				"the last run still goes on": {"tick", "--once", "key=b", "--wait", "0"},
				"it goes on all the wait":    {"tick", "--once", "key=b", "--wait", "2s"},
				"it may fail and be retried": {"tick", "--once", "key=a", "--retry", "1", "--wait", "2s"},
			} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					for _, want := range []int{0, 255} {
						skipped(t, want, slices.Concat(args, []string{"--locks", url})...)
					}
				})
			}
		})
	}
}

// skipped checks that a call with --skipped prints nothing, and its exit code. If the machine is so
// busy that the backend does not answer in time, oid rightly says so, and the call is made again.
func skipped(t *testing.T, want int, args ...string) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		h := startLock(t, nil, slices.Concat(args, []string{"--skipped", strconv.Itoa(want), "--", "echo", "ran"})...)
		ran := h.lines.Scan()
		switch code, said := h.code(), h.stderr.String(); {
		case code == exitLockFailed && strings.Contains(said, "does not answer") && attempt < 5:
			continue
		case ran || code != want || said != "":
			t.Errorf("%q: exit code %d, want %d; ran: %v; said %q, want nothing", args, code, want, ran, said)
		}
		return
	}
}

// A file that another program locks, such as flock(1), is held too.
func TestLockSkippedForAStranger(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	startLock(t, nil, "job", "--locks", "file:"+folder, "--", "true").code()
	files, err := filepath.Glob(filepath.Join(folder, "*.lock"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files of the lock: %q, %v; want one", files, err)
	}
	script := `exec 9<"$0"; flock 9; oid lock job --locks "file:$1" --wait 0 --skipped 7 -- echo ran`
	cmd := exec.Command("sh", "-c", script, files[0], folder)
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 7 || len(out) > 0 {
		t.Errorf("exit code %d, said %q; want 7 and nothing", cmd.ProcessState.ExitCode(), out)
	}
}

// A tick for which it is too late is skipped.
func TestLockSkippedIfTooLate(t *testing.T) {
	t.Parallel()
	args := []string{"job", "--locks", "file:" + t.TempDir(), "--tz", "UTC", "--once"}
	for _, schedule := range [][]string{{yearly()}, {weekly(), "--catch-up", "16"}} {
		startLock(t, nil, slices.Concat(args, schedule, []string{"--", "true"})...).code()
	}
	skipped(t, 9, slices.Concat(args, []string{yearly()})...)
}

// --skipped hides no failure of the command and none of oid. TestLockBackendThatDoesNotAnswer has
// the backends that do not answer.
func TestLockSkippedHidesNoFailure(t *testing.T) {
	t.Parallel()
	redis := testenv.Redis(t)
	skips := []string{"--locks", redis.URL(), "--wait", "0", "--skipped", "0"}
	lose := []string{"sh", "-c", "redis-cli -u " + redis.URL() + " FLUSHALL; exec sleep 1000"}
	for _, test := range []struct {
		flags, command []string
		code           int
		said           string
	}{
		{nil, []string{"sh", "-c", "echo why >&2; exit 3"}, 3, "why"},
		{[]string{"--once", "key=a"}, []string{"sh", "-c", "exit 3"}, 3, "no earlier run"},
		{nil, []string{"sh", "-c", "kill -9 $$"}, 128 + 9, ""},
		{nil, []string{"/dev/null"}, exitCannotRun, "permission denied"},
		{nil, []string{"nosuch"}, exitNotFound, "does not exist"},
		{nil, slices.Concat([]string{"oid", "lock", "job"}, skips, []string{"--", "true"}), exitLockFailed, "already runs under"},
		{[]string{"--locks", "file:/dev/null/locks"}, []string{"true"}, exitLockFailed, "not a directory"},
		{[]string{"--once", "never"}, []string{"true"}, exitUsage, "--once: "},
		{[]string{"--ttl", "1s"}, lose, exitLockLost, "lost"},
		{[]string{"--ttl", "1s", "--once", "key=b"}, lose, exitLockLost, "lost"},
	} {
		h := startLock(t, nil, slices.Concat([]string{"job"}, skips, test.flags, []string{"--"}, test.command)...)
		if code, said := h.code(), h.stderr.String(); code != test.code || !strings.Contains(said, test.said) {
			t.Errorf("%q %q: exit code %d, want %d; said %q, want %q in it", test.flags, test.command, code, test.code, said, test.said)
		}
	}
}
