//go:build unix

package redislock_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/redislock"
)

// childVariable makes this program a process that uses a lock: "url ttl what".
const childVariable = "OID_REDISLOCK_CHILD"

// ownGroup lets a command run in a process group of its own, where there are groups.
var ownGroup func(*exec.Cmd)

// childMain is that process, if it is one. It reports on stdout and ends with its
// stdin.
func childMain() {
	var url, what string
	var seconds float64
	if n, _ := fmt.Sscan(os.Getenv(childVariable), &url, &seconds, &what); n != 3 {
		return
	}
	ctx := context.Background()
	l, err := redislock.Open(ctx, url, &redislock.Options{TTL: time.Duration(seconds * float64(time.Second))})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	acquire := func(o *lock.AcquireOptions) *lock.Lease {
		lease, err := l.Acquire(ctx, "job", o)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return lease
	}
	report := func(lease *lock.Lease) { fmt.Println("acquired", time.Now().UnixNano(), lease.Fence()) }
	switch what {
	case "hold":
		report(acquire(&lock.AcquireOptions{Command: "the child's command"}))
	case "group": // of another process, which outlives this one
		lease := acquire(&lock.AcquireOptions{Group: true})
		work := exec.Command("sleep", "100")
		ownGroup(work)
		if err := work.Start(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		if err := lease.SetGroup(work.Process.Pid); err != nil {
			fmt.Println(err)
		}
		fmt.Println("group", work.Process.Pid)
		report(lease)
	case "unnamed": // group, which may exist and may not
		report(acquire(&lock.AcquireOptions{Group: true}))
	default: // a number of waiters
		n, _ := strconv.Atoi(what)
		for range n {
			go func() {
				lease := acquire(nil)
				report(lease)
				time.Sleep(10 * time.Millisecond)
				fmt.Println("released", time.Now().UnixNano(), lease.Release())
			}()
		}
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// child is a process that uses a lock.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string
}

func startChild(t *testing.T, url string, ttl time.Duration, what string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(os.Args[0]), lines: make(chan string, 1000)}
	c.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %g %s", childVariable, url, ttl.Seconds(), what))
	stdin, err1 := c.cmd.StdinPipe()
	stdout, err2 := c.cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for s := bufio.NewScanner(stdout); s.Scan(); {
			c.lines <- s.Text()
		}
		close(c.lines)
	}()
	t.Cleanup(func() {
		stdin.Close()
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	})
	return c
}

// report returns what follows a word on the next line, which begins with it.
func (c *child) report(word string) string {
	c.t.Helper()
	select {
	case line := <-c.lines:
		rest, found := strings.CutPrefix(line, word+" ")
		if !found {
			c.t.Fatalf("child: %q, want %s", line, word)
		}
		return rest
	case <-time.After(30 * time.Second):
		c.t.Fatalf("child did not report %s", word)
	}
	return ""
}

// signal sends s. After SIGSTOP it returns when all threads of the child stand still.
func (c *child) signal(s syscall.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
	if s != syscall.SIGSTOP {
		return
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(c.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		c.t.Fatalf("wait for the child to stop: %v, %v", status, err)
	}
}
