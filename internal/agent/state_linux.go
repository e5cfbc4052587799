package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/gpid"
)

// state is the file with the processes of an agent: a line of JSON each time that one
// changes. A line is in the file before the answer to the program, so that an agent that
// is killed loses no process. From time to time the file is replaced by one with a line
// of each process.
type state struct {
	file   *os.File
	lines  int
	broken bool // a line could not be written, or only a part of it: the file has to be replaced
}

// save writes a process to the file.
func (a *agent) save(p *process) {
	if a.state.broken {
		return
	}
	err := json.NewEncoder(a.state.file).Encode(p)
	if a.state.lines++; err == nil && a.state.lines > 2*len(a.processes)+1000 {
		err = a.rewrite()
	}
	if err != nil {
		a.state.broken = true
		a.Log.Error("the file of the agent cannot be written; it is tried again", "error", err)
	}
}

// repair replaces the file after a line could not be written.
func (a *agent) repair() {
	if a.state.broken && a.rewrite() == nil {
		a.Log.Info("the file of the agent is complete again")
	}
}

// rewrite replaces the file.
func (a *agent) rewrite() error {
	f, err := os.CreateTemp(filepath.Dir(a.State), filepath.Base(a.State)+".*")
	if err != nil {
		return err
	}
	var text bytes.Buffer
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) // see load
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
	a.state.file.Close() // nil the first time, which is an error
	a.state = state{file: f, lines: len(a.processes)}
	return nil
}

// load reads the file, which an agent keeps locked, and follows the processes in it that
// still run.
func (a *agent) load() error {
	var text []byte
	f, err := os.Open(a.State)
	if err == nil {
		defer f.Close()
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			return fmt.Errorf("another agent uses %s: %w", a.State, err)
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
	}
	found := map[run]*process{}
	for line := range bytes.Lines(text) {
		p := new(process)
		if err := json.Unmarshal(line, p); err == nil && len(p.Claims) > 0 && p.Recorded <= len(p.Claims) { // otherwise it was cut off with the agent
			found[run{p.Kernel, p.Program}] = p
		}
	}
	for _, p := range found {
		if p.Kernel.Boot == here.Boot && p.Kernel.Namespace != here.Namespace { // whether it runs cannot be told here
			a.Log.Warn("a process of another PID namespace is left alone", "gpid", p.GPID)
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
			if scarce(err) { // it may run
				return fmt.Errorf("follow process %d: %w", p.Kernel.PID, err)
			}
			gone = err != nil
		}
		if p.Ended.IsZero() && gone {
			p.Ended = time.Now() // it ended at an unknown time before, so no reason is given, see record
		}
		a.processes[p] = struct{}{}
	}
	return a.rewrite()
}

// scarce reports whether an error says nothing of a process, but that the agent may not
// open more files.
func scarce(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM) || errors.Is(err, unix.ENOSPC)
}
