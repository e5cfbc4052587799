//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// holding is an "oid lock" that runs.
type holding struct {
	t      *testing.T
	cmd    *exec.Cmd
	out    io.Closer
	lines  *bufio.Scanner
	stderr output
}

// output is what a program has written so far; it may be read meanwhile.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// startLock starts "oid lock" with arguments.
func startLock(t *testing.T, env []string, args ...string) *holding {
	t.Helper()
	h := newHolding(t, env, args...)
	h.start()
	return h
}

// startLockInGroup is startLock in a process group of its own, as shells do.
func startLockInGroup(t *testing.T, args ...string) *holding {
	t.Helper()
	h := newHolding(t, nil, args...)
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	h.start()
	return h
}

func newHolding(t *testing.T, env []string, args ...string) *holding {
	t.Helper()
	h := &holding{t: t, cmd: exec.Command("oid", append([]string{"lock"}, args...)...)}
	h.cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+t.TempDir(), "OID_LOCKS=")
	h.cmd.Env = append(h.cmd.Env, env...)
	h.cmd.Stderr = &h.stderr
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.out, h.lines = out, bufio.NewScanner(out)
	return h
}

func (h *holding) start() {
	h.t.Helper()
	if err := h.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = h.cmd.Process.Kill() })
}

// line returns the next line that the command has written.
func (h *holding) line() string {
	h.t.Helper()
	if !h.lines.Scan() {
		h.t.Fatalf("no more output; stderr: %s", h.stderr.String())
	}
	return h.lines.Text()
}

// code waits for the end and returns the exit code, as shells show it.
func (h *holding) code() int {
	h.t.Helper()
	overdue := time.AfterFunc(time.Minute, func() {
		_ = h.cmd.Process.Kill()
		_ = h.out.Close() // what the command has left may still have it
	})
	defer overdue.Stop()
	for h.lines.Scan() {
		h.t.Log(h.lines.Text())
	}
	_ = h.cmd.Wait()
	if status := h.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return h.cmd.ProcessState.ExitCode()
}

func (h *holding) signal(s os.Signal) {
	h.t.Helper()
	if err := h.cmd.Process.Signal(s); err != nil {
		h.t.Fatal(err)
	}
}

// gone waits until no process has the pid.
func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	testenv.Await(t, "end of process "+pid, func() error {
		// One that nobody has waited for yet has ended as well.
		if stat, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && strings.Contains(string(stat), ") Z ") {
			return nil
		}
		if err := syscall.Kill(n, 0); !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("it is there (%v)", err)
		}
		return nil
	})
}

func TestLockExitCodes(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	for _, test := range []struct {
		want int
		args []string
	}{
		{0, []string{"job", "--", "true"}},
		{1, []string{"job", "--", "false"}},
		{77, []string{"job", "--", "sh", "-c", "exit 77"}},
		{128 + 9, []string{"job", "--", "sh", "-c", "kill -9 $$"}},
		{128 + 15, []string{"job", "--", "sh", "-c", "kill $$"}},
		{exitUsage, []string{"job"}},
		{exitNotLocked, []string{"job", "--wait", "0", "--", "env", "-u", lockOwnerVariable, "oid", "lock", "job", "--wait", "0", "--", "true"}},
		{exitNotLocked, []string{"job", "--", "env", "-u", lockOwnerVariable, "oid", "lock", "job", "--wait", "50ms", "--", "true"}},
		{exitLockFailed, []string{"job", "--", "oid", "lock", "job", "--", "true"}},
		{exitLockFailed, []string{"job", "--", "oid", "lock", "other", "--", "oid", "lock", "job", "--", "true"}},
		{exitLockFailed, []string{"job", "--locks", "redis://127.0.0.1:" + strconv.Itoa(testenv.FreePort(t)), "--", "true"}},
		{1, []string{"--status", "job", "--locks", "redis://127.0.0.1:" + strconv.Itoa(testenv.FreePort(t))}},
		{exitCannotRun, []string{"job", "--", "/dev/null"}},
		{exitNotFound, []string{"job", "--", "there is no such command"}},
		{exitNotFound, []string{"job", "--", "./there is no such file"}},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			t.Parallel()
			h := startLock(t, nil, test.args...)
			if got := h.code(); got != test.want {
				t.Errorf("oid lock %q exits with %d, want %d", test.args, got, test.want)
			}
			if command := test.args[len(test.args)-1]; test.want == exitNotFound && !strings.Contains(h.stderr.String(), command) {
				t.Errorf("oid lock %q does not say what was not found: %s", test.args, h.stderr.String())
			}
		})
	}
}

func TestLockPassesSignalsToTheGroup(t *testing.T) {
	// The signal ends a grandchild as well, which the command does not care for.
	h := startLock(t, nil, "job", "--", "sh", "-c", `trap 'echo term; exit 5' TERM; trap 'echo usr1' USR1
sh -c 'echo $$; exec sleep 1000 >/dev/null 2>&1' & while :; do wait; done`)
	grandchild := h.line()
	h.signal(syscall.SIGUSR1)
	if got := h.line(); got != "usr1" {
		t.Errorf("the command says %q, want usr1", got)
	}
	h.signal(syscall.SIGTERM)
	if got := h.code(); got != 5 {
		t.Errorf("exit code %d, want that of the command, 5", got)
	}
	gone(t, grandchild)
}

// oid passes each signal on and does not kill a command that goes on after one.
func TestLockPassesEverySignalOn(t *testing.T) {
	t.Parallel()
	h := startLock(t, nil, "job", "--", "sh", "-c", `trap 'echo int' INT; trap 'n=x$n; echo $n; [ $n != xxx ] || exit 5' TERM
echo held; while :; do :; done`) // a child would get the signals too
	h.line()
	for s, want := range []string{"x", "xx"} {
		h.signal(syscall.SIGTERM)
		if got := h.line(); got != want {
			t.Errorf("after SIGTERM %d the command says %q, want %q", s+1, got, want)
		}
		h.signal(syscall.SIGINT)
		if got := h.line(); got != "int" {
			t.Errorf("the command says %q, want int", got)
		}
	}
	h.signal(syscall.SIGTERM)
	if got := h.code(); got != 5 {
		t.Errorf("exit code %d, want that of the command, 5", got)
	}
}

// Under nohup oid and the command ignore SIGHUP, and in the background of a script SIGINT.
func TestLockKeepsSignalsIgnored(t *testing.T) {
	t.Parallel()
	h := newHolding(t, nil, "job", "--", "sh", "-c", `kill -HUP $$; kill -INT $$; echo ignored; exec sleep 1000`)
	h.cmd.Args = append([]string{"sh", "-c", `trap '' HUP INT; exec "$@"`, "sh"}, h.cmd.Args...)
	h.cmd.Path = "/bin/sh"
	h.start()
	h.line()
	h.signal(syscall.SIGHUP)
	h.signal(syscall.SIGINT)
	h.signal(syscall.SIGTERM)
	if got, want := h.code(), 128+int(syscall.SIGTERM); got != want {
		t.Errorf("exit code %d, want %d", got, want)
	}
}

func TestLockHonoursSignalsWhileWaiting(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t)
	for name, url := range map[string]string{"file": "", "Redis": server.URL()} {
		t.Run(name, func(t *testing.T) {
			env := []string{"XDG_DATA_HOME=" + t.TempDir(), "OID_LOCKS=" + url}
			holder := startLock(t, env, "job", "--", "sh", "-c", "echo held; exec sleep 1000")
			holder.line()
			for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
				waiter := startLock(t, env, "job", "--", "echo", "ran")
				time.Sleep(300 * time.Millisecond)
				waiter.signal(s)
				began := time.Now()
				if got := waiter.code(); got != 128+int(s) {
					t.Errorf("exit code after %v %d, want %d", s, got, 128+int(s))
				}
				if d := time.Since(began); d > 20*time.Second {
					t.Errorf("%v was honoured after %v", s, d)
				}
			}
			holder.signal(syscall.SIGTERM)
			if got := holder.code(); got != 128+15 {
				t.Errorf("exit code %d, want %d", got, 128+15)
			}
			after := startLock(t, env, "job", "--wait", "20s", "--", "echo", "ran")
			if got := after.line(); got != "ran" || after.code() != 0 {
				t.Errorf("after the holder has gone: %q", got)
			}
		})
	}
}

// A signal that comes while oid starts, before it listens for the command, ends the
// waiting too.
func TestLockHonoursASignalAtItsStart(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("OID_LOCKS", "")
	holder := startLock(t, []string{"XDG_DATA_HOME=" + os.Getenv("XDG_DATA_HOME")}, "job", "--", "sh", "-c", "echo held; exec sleep 1000")
	holder.line()
	ctx, interrupt := context.WithCancelCause(t.Context())
	const sent = syscall.SIGQUIT // one of which oid would not die itself, and the test with it
	interrupt(interrupted{sent})
	for _, name := range []string{"job", "free"} {
		ended, out := make(chan int, 1), &bytes.Buffer{}
		go func() {
			ended <- run(ctx, streams{strings.NewReader(""), out, io.Discard}, []string{"lock", name, "--", "echo", "ran"})
		}()
		select {
		case code := <-ended:
			if code != 128+int(sent) || out.Len() > 0 {
				t.Errorf("%s: exit code %d, want %d; the command wrote %q", name, code, 128+int(sent), out)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: the signal was not honoured", name)
		}
	}
}

// A holder that is cut off ends its command, with all that this has started,
// before the next one can have the lock.
func TestLockEndsTheCommandBeforeTheTTL(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	server := testenv.Redis(t)
	proxy := testenv.NewProxy(t, server.Addr)
	stubborn := startLock(t, nil, "job", "--locks", proxy.URL(), "--ttl", "8s", "--grace", "1s", "--", "sh", "-c", `trap 'echo term' TERM
sleep 1000 >/dev/null 2>&1 & echo $!
while :; do date +%s%N; sleep 0.01; done`)
	child := stubborn.line()
	proxy.Cut(true, true)
	next := startLock(t, nil, "job", "--locks", server.URL(), "--", "date", "+%s%N")
	var last, began, warned int64
	asked := 0
	for stubborn.lines.Scan() {
		if stubborn.lines.Text() == "term" {
			asked++
			continue
		}
		last, _ = strconv.ParseInt(stubborn.lines.Text(), 10, 64)
		if asked > 0 && warned == 0 {
			warned = last
		}
	}
	if got := stubborn.code(); got != exitLockLost {
		t.Errorf("exit code %d, want %d; stderr: %s", got, exitLockLost, stubborn.stderr.String())
	}
	if asked != 1 {
		t.Errorf("the command was asked to end %d times before it was killed, want once", asked)
	}
	// It is killed after the grace, a twentieth of the TTL before the end.
	ends := regexp.MustCompile(`ends in (\S+);`).FindStringSubmatch(stubborn.stderr.String())
	if ends == nil {
		t.Fatalf("stderr: %s", stubborn.stderr.String())
	}
	if left, err := time.ParseDuration(ends[1]); err != nil || left <= 400*time.Millisecond || left > 1400*time.Millisecond {
		t.Errorf("the lock ends in %v, %v; want 1.4s, or less by what oid was late", left, err)
	}
	if took := time.Duration(last - warned); warned > 0 && took > 1750*time.Millisecond {
		t.Errorf("the command was killed %v after it was asked to end, want 1s", took)
	}
	began, _ = strconv.ParseInt(next.line(), 10, 64)
	if last == 0 || began <= last {
		t.Errorf("the next began at %d, the command was alive at %d", began, last)
	}
	gone(t, child)
	if got := next.code(); got != 0 {
		t.Errorf("exit code of the next %d", got)
	}
}

func TestLockLostInRedis(t *testing.T) {
	server := testenv.Redis(t)
	h := startLock(t, nil, "job", "--locks", server.URL(), "--ttl", "1s", "--", "sh", "-c", "echo held; exec sleep 1000")
	h.line()
	server.CLI("FLUSHALL")
	if got := h.code(); got != exitLockLost {
		t.Errorf("exit code %d, want %d", got, exitLockLost)
	}
	if !strings.Contains(h.stderr.String(), "oid: the lock was lost while the command ran: lost") {
		t.Errorf("stderr: %s", h.stderr.String())
	}
}

func TestLockCommandDiesWithOid(t *testing.T) {
	h := startLock(t, nil, "job", "--", "sh", "-c", "echo $$; exec sleep 1000")
	child := h.line()
	h.signal(syscall.SIGKILL)
	gone(t, child)
}

func TestLockEnvironmentInRedis(t *testing.T) {
	server := testenv.Redis(t)
	h := startLock(t, []string{"OID_LOCK_OUTER=x"}, "job", "--locks", server.URL(), "--", "sh", "-c", "env | grep ^OID_LOCK_ | sort")
	got := map[string]string{}
	for h.lines.Scan() {
		name, value, _ := strings.Cut(h.lines.Text(), "=")
		got[name] = value
	}
	h.code()
	if len(got) != 4 || got[lockNameVariable] != "job" || got[lockOwnerVariable] == "" {
		t.Errorf("environment %v", got)
	}
	if fence, err := strconv.ParseUint(got[lockFenceVariable], 10, 64); err != nil || fence == 0 {
		t.Errorf("fence %q", got[lockFenceVariable])
	}
	if d, err := time.Parse(time.RFC3339, got[lockDeadlineVariable]); err != nil || time.Until(d) <= 0 {
		t.Errorf("deadline %q: %v", got[lockDeadlineVariable], err)
	}
}

func TestLockWarnsOfEviction(t *testing.T) {
	server := testenv.Redis(t, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
	h := startLock(t, nil, "job", "--locks", server.URL(), "--", "true")
	if got := h.code(); got != 0 || !strings.HasPrefix(h.stderr.String(), "oid: warning: 127.0.0.1:") {
		t.Errorf("exit code %d, stderr %q", got, h.stderr.String())
	}
}

// On a terminal the command is in front, so that it can read and gets Ctrl-C.
func TestLockOnATerminal(t *testing.T) {
	if _, err := exec.LookPath("script"); err != nil {
		testenv.Missing(t, "script is not installed: apt-get install bsdutils")
	}
	cmd := exec.Command("script", "-qec", "trap : INT; oid lock job -- sh -c 'read line; echo got $line; read line'; echo code $?", "/dev/null")
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+t.TempDir(), "OID_LOCKS=")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer overdue.Stop()
	_, _ = io.WriteString(in, "hello\n")
	var seen []string
	for s := bufio.NewScanner(out); s.Scan(); {
		seen = append(seen, s.Text())
		if strings.Contains(s.Text(), "got hello") {
			_, _ = in.Write([]byte{3}) // Ctrl-C
		}
	}
	_ = cmd.Wait()
	if all := strings.Join(seen, "\n"); !strings.Contains(all, "got hello") || !strings.Contains(all, "code 130") {
		t.Errorf("the terminal shows:\n%s", all)
	}
}
