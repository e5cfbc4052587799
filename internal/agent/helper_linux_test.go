package agent_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/agent"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/sqlitestore"
)

// TestMain lets tests start this program as an agent and as its clients.
func TestMain(m *testing.M) {
	var err error
	switch os.Getenv("AGENT_TEST") {
	case "agent":
		err = runAgent()
	case "client":
		err = runClient()
	case "write": // to an inherited connection
		_, err = os.NewFile(3, "").WriteString(os.Args[1] + "\n")
	case "hidden": // an agent in a PID namespace with a /proc of its own
		err = errors.Join(syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""), syscall.Mount("proc", "/proc", "proc", 0, ""), runAgent())
	case "sleep":
		_, err = io.Copy(io.Discard, os.Stdin)
	default:
		os.Exit(testenv.Main(m))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, os.Getenv("AGENT_TEST"), err)
		os.Exit(1)
	}
}

// interval is that of the agents of tests.
const interval = time.Second

// runAgent is an agent on the socket, whose registry is a file beside it.
func runAgent() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	socket := os.Args[1]
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket})
	if err != nil {
		return err
	}
	s, err := sqlitestore.Open(ctx, filepath.Join(filepath.Dir(socket), "registry.db"), nil)
	if err != nil {
		return err
	}
	defer s.Close()
	return agent.Serve(ctx, l, &agent.Options{State: socket + ".state", Interval: interval, Open: func(context.Context) (agent.Sink, error) {
		return agent.ToRegistry(registry.New(s, nil)), nil
	}})
}

// runClient does what its standard input says, a line for each.
func runClient() error {
	var c *net.UnixConn
	commands := bufio.NewScanner(os.Stdin)
	commands.Buffer(nil, 1<<20)
	for commands.Scan() {
		command, rest, _ := strings.Cut(commands.Text(), " ")
		var err error
		switch command {
		case "connect":
			c, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: rest})
			fmt.Println("connected")
		case "close":
			err = c.Close()
			fmt.Println("closed")
		case "say":
			fmt.Println(answer(c, func() error { _, err := c.Write([]byte(rest + "\n")); return err }))
		case "write": // from another process, on the same connection
			fmt.Println(answer(c, func() error {
				f, err := c.File()
				if err != nil {
					return err
				}
				child := exec.Command("/proc/self/exe", rest)
				child.Env, child.ExtraFiles = append(os.Environ(), "AGENT_TEST=write"), []*os.File{f}
				return errors.Join(child.Run(), f.Close())
			}))
		case "publish":
			err = testenv.PublishResource(strings.Split(rest, ",")...)
			fmt.Println("published")
		case "exec":
			err = syscall.Exec("/proc/self/exe", os.Args[:1], append(os.Environ(), "AGENT_TEST=sleep"))
		}
		if err != nil {
			return err
		}
	}
	return commands.Err()
}

// answer returns the line that the agent answers to what write writes.
func answer(c *net.UnixConn, write func() error) string {
	if err := write(); err != nil {
		return err.Error()
	}
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	text, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(text, "\n")
}

// program is this program as another process.
type program struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Reader
}

// start starts this program in a role.
func start(t *testing.T, role string, arg string, attr *syscall.SysProcAttr) *program {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", arg)
	cmd.Env, cmd.Stderr, cmd.SysProcAttr = append(os.Environ(), "AGENT_TEST="+role), os.Stderr, attr
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
	p := &program{t, cmd, in, bufio.NewReader(out)}
	t.Cleanup(func() { p.signal(syscall.SIGKILL) })
	return p
}

// signal ends the program.
func (p *program) signal(s syscall.Signal) {
	_ = p.cmd.Process.Signal(s)
	_ = p.cmd.Wait()
}

// stop stops the program, and returns when all its threads stand still.
func (p *program) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		p.t.Fatal(err)
	}
	eventually(p.t, "all threads are stopped", func() bool {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
		for _, task := range tasks {
			if text, err := os.ReadFile(task); err == nil && !strings.Contains(string(text), ") T ") {
				return false
			}
		}
		return err == nil && len(tasks) > 0
	})
}

// client starts a program that is connected to the agent.
func client(t *testing.T, socket string) *program {
	t.Helper()
	p := start(t, "client", "", nil)
	p.do("connect " + socket)
	return p
}

// do makes the client do something and returns what it says.
func (p *program) do(command string) string {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.in, command); err != nil {
		p.t.Fatal(err)
	}
	text, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("%s: %v", command, err)
	}
	return strings.TrimSuffix(text, "\n")
}

// join sends a line with an id, and returns the id and the GPID in the answer.
func (p *program) join(fields string) (objectid.ID, string) {
	p.t.Helper()
	id := newID(p.t)
	words := strings.Fields(p.do("say oid1 " + id.String() + " " + fields))
	if len(words) != 3 || words[0] != "ok" {
		p.t.Fatalf("answer to %v: %q", id, words)
	}
	return id, words[2]
}

// newID returns an id with a process value of its own.
func newID(t *testing.T) objectid.ID {
	g, err := objectid.NewGenerator(nil)
	if err != nil {
		t.Fatal(err)
	}
	return g.New()
}

// host is a folder with an agent and the registry that it writes.
type host struct {
	t        *testing.T
	socket   string
	registry *registry.Registry
	agent    *program
}

func newHost(t *testing.T) *host {
	t.Helper()
	folder := t.TempDir()
	s, err := sqlitestore.Open(t.Context(), filepath.Join(folder, "registry.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	h := &host{t: t, socket: filepath.Join(folder, "s"), registry: registry.New(s, &registry.Options{Log: slog.New(slog.DiscardHandler)})}
	h.startAgent()
	return h
}

// startAgent starts the agent and waits until it listens.
func (h *host) startAgent() {
	h.t.Helper()
	h.agent = start(h.t, "agent", h.socket, nil)
	eventually(h.t, "the agent listens", func() bool {
		c, err := net.Dial("unix", h.socket)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// one returns the process with an id, by its trace.
func (h *host) one(id objectid.ID) registry.Status {
	h.t.Helper()
	tr, err := h.registry.Trace(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	if tr.Verdict != registry.Claimed {
		h.t.Fatalf("trace of %v: %s: %s", id, tr.Verdict, tr.Reason)
	}
	return tr.Processes[0]
}

// ends waits for the recorded end of the process with an id, which was at, and returns
// its reason.
func (h *host) ends(id objectid.ID, at time.Time) string {
	h.t.Helper()
	var end *registry.End
	eventually(h.t, "the end is recorded", func() bool { end = h.one(id).End; return end != nil })
	if d := end.Time.Sub(at); d < -10*time.Millisecond || d > 5*time.Second { // the machine may be busy
		h.t.Errorf("the end is dated %v after it", d)
	}
	return end.Reason
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
