package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/registry"
)

// The file is replaced before it grows without end.
func TestSizeOfTheFile(t *testing.T) {
	t.Parallel()
	a, _ := listening(t, 100)
	a.State = filepath.Join(t.TempDir(), "state")
	check(t, a.rewrite())
	p := &process{Claims: []claim{{Value: "0102030405"}}}
	a.processes[p] = struct{}{}
	most := 0
	for range 2500 {
		a.save(p)
		text, err := os.ReadFile(a.State)
		check(t, err)
		most = max(most, bytes.Count(text, []byte("\n")))
	}
	if most < 900 || most > 1100 {
		t.Errorf("%d lines at most, want about a thousand", most)
	}
}

// After a part of a line, which the disk took before it was full, the file is replaced.
func TestPartOfALine(t *testing.T) {
	t.Parallel()
	a, _ := listening(t, 100)
	a.State = filepath.Join(t.TempDir(), "state")
	check(t, a.rewrite())
	good := a.state.file
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	check(t, err)
	defer full.Close()
	_, err = good.WriteString(`{"name": "cut o`)
	check(t, err)
	p := &process{RemoteOptions: registry.RemoteOptions{Name: "whole"}}
	a.processes[p] = struct{}{}
	a.state.file = full
	a.save(p)
	a.state.file = good
	a.save(p) // there is room again
	if text, err := os.ReadFile(a.State); err != nil || string(text) != `{"name": "cut o` {
		t.Errorf("a line follows a part of one: %s, %v", text, err)
	}
	a.repair()
	text, err := os.ReadFile(a.State)
	check(t, err)
	var q process
	if err := json.Unmarshal(text, &q); err != nil || q.Name != "whole" {
		t.Errorf("%v: %s", err, text)
	}
	if err := good.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the file before is left open: %v", err)
	}
	a.save(p)
	if text, err := os.ReadFile(a.State); err != nil || bytes.Count(text, []byte("\n")) != 2 {
		t.Errorf("no line follows the repair: %s, %v", text, err)
	}
}

// What an agent finds in the file: processes that run, that ended while it was away, and
// what it cannot use.
func TestLoad(t *testing.T) {
	t.Parallel()
	a, _ := listening(t, 100)
	a.State = filepath.Join(t.TempDir(), "state")
	runs, fd, _ := other(t)
	unix.Close(fd)
	ended, fd, kill := other(t)
	unix.Close(fd)
	kill()
	claims := []claim{{Value: "0102030405"}}
	known := func(name string, kernel gpid.Process, change func(p *process)) process {
		p := process{RemoteOptions: registry.RemoteOptions{Name: name, Kernel: kernel}, Member: "0a1b2c3d4e5f6071", Recorded: 1, Claims: claims}
		if change != nil {
			change(&p)
		}
		return p
	}
	boot, namespace, pid := runs, ended, runs
	boot.Boot, boot.Namespace, namespace.Namespace = "another", 1, 1
	pid.PID += 1 << 22 // more than there are
	var text bytes.Buffer
	for _, p := range []process{
		known("old line", runs, nil),
		known("runs", runs, nil),
		known("before exec", runs, func(p *process) { p.Program, p.Ended, p.Reason = 1, time.Now(), "replaced by exec" }),
		known("ended", ended, nil),
		known("boot", boot, nil),
		known("namespace", namespace, nil),
		known("done", pid, func(p *process) { p.Done = true }),
		known("too many", pid, func(p *process) { p.Recorded, p.Program = 2, 2 }),
		known("no ids", pid, func(p *process) { p.Recorded, p.Claims, p.Program = 0, nil, 3 }),
	} {
		check(t, json.NewEncoder(&text).Encode(p))
	}
	check(t, os.WriteFile(a.State, append(text.Bytes(), `{"name": "cut o`...), 0o600))
	check(t, a.load())
	want := map[string]string{"runs": "", "before exec": "replaced by exec", "ended": "", "boot": ""} // reasons
	for p := range a.processes {
		reason, found := want[p.Name]
		if !found || p.Reason != reason || p.Ended.IsZero() != (p.Name == "runs") || (a.latest[runs.PID] == p) != (p.Name == "runs") || p.Member != "0a1b2c3d4e5f6071" {
			t.Errorf("%s: %+v", p.Name, p)
		}
		delete(want, p.Name)
	}
	if len(want) > 0 {
		t.Errorf("not there: %v", want)
	}
}

// What is known of a process is in the file before an agent is killed: its member, its end,
// and that nothing more is to be recorded.
func TestFileOfAKilledAgent(t *testing.T) {
	t.Parallel()
	a, _ := listening(t, 100)
	a.State = filepath.Join(t.TempDir(), "state")
	check(t, a.rewrite())
	a.sink = new(calls)
	kernel, fd, _ := other(t)
	p := &process{RemoteOptions: registry.RemoteOptions{Kernel: kernel}, Claims: []claim{{Value: "0102030405"}}}
	check(t, a.follow(p, fd))
	file := func() (last process) {
		t.Helper()
		text, err := os.ReadFile(a.State)
		check(t, err)
		for line := range bytes.Lines(text) {
			last = process{}
			check(t, json.Unmarshal(line, &last))
		}
		return last
	}
	if check(t, a.record(t.Context(), p)); file().Member != p.Member || file().Recorded != 1 {
		t.Errorf("after its registration: %+v", file())
	}
	a.end(p, "replaced by exec")
	first := p.Ended
	if a.end(p, registry.ProcessEnded); !p.Ended.Equal(first) || p.Reason != "replaced by exec" || !file().Ended.Equal(p.Ended) || file().Reason != p.Reason {
		t.Errorf("after its end: %+v", file())
	}
	p.Ended = p.Ended.Add(-settle)
	if check(t, a.record(t.Context(), p)); !file().Done || len(a.processes) > 0 {
		t.Errorf("after its end was recorded: %+v", file())
	}
}

// A file that cannot be replaced leaves nothing beside it.
func TestFailedReplacement(t *testing.T) {
	t.Parallel()
	a, _ := listening(t, 100)
	folder := t.TempDir()
	a.State = filepath.Join(folder, "state")
	check(t, os.MkdirAll(filepath.Join(a.State, "full"), 0o700))
	if err := a.rewrite(); err == nil {
		t.Error("a folder was replaced")
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// The agent notices that the file system is read-only now, also if it has nothing to write.
func TestReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	a, _ := listening(t, 100)
	folder := t.TempDir()
	if err := unix.Mount("tmpfs", folder, "tmpfs", 0, ""); err != nil {
		t.Skip("a file system of its own needs root:", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(folder, unix.MNT_DETACH) })
	a.State = filepath.Join(folder, "state")
	check(t, a.rewrite())
	a.repair()
	if a.failing[theState] {
		t.Error("a good file fails")
	}
	// The kernel does this when the disk has an error; otherwise it wants no file open for writing.
	a.state.file.Close()
	f, err := os.Open(a.State)
	check(t, err)
	a.state.file = f
	check(t, unix.Mount("", folder, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	if a.repair(); !a.failing[theState] {
		t.Error("a read-only file system is not noticed")
	}
	check(t, unix.Mount("", folder, "", unix.MS_REMOUNT, ""))
	a.repair()
	if a.save(new(process)); a.failing[theState] {
		t.Error("the file still fails")
	}
}
