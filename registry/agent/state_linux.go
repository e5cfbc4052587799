package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/oidkit/oid/gpid"
)

// state is the file with the processes of an agent: a line of JSON each time that one
// changes. A line is in the file before the answer to the program, so that an agent that
// is killed loses no process. From time to time the file is replaced by one with a line
// of each process.
type state struct {
	file  *os.File
	lines int
}

// save writes a process to the file.
func (a *agent) save(p *process) {
	line, err := json.Marshal(p)
	if err == nil {
		_, err = a.state.file.Write(append(line, '\n'))
	}
	if a.state.lines++; a.state.lines > 2*len(a.processes)+1000 {
		err = errors.Join(err, a.rewrite())
	}
	if err != nil {
		a.Log.Error("the file of the agent cannot be written", "error", err)
	}
}

// rewrite replaces the file.
func (a *agent) rewrite() error {
	f, err := os.CreateTemp(filepath.Dir(a.State), filepath.Base(a.State)+".*")
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for p := range a.processes {
		err = errors.Join(err, json.NewEncoder(&text).Encode(p))
	}
	if _, err2 := f.Write(text.Bytes()); err != nil || err2 != nil {
		return errors.Join(err, err2, f.Close(), os.Remove(f.Name()))
	}
	a.state.file.Close() // nil the first time, which is an error
	a.state = state{f, len(a.processes)}
	return os.Rename(f.Name(), a.State)
}

// load reads the file and follows the processes in it that still run.
func (a *agent) load() error {
	text, err := os.ReadFile(a.State)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	here, err := gpid.Of(os.Getpid())
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
		if err := json.Unmarshal(line, p); err == nil && len(p.Claims) > 0 { // otherwise it was cut off with the agent
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
		if p.Ended.IsZero() && (p.Kernel.Boot != here.Boot || a.follow(p, nil) != nil) {
			p.Ended, p.Reason = time.Now(), "ended while the agent was away"
		}
		a.processes[p], a.todo[p] = struct{}{}, struct{}{}
	}
	return a.rewrite()
}
