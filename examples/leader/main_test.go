//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// Three processes are leaders one after the other, with rising fences, whether the leader is
// killed or stops, and the last one ends without an error.
func TestLeaders(t *testing.T) {
	url := testenv.Redis(t).URL()
	program := filepath.Join(t.TempDir(), "leader")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	type line struct {
		process int
		fence   uint64
	}
	lines := make(chan line, 1000)
	fence := uint64(0)
	processes := make(map[int]*exec.Cmd)
	for i := range 3 {
		cmd := exec.Command(program, "-locks", url)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		processes[i] = cmd
		go func() {
			for s := bufio.NewScanner(out); s.Scan(); {
				l := line{process: i}
				_, _ = fmt.Sscanf(s.Text(), "working with fence %d", &l.fence)
				lines <- l
			}
		}()
	}
	for last, end := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGTERM} {
		leader := line{process: -1}
		for overdue := time.After(time.Minute); processes[leader.process] == nil; { // it may have ended meanwhile
			select {
			case leader = <-lines:
			case <-overdue:
				t.Fatalf("nobody leads after %d leaders", last)
			}
		}
		if leader.fence <= fence {
			t.Errorf("fence %d after %d", leader.fence, fence)
		}
		fence = leader.fence
		cmd := processes[leader.process]
		delete(processes, leader.process)
		if err := cmd.Process.Signal(end); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); (err == nil) != (end == syscall.SIGTERM) {
			t.Errorf("after %v: %v", end, err)
		}
	}
}

// The program stays one that is read at a glance.
func TestLength(t *testing.T) {
	text, err := os.ReadFile("main.go")
	if n := strings.Count(string(text), "\n"); err != nil || n > 40 {
		t.Errorf("main.go has %d lines, want 40 at most; %v", n, err)
	}
}
