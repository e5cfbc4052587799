package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/examples/verify/internal/judge"
)

// program is a run of the command that is judged.
type program struct {
	name    string
	cmd     *exec.Cmd
	out     *os.File // what it writes
	timeout time.Duration
	unkill  func() bool   // after it the end of the context does not kill the command
	waited  chan struct{} // closed when it has ended
}

// startProgram starts the command with more environment variables. ctx ends it.
func (o *options) startProgram(ctx context.Context, name string, in io.Reader, environment []string) (*program, error) {
	out, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	p := &program{name: name, cmd: exec.Command(o.command[0], o.command[1:]...), out: out, timeout: o.timeout, waited: make(chan struct{})}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, w, os.Stderr
	inherited := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "FAKETIME=") }) // it would win over the file
	p.cmd.Env = slices.Concat(inherited, []string{"OID_VERIFY=" + o.test, "OID_VERIFY_IDS=" + strconv.FormatInt(o.ids, 10)}, environment)
	p.cmd.WaitDelay = time.Second // processes that the command leaves may hold its input and its errors
	ownGroup(p.cmd)
	if err := p.cmd.Start(); err != nil {
		out.Close()
		return nil, usagef("the command cannot be started: %w", err)
	}
	go func() {
		_ = p.cmd.Wait() // the state says how it ended
		close(p.waited)
	}()
	p.unkill = context.AfterFunc(ctx, func() {
		killGroup(p.cmd)
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

// close ends the command and returns when it has ended.
func (p *program) close() {
	killGroup(p.cmd) // before the pipe is closed, about which it would complain
	p.out.Close()
	<-p.waited
	p.unkill()
}

const stillRuns = "it still runs"

// ended returns how the command has ended, which has closed its output.
func (p *program) ended() string {
	select {
	case <-p.waited:
		return p.cmd.ProcessState.String()
	case <-time.After(5 * time.Second):
		return stillRuns
	}
}

// fakeTimeLibraries are where libfaketime is installed.
var fakeTimeLibraries = []string{
	"/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib*/faketime/libfaketimeMT.so.1", "/usr/local/lib*/faketime/libfaketimeMT.so.1",
}

var errNoFakeTime = errors.New("--clock needs the library libfaketime; on Debian and Ubuntu install the package faketime")

func fakeTimeLibrary() string {
	for _, pattern := range fakeTimeLibraries {
		if found, _ := filepath.Glob(pattern); len(found) > 0 { // an error is one of the pattern
			return found[0]
		}
	}
	return ""
}

// fakeClock returns the environment variables by which a program sees the clock, which is
// in a file, and writes the moment of the clock there.
func fakeClock(c *judge.Clock, file string) ([]string, error) {
	c.Move = func(moment int64) error { // in one piece: a program may be reading it
		if err := os.WriteFile(file+".next", []byte(strconv.FormatInt(moment, 10)+"\n"), 0o600); err != nil {
			return err
		}
		return os.Rename(file+".next", file)
	}
	preload := fakeTimeLibrary()
	if preload == "" {
		return nil, errNoFakeTime
	}
	env := []string{
		"LD_PRELOAD=" + strings.TrimSuffix(preload+":"+os.Getenv("LD_PRELOAD"), ":"), "FAKETIME_TIMESTAMP_FILE=" + file, "FAKETIME_FMT=%s",
		"DONT_FAKE_MONOTONIC=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1", "OID_VERIFY_CLOCK=" + file,
	}
	if c.Moves() { // it looks at the file each time, which is slow
		env = append(env, "FAKETIME_NO_CACHE=1")
	}
	return env, c.Move(c.Moment())
}
