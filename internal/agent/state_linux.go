package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/gpid"
)

// state is the file of the processes of an agent. Each time a process changes, the agent
// appends it as a line of JSON. It does so before it answers the program, so that no process
// is lost if the agent is killed. From time to time the agent replaces the file by one that
// has one line for each process.
type state struct {
	file  *os.File
	lines int
}

// save appends a process to the file.
func (a *agent) save(p *process) {
	if a.failing[theState] { // it will be replaced
		return
	}
	err := json.NewEncoder(a.state.file).Encode(p)
	if a.state.lines++; err == nil && a.state.lines > 2*len(a.processes)+1000 {
		err = a.rewrite()
	}
	if err != nil {
		a.report(theState, err)
	}
}

// rewrite replaces the file by one that has one line for each process.
func (a *agent) rewrite() error {
	if other, err := os.Open(a.State); err == nil && a.state.file != nil { // perhaps of an agent that was started after the file was removed
		defer other.Close()
		if info, err := a.state.file.Stat(); err != nil || moved(a.State, info) != nil {
			if err := lock(other); err != nil {
				return err
			}
		}
	}
	os.Remove(a.State + ".new") // an agent that was killed may have left it
	f, err := os.OpenFile(a.State+".new", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	err = lock(f)
	for p := range a.processes {
		err = errors.Join(err, json.NewEncoder(&text).Encode(p))
	}
	if err == nil {
		_, err = f.Write(text.Bytes())
	}
	if err == nil {
		err = os.Rename(f.Name(), a.State)
	}
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	a.state.file.Close() // the first time the file is nil, and Close returns an error
	a.state = state{file: f, lines: len(a.processes)}
	return nil
}

// lock locks a state file. An agent keeps its file locked.
func lock(f *os.File) error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("another agent uses %s: %w", f.Name(), err)
	}
	return nil
}

// load reads the file and follows those processes in it that still run. It fails if another
// agent uses the file.
func (a *agent) load() error {
	var text []byte
	f, err := os.Open(a.State)
	if err == nil {
		defer f.Close()
		if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no regular file", a.State)
		}
		if err := lock(f); err != nil {
			return err
		}
		text, err = io.ReadAll(f)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	here, err := gpid.ProcessOf(os.Getpid())
	if err != nil {
		return err
	}
	type run struct {
		kernel  gpid.Process
		program uint32
		gpid    gpid.GPID
	}
	found := map[run]*process{}
	for line := range bytes.Lines(text) {
		p := new(process)
		if err := json.Unmarshal(line, p); err == nil && len(p.Claims) > 0 && p.Recorded <= len(p.Claims) { // otherwise the agent was killed while it wrote the line
			found[run{p.Kernel, p.Program, p.GPID}] = p
		}
	}
	for _, p := range found {
		if p.Kernel.Boot == here.Boot && p.Kernel.Namespace != here.Namespace { // the agent cannot see whether it runs
			a.Log.Warn("a process in the state file is ignored, because it is in another PID namespace", "gpid", p.GPID)
			continue
		}
		if p.Done {
			continue
		}
		gone := p.Kernel.Boot != here.Boot
		if p.Ended.IsZero() && !gone {
			fd, err := unix.PidfdOpen(p.Kernel.PID, 0)
			if err == nil {
				err = a.follow(p, fd)
			}
			if scarce(err) { // the process may still run
				return fmt.Errorf("follow process %d: %w", p.Kernel.PID, err)
			}
			gone = err != nil
		}
		if p.Ended.IsZero() && gone {
			p.Ended = time.Now() // without a reason, because the time of its end is unknown, see record
		}
		a.processes[p] = struct{}{}
	}
	return a.rewrite()
}

// scarce reports whether err means that the agent cannot open more files. Then err says
// nothing about a process.
func scarce(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM) || errors.Is(err, unix.ENOSPC)
}
