package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// program is a run of the command that oid verify judges.
type program struct {
	name    string
	cmd     *exec.Cmd
	out     *os.File // what it writes
	timeout time.Duration
	unkill  func() bool
	waited  chan struct{}
}

// startProgram starts the command with more environment variables. ctx ends it.
func (o *verifyOptions) startProgram(ctx context.Context, std streams, name string, in io.Reader, ids int64, environment ...string) (*program, error) {
	out, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	p := &program{name: name, cmd: exec.Command(o.command[0], o.command[1:]...), out: out, timeout: o.timeout, waited: make(chan struct{})}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, w, std.err
	inherited := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "FAKETIME=") }) // it would win over the file
	p.cmd.Env = append(append(inherited, "OID_VERIFY="+o.test, "OID_VERIFY_IDS="+strconv.FormatInt(ids, 10)), environment...)
	p.cmd.WaitDelay = time.Second // processes that the command leaves may hold its input and its errors
	ownGroup(p.cmd)
	if err := p.cmd.Start(); err != nil {
		out.Close()
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil, usagef("the command cannot be started: %w", err)
		}
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // the state says how it ended
		close(p.waited)
	}()
	p.unkill = context.AfterFunc(ctx, func() {
		p.kill()
		_ = p.out.SetReadDeadline(time.Now()) // processes outside of its group may hold the pipe
	})
	return p, nil
}

// Read reads what the command writes. It fails when nothing comes for too long.
func (p *program) Read(b []byte) (int, error) {
	_ = p.out.SetReadDeadline(time.Now().Add(p.timeout)) // not on Windows
	n, err := p.out.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("%s has written nothing for %v; it hangs, or waits for time to pass (see --timeout)", p.name, p.timeout)
	}
	return n, err
}

// kill ends the command and what it has started.
func (p *program) kill() { killGroup(p.cmd) }

// end ends the command and returns when it has ended.
func (p *program) end() {
	p.kill() // before the pipe is closed, about which it would complain
	p.out.Close()
	<-p.waited
	p.unkill()
}

// early returns the error of a command that has closed its output before it wrote all
// that was wanted.
func (p *program) early(format string, args ...any) error {
	select {
	case <-p.waited:
	case <-time.After(5 * time.Second):
		return fmt.Errorf("%s closed its output "+format, append([]any{p.name}, args...)...)
	}
	return fmt.Errorf("%s ended "+format+" (%v)", append(append([]any{p.name}, args...), p.cmd.ProcessState)...)
}

// failed reports whether the command has ended by itself with a code other than 0.
func (p *program) failed() bool {
	select {
	case <-p.waited:
		return p.cmd.ProcessState.ExitCode() > 0
	case <-time.After(5 * time.Second):
		return false
	}
}

// sharedWriter is a writer for several goroutines.
type sharedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *sharedWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}
