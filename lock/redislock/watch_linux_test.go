package redislock_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

// pidfds returns how many pidfds this process has for each other.
func pidfds(t *testing.T) map[int]int {
	t.Helper()
	files, err := filepath.Glob("/proc/self/fdinfo/*")
	if err != nil {
		t.Fatal(err)
	}
	pid := regexp.MustCompile(`(?m)^Pid:\s(\d+)$`)
	all := make(map[int]int)
	for _, file := range files {
		text, _ := os.ReadFile(file) // it may have been closed
		if m := pid.FindSubmatch(text); m != nil {
			n, _ := strconv.Atoi(string(m[1]))
			all[n]++
		}
	}
	return all
}

// A waiter watches the process that holds the lock now, and no earlier holder. With
// its end the watch ends as well.
func TestWatchFollowsTheHolder(t *testing.T) {
	testenv.Long(t, "takes seconds")
	server := testenv.Redis(t)
	start := func() *child {
		c := startChild(t, server.URL(), time.Minute, "hold")
		c.report("acquired")
		return c
	}
	first := start()
	value := server.CLI("GET", "oid:lock:{job}")
	server.CLI("DEL", "oid:lock:{job}")
	second := start()
	before := pidfds(t) // package os has one for each child
	watched := func(c *child) {
		t.Helper()
		want := maps.Clone(before)
		if c != nil {
			want[c.cmd.Process.Pid]++
		}
		until(t, "watch", func() bool { return maps.Equal(pidfds(t), want) })
	}
	got := waitFor(t, server.URL(), time.Minute)
	watched(second)
	server.CLI("SET", "oid:lock:{job}", value, "PX", "60000")
	watched(first)
	server.CLI("DEL", "oid:lock:{job}")
	<-got
	watched(nil)
}

// TryAcquire takes the lock of a holder on this host that has ended.
func TestTryAcquireAfterTheHoldersDeath(t *testing.T) {
	url := testenv.Redis(t).URL()
	l := open(t, url, time.Minute)
	c := startChild(t, url, time.Minute, "hold")
	c.report("acquired")
	held := (*lock.HeldError)(nil)
	if _, err := l.TryAcquire(t.Context(), "job", nil); !errors.As(err, &held) {
		t.Fatalf("while it runs: %v, want a HeldError", err)
	}
	c.signal(syscall.SIGKILL)
	_ = c.cmd.Wait()
	lease, err := l.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatalf("after its end: %v", err)
	}
	if lease.Fence() <= held.Status.Fence {
		t.Errorf("fence %d after %d", lease.Fence(), held.Status.Fence)
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}
