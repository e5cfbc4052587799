package testenv

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// patience is how long a server may take to be ready, on a busy machine.
const patience = 60 * time.Second

// guard is a shell script that runs a command and kills it when the guard's
// standard input ends: when the process at the other end closes it or ends, in
// whatever way. The guard then removes the folder OID_TEST_REMOVE.
const guard = `
exec 4<&0
"$@" 4<&- </dev/null &
server=$!
(read -r _ <&4; kill -9 $server) 2>/dev/null &
watcher=$!
exec 4<&-
wait $server 2>/dev/null
code=$?
kill $watcher 2>/dev/null
[ -z "$OID_TEST_REMOVE" ] || rm -rf "$OID_TEST_REMOVE"
exit $code
`

// Process is a server that [Start] started.
type Process struct {
	cmd   *exec.Cmd
	alive io.Closer // closing it kills the server
	lines chan string
	done  chan struct{} // closed when the server has ended

	mu     sync.Mutex
	output bytes.Buffer
}

// Start runs a command until the test ends. It dies with this process, however
// that ends. What it wrote is logged if the test has failed by then.
func Start(t testing.TB, name string, args ...string) *Process {
	t.Helper()
	p := &Process{lines: make(chan string, 1000), done: make(chan struct{})}
	p.cmd = exec.Command("/bin/sh", append([]string{"-c", guard, "sh", name}, args...)...)
	if l, ok := t.(*lasting); ok {
		p.cmd.Env = append(os.Environ(), "OID_TEST_REMOVE="+l.folder)
	}
	p.alive = Must(p.cmd.StdinPipe())(t)
	out, in := io.Pipe()
	p.cmd.Stdout, p.cmd.Stderr = in, in
	p.cmd.WaitDelay = time.Second
	NoError(t, p.cmd.Start())
	go p.collect(out)
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // a server that is killed always ends with an error
		in.Close()
	}()
	t.Cleanup(func() {
		p.Stop()
		if t.Failed() {
			t.Logf("%s wrote:\n%s", name, p.Output())
		}
	})
	return p
}

// collect keeps what the server writes and hands out its lines to Line.
func (p *Process) collect(out io.Reader) {
	defer close(p.lines)
	for s := bufio.NewScanner(out); s.Scan(); {
		p.mu.Lock()
		p.output.WriteString(s.Text() + "\n")
		p.mu.Unlock()
		select {
		case p.lines <- s.Text():
		default: // nobody reads them
		}
	}
	_, _ = io.Copy(io.Discard, out) // a line too long for the scanner must not block the server
}

// Output returns what the server has written to stdout and stderr.
func (p *Process) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// Stop kills the server, as kill -9 does, and waits until it is gone. Stopping
// again does nothing.
func (p *Process) Stop() {
	p.alive.Close()
	<-p.done
}

// Line waits for the server to write a line for which match reports ok, and
// returns what match made of it.
func (p *Process) Line(t testing.TB, match func(line string) (found string, ok bool)) string {
	t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case line, more := <-p.lines:
			if !more {
				t.Fatalf("%s ended before it was ready", p.cmd.Args[4])
			}
			if found, ok := match(line); ok {
				return found
			}
		case <-timeout:
			t.Fatalf("%s was not ready after %v", p.cmd.Args[4], patience)
		}
	}
}

// awaitAnswer waits until check, which asks the server, returns nil. The test ends if the
// server ends before that.
func (p *Process) awaitAnswer(t testing.TB, server string, check func() error) {
	t.Helper()
	Await(t, "answer of "+server, func() error {
		select {
		case <-p.done:
			t.Fatalf("%s ended: %s", server, p.Output())
		default:
		}
		return check()
	})
}

// Await calls check until it returns nil, and ends the test if that takes too
// long. what names what is waited for.
func Await(t testing.TB, what string, check func() error) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: not after %v: %v", what, patience, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
