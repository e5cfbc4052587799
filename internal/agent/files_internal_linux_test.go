package agent

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/registry"
)

// listening returns an agent without goroutines, which may have so many files, and the
// address of its socket.
func listening(t *testing.T, most int) (*agent, *unix.SockaddrUnix) {
	t.Helper()
	addr := &unix.SockaddrUnix{Name: fmt.Sprintf("@%s-%d", t.Name(), os.Getpid())}
	l, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	check(t, err)
	check(t, unix.Bind(l, addr))
	check(t, unix.Listen(l, 100))
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	check(t, err)
	a := &agent{
		Options: Options{Log: slog.New(slog.DiscardHandler)}, epoll: epoll, listener: l, most: most, conns: map[int]*conn{}, users: map[uint32]int{},
		pidfds: map[int]*process{}, latest: map[int]*process{}, processes: map[*process]struct{}{}, folders: map[string]os.FileInfo{},
	}
	a.addMetrics()
	t.Cleanup(func() { a.close(); unix.Close(l) })
	return a, addr
}

// dial connects to the agent and returns what it says at once.
func dial(t *testing.T, a *agent, addr *unix.SockaddrUnix) (fd int, said string) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	check(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	check(t, unix.Connect(fd, addr))
	a.accept()
	buf := make([]byte, 200)
	n, _, _ := unix.Recvfrom(fd, buf, unix.MSG_DONTWAIT)
	return fd, string(buf[:max(n, 0)])
}

// only returns the connection of an agent that has one.
func only(t *testing.T, a *agent) *conn {
	t.Helper()
	if len(a.conns) != 1 {
		t.Fatalf("%d connections, want one", len(a.conns))
	}
	for _, c := range a.conns {
		return c
	}
	return nil
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// An event of a file that was closed is none of the file that has its number now,
// whether that is a connection or the pidfd of a process.
func TestLateEvent(t *testing.T) {
	t.Parallel()
	a, addr := listening(t, 100)
	dial(t, a, addr)
	conn := only(t, a).fd
	done := make(chan struct{})
	go func() { a.happened(conn); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the agent waits for a connection that has sent nothing")
	}
	if a.conns[conn] == nil {
		t.Error("a late event closes a connection")
	}
	child := exec.Command("cat")
	in, err := child.StdinPipe()
	check(t, err)
	check(t, child.Start())
	defer func() { in.Close(); _ = child.Wait() }()
	kernel, err := gpid.ProcessOf(child.Process.Pid)
	check(t, err)
	fd, err := unix.PidfdOpen(kernel.PID, 0)
	check(t, err)
	p := &process{RemoteOptions: registry.RemoteOptions{Kernel: kernel}}
	check(t, a.follow(p, fd))
	if a.happened(fd); !p.Ended.IsZero() || a.pidfds[fd] != p {
		t.Error("a late event ends a process that runs")
	}
}

// The connections of one user leave half of the files to others, and closed ones do not
// count.
func TestConnectionsOfAUser(t *testing.T) {
	t.Parallel()
	a, addr := listening(t, 8)
	for i := range 6 {
		_, said := dial(t, a, addr)
		if i < 4 && said != "" || i >= 4 && !strings.Contains(said, "error user") {
			t.Errorf("connection %d: %q", i, said)
		}
	}
	if len(a.conns) != 4 {
		t.Errorf("%d connections, want 4", len(a.conns))
	}
	for _, c := range a.conns {
		a.drop(c)
		break
	}
	if _, said := dial(t, a, addr); said != "" {
		t.Errorf("a connection after another was closed: %q", said)
	}
	if os.Getuid() != 0 {
		t.Skip("another user needs root")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // which ends with the goroutine
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, 1234, 1234, 1234); e != 0 {
			t.Error(e)
		}
		if _, said := dial(t, a, addr); said != "" {
			t.Errorf("another user: %q", said)
		}
		for range 2 {
			dial(t, a, addr)
		}
		if _, said := dial(t, a, addr); !strings.Contains(said, "connections and processes, the maximum") {
			t.Errorf("the agent is full: %q", said)
		}
	}()
	<-done
	if len(a.conns) != 7 {
		t.Errorf("%d connections, want 7", len(a.conns))
	}
}
