//go:build unix

package testenv_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// gone reports whether no process has the pid, for Await.
func gone(pid int) func() error {
	return func() error {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("process %d is still there (%v)", pid, err)
		}
		return nil
	}
}

// startSleeper starts a process that ends only when it is killed, and returns
// its pid.
func startSleeper(t *testing.T) (*testenv.Process, int) {
	p := testenv.Start(t, "/bin/sh", "-c", "echo pid $$; exec sleep 1000")
	pid := testenv.Must(strconv.Atoi(p.Line(t, func(line string) (string, bool) { return strings.CutPrefix(line, "pid ") })))(t)
	return p, pid
}

func TestStopEndsTheServer(t *testing.T) {
	p, pid := startSleeper(t)
	p.Stop()
	testenv.Await(t, "server gone", gone(pid))
	p.Stop() // does nothing
}

func TestEndOfTheTestEndsTheServer(t *testing.T) {
	var pid int
	t.Run("server", func(t *testing.T) { _, pid = startSleeper(t) })
	testenv.Await(t, "server gone", gone(pid))
}

// A test program that is killed cannot clean up.
func TestServerDiesWithItsParent(t *testing.T) {
	if os.Getenv("OID_TESTENV_CHILD") != "" {
		_, pid := startSleeper(t)
		fmt.Println("child's server", pid)
		select {}
	}
	child := exec.Command(os.Args[0], "-test.run=^TestServerDiesWithItsParent$")
	child.Env = append(os.Environ(), "OID_TESTENV_CHILD=1")
	out := testenv.Must(child.StdoutPipe())(t)
	testenv.NoError(t, child.Start())
	defer child.Wait()
	defer child.Process.Kill()
	var pid int
	for s := bufio.NewScanner(out); pid == 0 && s.Scan(); {
		fmt.Sscanf(s.Text(), "child's server %d", &pid)
	}
	if pid == 0 {
		t.Fatal("the child has started no server")
	}
	if err := gone(pid)(); err == nil {
		t.Fatal("the server is gone before its parent")
	}
	testenv.NoError(t, child.Process.Kill()) // SIGKILL
	testenv.Await(t, "server gone", gone(pid))
}

// A port is one test's alone, and not one of those that Linux gives to clients.
func TestFreePort(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	least, _ := strconv.Atoi(strings.Fields(string(text) + " 32768")[0])
	if err != nil {
		least = 32768
	}
	seen := map[int]bool{}
	for range 500 {
		port := testenv.FreePort(t)
		if port < 1024 || port >= least || seen[port] {
			t.Errorf("port %d, seen before: %v, clients have those from %d", port, seen[port], least)
		}
		seen[port] = true
	}
}
