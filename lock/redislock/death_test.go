//go:build unix

package redislock_test

import (
	"errors"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/redislock"
)

func init() {
	ownGroup = func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
}

// waitFor lets a Locker wait for the lock that a child holds. The channel gets the
// time at which it had the lock, which it then released.
func waitFor(t *testing.T, url string, ttl time.Duration) (got chan time.Time) {
	t.Helper()
	l := open(t, url, ttl)
	got = make(chan time.Time, 1)
	go func() {
		lease, err := l.Acquire(t.Context(), "job", nil)
		if err != nil {
			t.Errorf("Acquire: %v", err)
			return
		}
		at := time.Now()
		if err := lease.Release(); err != nil {
			t.Errorf("Release: %v", err)
		}
		got <- at // at last: the test that gets it may end and close the Locker
	}()
	until(t, "waiter", func() bool {
		s, err := l.Status(t.Context(), "job")
		return err == nil && s.Waiters == 1
	})
	return got
}

// When the kernel says that the holder on this host has ended, the next gets the
// lock at once and not at the end of its TTL.
func TestHolderKilledWithAWaiterOnItsHost(t *testing.T) {
	const ttl = 6 * time.Second
	url := testenv.Redis(t).URL()
	const goal = 50 * time.Millisecond
	var all []time.Duration
	for range 20 { // until one of them was not disturbed by other programs
		holder := startChild(t, url, ttl, "hold")
		holder.report("acquired")
		got := waitFor(t, url, ttl)
		time.Sleep(100 * time.Millisecond)
		killed := time.Now()
		holder.signal(syscall.SIGKILL)
		select {
		case at := <-got:
			took := at.Sub(killed)
			if took <= goal {
				return
			}
			all = append(all, took)
		case <-time.After(ttl / 2):
			t.Fatalf("nobody has the lock %v after the death of its holder", ttl/2)
		}
	}
	t.Errorf("the next had the lock %v after the death of its holder, want %v", slices.Min(all), goal)
}

// The lock of a command is free when the whole of its process group has ended.
func TestHolderKilledButNotItsGroup(t *testing.T) {
	const ttl = 12 * time.Second
	url := testenv.Redis(t).URL()
	holder := startChild(t, url, ttl, "group")
	group, err := strconv.Atoi(holder.report("group"))
	if err != nil {
		t.Fatal(err)
	}
	holder.report("acquired")
	defer syscall.Kill(-group, syscall.SIGKILL)
	got := waitFor(t, url, ttl)
	holder.signal(syscall.SIGKILL)
	select {
	case <-got:
		t.Fatal("the lock was freed though its group still ran")
	case <-time.After(time.Second):
	}
	if err := syscall.Kill(-group, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-got:
	case <-time.After(ttl / 3): // by the TTL it would have been later
		t.Fatal("the lock was not freed though its group had ended")
	}
}

// While the group has no name only the TTL counts.
func TestHolderKilledBeforeItNamedItsGroup(t *testing.T) {
	const ttl = 2 * time.Second
	url := testenv.Redis(t).URL()
	holder := startChild(t, url, ttl, "unnamed")
	holder.report("acquired")
	got := waitFor(t, url, ttl)
	holder.signal(syscall.SIGKILL)
	killed := time.Now()
	if at := <-got; at.Sub(killed) < ttl/4 { // a renewal may have been late
		t.Errorf("the lock was freed after %v, want it held for the TTL of %v", at.Sub(killed), ttl)
	}
}

// A holder that is only stopped keeps its lock for the TTL.
func TestHolderStoppedIsNotDead(t *testing.T) {
	const ttl = 2 * time.Second
	url := testenv.Redis(t).URL()
	holder := startChild(t, url, ttl, "hold")
	holder.report("acquired")
	got := waitFor(t, url, ttl)
	holder.signal(syscall.SIGSTOP)
	stopped := time.Now()
	if at := <-got; at.Sub(stopped) < ttl/4 { // a renewal may have been late
		t.Errorf("the lock was freed after %v, want it held for the TTL of %v", at.Sub(stopped), ttl)
	}
}

func TestStatusDescribesTheHolder(t *testing.T) {
	url := testenv.Redis(t).URL()
	c := startChild(t, url, 5*time.Second, "hold")
	c.report("acquired")
	l := open(t, url, 0)
	s, err := l.Status(t.Context(), "job")
	if err != nil || s.Holder.Host == "" || s.Holder.Process.PID != c.cmd.Process.Pid ||
		s.Holder.Command != "the child's command" || s.Holder.State != lock.StateAlive {
		t.Errorf("Status = %+v, %v; want host, pid and command of the holder, alive", s, err)
	}
	if age := time.Since(s.Since); age < 0 || age > time.Minute {
		t.Errorf("held since %v", s.Since)
	}
	var held *lock.HeldError
	if _, err := l.TryAcquire(t.Context(), "job", nil); !errors.As(err, &held) || held.Status.Holder.Command != s.Holder.Command {
		t.Errorf("TryAcquire: %v, want it to name the command", err)
	}
	c.signal(syscall.SIGKILL)
	until(t, "holder has ended", func() bool {
		s, err := l.Status(t.Context(), "job")
		return err == nil && s.Held && s.Holder.State == lock.StateEnded
	})
}

// Close ends the subscription, the watch of a holder and the client's goroutines.
func TestCloseLeavesNoGoroutines(t *testing.T) {
	const ttl = 5 * time.Second
	url := testenv.Redis(t).URL()
	startChild(t, url, ttl, "hold").report("acquired")
	l, err := redislock.Open(t.Context(), url, &redislock.Options{TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := l.Acquire(t.Context(), "job", nil)
		ended <- err
	}()
	goroutines := func() string {
		all := make([]byte, 1<<20)
		return string(all[:runtime.Stack(all, true)])
	}
	for _, what := range []string{"redislock.(*Locker).subscribe", "holder.Watch", "rueidis."} {
		until(t, what, func() bool { return strings.Contains(goroutines(), what) })
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, lock.ErrClosed) {
		t.Errorf("Acquire: %v, want ErrClosed", err)
	}
	if all := goroutines(); strings.Contains(all, "lock/redislock.") {
		t.Errorf("after Close there still is\n%s", all)
	}
	until(t, "end of the client", func() bool { return !strings.Contains(goroutines(), "rueidis.") })
}
