package agent_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// A process sends a line, its load is recorded, and so is its end after kill -9.
func TestKill(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	c := client(t, h.socket)
	id, gpid := c.join("name=my%20shop version=1.2 addr=10.0.0.7:8080")
	again := ""
	for range 2 * 100 { // the same process value, of which there may be 100
		again = c.do("say oid1 " + id.String())
	}
	if words := strings.Fields(again); words[0] != "ok" || words[1] == "-" || words[2] != gpid {
		t.Errorf("the same line again: %q", again)
	}
	second, _ := c.join("layout=java")
	var p registry.Status
	eventually(t, "a heartbeat with the load", func() bool { p = h.one(id); return p.Last.Count > 2 && p.Last.Load.RSS > 0 })
	if p.GPID.String() != gpid || p.GPID.PID() != c.cmd.Process.Pid || p.Name != "my shop" || p.Version != "1.2" ||
		p.GPID.Addr().String() != "10.0.0.7:8080" || p.Last.Load.Threads < 1 || p.State != registry.Alive {
		t.Errorf("recorded as %+v", p)
	}
	if p.Kernel.PID != c.cmd.Process.Pid || p.Executable == "" {
		t.Errorf("kernel %+v, executable %q", p.Kernel, p.Executable)
	}
	if q := h.one(second); q.Member != p.Member {
		t.Errorf("a second id is that of %v", q.GPID)
	}
	at := time.Now()
	c.signal(syscall.SIGKILL)
	if reason := h.ends(id, at); reason != "process ended" {
		t.Errorf("ended: %s", reason)
	}
}

// Two processes with one process value are both recorded, and the agent goes on.
func TestCollision(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	first, second := client(t, h.socket), client(t, h.socket)
	id, _ := first.join("")
	for range 3 {
		if words := strings.Fields(second.do("say oid1 " + id.String())); len(words) != 3 || words[0] != "ok" || words[1] == "-" {
			t.Errorf("answer: %q", words)
		}
		time.Sleep(interval)
	}
	tr, err := h.registry.Trace(t.Context(), id)
	if err != nil || tr.Verdict != registry.Collision || len(tr.Processes) != 2 {
		t.Fatalf("%s: %s, %v", tr.Verdict, tr.Reason, err)
	}
	for _, p := range tr.Processes {
		if n := p.Last.Count; n < 2 || n > 8 {
			t.Errorf("%d heartbeats in 3 seconds", n)
		}
	}
	if third, _ := client(t, h.socket).join(""); h.one(third).End != nil {
		t.Error("a third process has ended")
	}
}

// A line from another process on an inherited connection is refused; the child connects
// itself. An exec ends the process before it, and a closed connection does not.
func TestForkAndExec(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	c := client(t, h.socket)
	id, _ := c.join("")
	if said := c.do("write oid1 " + newID(t).String()); !strings.Contains(said, "each process has to connect itself") {
		t.Errorf("a line of a child: %q", said)
	}
	c.do("connect " + h.socket)
	c.do("close")
	c.do("connect " + h.socket)
	if again, _ := c.join(""); h.one(again).Member != h.one(id).Member {
		t.Error("the same process is two after it has connected again")
	}
	at := time.Now()
	if _, err := c.in.Write([]byte("exec\n")); err != nil {
		t.Fatal(err)
	}
	if reason := h.ends(id, at); reason != "replaced by exec" {
		t.Errorf("ended: %s", reason)
	}
	other := client(t, h.socket)
	id, _ = other.join("")
	other.do("close")
	if _, err := other.in.Write([]byte("exec\n")); err != nil {
		t.Fatal(err)
	}
	var end *registry.End
	eventually(t, "the end of a program without a connection", func() bool { end = h.one(id).End; return end != nil })
	if end.Reason != "replaced by exec" {
		t.Errorf("ended: %s", end.Reason)
	}
}

// The agent is ended and killed while processes run. Those that still run are the same
// ones afterwards, and no end is recorded of another: nobody knows its time.
func TestRestart(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	stays, goes, last := client(t, h.socket), client(t, h.socket), client(t, h.socket)
	a, _ := stays.join("name=stays")
	b, _ := goes.join("name=goes")
	c, _ := last.join("name=last")
	before := h.one(a)
	h.agent.signal(syscall.SIGTERM)
	if end := h.one(a).End; end != nil {
		t.Errorf("the end of the agent ends its process: %s", end.Reason)
	}
	goes.signal(syscall.SIGKILL)
	h.startAgent()
	eventually(t, "heartbeats go on", func() bool { return h.one(a).Last.Count > before.Last.Count+1 })
	if s := h.one(b); s.End != nil || s.State != registry.Dead || s.Presumed {
		t.Errorf("a process that ended while the agent was away: %s (%s), end %v; want dead, without a time", s.State, s.Reason, s.End)
	}
	h.agent.signal(syscall.SIGKILL)
	h.startAgent()
	eventually(t, "heartbeats go on", func() bool { return h.one(a).Last.Count > before.Last.Count+1 })
	stays.do("connect " + h.socket)
	if d, _ := stays.join("name=other"); h.one(d).Member != before.Member || h.one(d).Name != "stays" {
		t.Errorf("after it has connected again: %+v", h.one(d))
	}
	h.agent.signal(syscall.SIGKILL)
	if err := os.Remove(h.socket + ".state"); err != nil {
		t.Fatal(err)
	}
	h.startAgent()
	for id, p := range map[objectid.ID]*program{a: stays, c: last} {
		p.do("connect " + h.socket)
		next := id // of the same driver
		next[11]++
		before := h.one(id)
		if said := p.do(fmt.Sprintf("say oid1 %v name=%s", next, before.Name)); !strings.HasPrefix(said, "ok "+string(before.Key())) {
			t.Errorf("recorded twice after the state file was lost: %q", said)
		}
	}
	for id, p := range map[objectid.ID]*program{a: stays, c: last} {
		at := time.Now()
		p.signal(syscall.SIGKILL)
		h.ends(id, at)
	}
}

// A process in another PID namespace has the pid that the agent sees.
func TestNamespace(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if os.Getuid() != 0 {
		t.Skip("another PID namespace needs root")
	}
	c := start(t, "client", "", attr)
	c.do("connect " + h.socket)
	id, _ := c.join("")
	if p := h.one(id); p.GPID.PID() != c.cmd.Process.Pid || p.Kernel.PID != c.cmd.Process.Pid {
		t.Errorf("pid %d and %+v, want %d", p.GPID.PID(), p.Kernel, c.cmd.Process.Pid)
	}
	at := time.Now()
	c.signal(syscall.SIGKILL)
	h.ends(id, at)
}

// An agent in a PID namespace does not see the processes of the host, and says so.
func TestInvisible(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("another PID namespace needs root")
	}
	socket := t.TempDir() + "/s"
	start(t, "hidden", socket, &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS})
	eventually(t, "the agent listens", func() bool { _, err := os.Stat(socket); return err == nil })
	c := start(t, "client", "", nil)
	c.do("connect " + socket)
	if said := c.do("say oid1 " + newID(t).String()); !strings.Contains(said, "another PID namespace") {
		t.Errorf("answer: %q", said)
	}
}

// What a program may send is bounded, and each error says what is wrong.
func TestBounds(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	c := client(t, h.socket)
	old := objectid.MinAt(time.Now().Add(-time.Hour))
	old[11] = 1
	for line, want := range map[string]string{
		"hello":                `error the line begins with "hello"`,
		"oid1 " + old.String(): "the process started at",
		"oid1 " + newID(t).String() + " name=a name=b": "each key once",
	} {
		if said := c.do("say " + line); !strings.Contains(said, want) {
			t.Errorf("%q: %q, want %q", line, said, want)
		}
	}
	for i := range 101 {
		said := c.do("say oid1 " + newID(t).String())
		if strings.HasPrefix(said, "ok ") != (i < 100) {
			t.Fatalf("id %d: %q", i, said)
		}
	}
	for n := 0; ; n++ {
		said := c.do("say x")
		if strings.Contains(said, "more than 1000 lines") {
			break
		}
		if !strings.HasPrefix(said, "error the line begins") || n == 1000-3-101 {
			t.Fatalf("line %d: %q", n, said)
		}
	}
	for n, want := range map[int]string{1000: "begins with", 1001: "longer than 1000 bytes", 3000: "longer than 1000 bytes"} {
		c.do("connect " + h.socket)
		if said := c.do("say " + strings.Repeat("x", n-1)); !strings.Contains(said, want) {
			t.Errorf("%d bytes: %q, want %q", n, said, want)
		}
	}
}

// A connection without a line ends.
func TestIdleConnection(t *testing.T) {
	testenv.Long(t, "waits for ten seconds")
	t.Parallel()
	socket, _, _ := serve(t, t.TempDir(), newSink(), nil)
	idle, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	_ = idle.SetReadDeadline(time.Now().Add(20 * time.Second))
	buf := make([]byte, 100)
	if n, err := idle.Read(buf); !strings.Contains(string(buf[:n]), "no line in 10s") {
		t.Errorf("an idle connection: %q, %v", buf[:n], err)
	}
}

// Sixty processes are killed while others connect: numbers of files and events of one
// round are used again, and no process ends but those.
func TestChurn(t *testing.T) {
	t.Parallel()
	s := newSink()
	socket, _, _ := serve(t, t.TempDir(), s, nil)
	connected := func() *program { // with a line in time
		c := client(t, socket)
		c.join("")
		return c
	}
	var living []*program
	for range 20 {
		living = append(living, connected())
	}
	for range 3 {
		next := make(chan *program, len(living))
		for _, c := range living {
			go func() { c.signal(syscall.SIGKILL) }()
			go func() { next <- connected() }()
		}
		for i := range living {
			living[i] = <-next
		}
	}
	eventually(t, "the ends are recorded", s.with(func() bool { return len(s.keys) == 80 && len(s.ends) >= 60 }))
	time.Sleep(time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ends) != 60 {
		t.Errorf("%d ends, want 60", len(s.ends))
	}
}

// An id that a process has created since its last heartbeat is not said to be in the
// future: the kernel shows the process.
func TestSinceTheHeartbeat(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	c := client(t, h.socket)
	id, _ := c.join("")
	h.agent.signal(syscall.SIGKILL)     // no heartbeat follows
	time.Sleep(2500 * time.Millisecond) // a clock may be off by a second
	now := objectid.MinAt(time.Now())
	copy(now[4:], id[4:])
	tr, err := h.registry.Trace(t.Context(), now)
	if err != nil || strings.Contains(tr.Reason, "in the future") || tr.Verdict != registry.Claimed {
		t.Errorf("%s: %s, %v", tr.Verdict, tr.Reason, err)
	}
}

// Whatever programs do, the agent has one file for each connection, and one for each
// process that runs.
func TestFiles(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	files := func() (n int) {
		folder := fmt.Sprintf("/proc/%d/fd", h.agent.cmd.Process.Pid)
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if link, err := os.Readlink(filepath.Join(folder, e.Name())); err == nil && (strings.HasPrefix(link, "socket:") || strings.Contains(link, "pidfd")) {
				n++
			}
		}
		return n
	}
	c := client(t, h.socket)
	id, _ := c.join("")
	for range 10 {
		c.do("say oid1 " + id.String())
	}
	c.do("write oid1 " + id.String()) // which closes the connection
	for range 3 {
		c.do("connect " + h.socket)
		c.do("say oid1 " + id.String())
		c.do("close")
	}
	for range 3 {
		other := client(t, h.socket)
		other.join("")
		other.signal(syscall.SIGKILL)
	}
	c.do("connect " + h.socket)
	// One of its socket, one of the connection and one of the process.
	eventually(t, "the agent has three files", func() bool { return files() == 3 })
}
