package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	var line any = p
	if p.Done {
		line = map[string]any{"key": p.Key, "done": true}
	}
	text, err := json.Marshal(line)
	if err == nil {
		_, err = a.state.file.Write(append(text, '\n'))
	}
	a.state.lines++
	if err == nil && a.state.lines > 2*len(a.processes)+1000 {
		err = a.rewrite()
	}
	if err != nil {
		a.Log.Error("the file of the agent cannot be written", "error", err)
	}
}

// rewrite replaces the file.
func (a *agent) rewrite() error {
	var text bytes.Buffer
	for p := range a.processes {
		if err := json.NewEncoder(&text).Encode(p); err != nil {
			return err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(a.State), filepath.Base(a.State)+".*")
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	_, err = f.Write(text.Bytes())
	if err == nil {
		err = os.Rename(f.Name(), a.State)
	}
	if err != nil {
		return fmt.Errorf("agent: %w", errors.Join(err, f.Close(), os.Remove(f.Name())))
	}
	if a.state.file != nil {
		a.state.file.Close()
	}
	a.state = state{f, len(a.processes)}
	return nil
}

// load reads the file and follows the processes in it that still run.
func (a *agent) load() error {
	text, err := os.ReadFile(a.State)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("agent: %w", err)
	}
	found := map[string]*process{}
	for line := range bytes.Lines(text) {
		p := &process{pidfd: -1}
		if err := json.Unmarshal(line, p); err != nil || p.Key == "" {
			continue // cut off with the agent
		}
		found[p.Key] = p
	}
	here, err := gpid.Of(os.Getpid())
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	for _, p := range found {
		switch {
		case p.Done || len(p.Claims) == 0:
			continue
		case !p.Ended.IsZero():
		case p.Kernel.Boot == here.Boot && p.Kernel.Namespace != here.Namespace:
			a.Log.Warn("a process of another PID namespace is left alone", "gpid", p.GPID)
			continue
		default:
			if p.Reason = p.runs(); p.Reason == "" && p.Kernel.Boot == here.Boot && a.follow(p, nil) == nil {
				break
			}
			p.Ended, p.Reason = time.Now(), "ended while the agent was away"
		}
		a.processes[p] = struct{}{}
		a.todo[p] = struct{}{}
	}
	return a.rewrite()
}
