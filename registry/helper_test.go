package registry_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

// newStore opens a SQLite file for one test.
func newStore(t testing.TB) *sqlitestore.Store {
	t.Helper()
	return openStore(t, filepath.Join(t.TempDir(), "registry.db"))
}

func openStore(t testing.TB, path string) *sqlitestore.Store {
	t.Helper()
	s, err := sqlitestore.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// quiet keeps expected warnings out of the test's output.
var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// join joins with o, and leaves at the end of the test unless the test does.
func join(t testing.TB, s store.Store, o registry.Options) *registry.Member {
	t.Helper()
	if o.Log == nil {
		o.Log = quiet
	}
	m, err := registry.Join(t.Context(), s, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { finish(t, m) })
	return m
}

func finish(t testing.TB, m *registry.Member) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := m.Leave(ctx, "test ends"); err != nil && !errors.Is(err, registry.ErrLeft) && !errors.Is(err, store.ErrClosed) {
		t.Errorf("Leave: %v", err)
	}
}

// all collects a sequence.
func all[T any](t testing.TB, seq func(func(T, error) bool)) []T {
	t.Helper()
	var out []T
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// trace traces id, which must work.
func trace(t testing.TB, r *registry.Registry, id objectid.ID) registry.Trace {
	t.Helper()
	tr, err := r.Trace(context.Background(), id)
	if err != nil {
		t.Fatalf("trace %v: %v", id, err)
	}
	return tr
}

// statusOf returns the status of a run that is recorded once.
func statusOf(t testing.TB, r *registry.Registry, g gpid.GPID) registry.Status {
	t.Helper()
	found := all(t, r.Find(context.Background(), g))
	if len(found) != 1 {
		t.Fatalf("%v is recorded %d times, want once", g, len(found))
	}
	return found[0]
}

// eventually waits until ok, for things that take a heartbeat or two.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
	}
}

// memberProgram builds testdata/member once.
var memberProgram = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "oid-member-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "member")
	out, err := exec.Command("go", "build", "-o", path, "./testdata/member").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build testdata/member: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := memberProgram(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// process is a run of testdata/member.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Scanner
	ended  bool

	gpid  gpid.GPID
	block string
	took  time.Duration // to join
	ids   []objectid.ID // that it wrote down
}

// start starts a process that has opened the store and waits for orders. In a
// container it has pid 1.
func start(t *testing.T, file, addr string, interval time.Duration, container bool) *process {
	t.Helper()
	program, err := memberProgram()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(program, "-store", file, "-addr", addr, "-interval", interval.String(), fmt.Sprintf("-container=%v", container))}
	if container {
		p.cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
	}
	p.cmd.Stderr = os.Stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdout = bufio.NewScanner(stdout)
	if err := p.cmd.Start(); err != nil {
		if container && (errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC)) {
			t.Skipf("this system lets no process make a pid namespace: %v", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	p.read("ready")
	return p
}

// read returns the next line, which must begin with the given word.
func (p *process) read(word string) []string {
	p.t.Helper()
	if !p.stdout.Scan() {
		p.t.Fatalf("process %d ended: %v", p.cmd.Process.Pid, p.stdout.Err())
	}
	fields := strings.Fields(p.stdout.Text())
	if len(fields) == 0 || fields[0] != word {
		p.t.Fatalf("process %d says %q, want %q", p.cmd.Process.Pid, p.stdout.Text(), word)
	}
	return fields[1:]
}

func (p *process) say(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.stdin, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) join() {
	p.t.Helper()
	p.say("join")
	p.joined()
}

func (p *process) joined() {
	p.t.Helper()
	f := p.read("joined")
	p.gpid, p.block = gpid.MustParse(f[0]), f[1]
	p.took, _ = time.ParseDuration(f[2])
}

func (p *process) make(n int) {
	p.t.Helper()
	p.say(fmt.Sprint("make ", n))
	for range n {
		p.ids = append(p.ids, objectid.MustParse(p.read("id")[0]))
	}
	p.read("made")
}

func (p *process) leave(reason string) {
	p.t.Helper()
	p.say("leave " + reason)
	p.read("left")
	p.wait()
}

// kill ends the process as kill -9 does.
func (p *process) kill() {
	if !p.ended {
		p.cmd.Process.Kill()
		p.wait()
	}
}

func (p *process) wait() {
	p.ended = true
	p.stdin.Close()
	p.cmd.Wait()
}
