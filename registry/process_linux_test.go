package registry_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
)

// memberCommand returns the command that runs this program as a member.
func memberCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), memberVariable+"=1")
	return cmd
}

// process is a run of this program as a member.
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

// inContainer lets cmd run in namespaces of its own, where it has pid 1.
func inContainer(cmd *exec.Cmd) {
	cmd.Args = append(cmd.Args, "-container")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

// containers reports whether this system lets tests make namespaces. Some do not
// let their users, and none need to let the root of a container.
func containers(t *testing.T) bool {
	t.Helper()
	cmd := memberCommand(t, "-store", filepath.Join(t.TempDir(), "probe.db"))
	inContainer(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Logf("without containers, since this system lets no test make one: %v %s", err, out)
		return false
	}
	return true
}

// start starts a process that has opened the store and waits for orders.
func start(t *testing.T, file, addr string, interval time.Duration, container bool, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: memberCommand(t, append([]string{"-store", file, "-addr", addr, "-interval", interval.String()}, args...)...)}
	if container {
		inContainer(p.cmd)
	}
	p.cmd.Stderr = os.Stderr
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdout = bufio.NewScanner(stdout)
	if err := p.cmd.Start(); err != nil {
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

// exec lets the process become another run of its program, which has the same pid.
func (p *process) exec() {
	p.t.Helper()
	p.say("exec")
	p.read("ready")
}

func (p *process) leave(reason string) {
	p.t.Helper()
	p.say("leave " + reason)
	p.read("left")
	p.wait()
}

// kill ends the process as kill -9 does.
func (p *process) kill() { p.signal(syscall.SIGKILL) }

// signal ends the process by a signal.
func (p *process) signal(s syscall.Signal) {
	if !p.ended {
		p.cmd.Process.Signal(s)
		p.wait()
	}
}

func (p *process) wait() {
	p.ended = true
	p.stdin.Close()
	p.cmd.Wait()
}
