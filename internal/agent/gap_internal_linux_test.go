package agent

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// lineOf returns a line with an id that has another process value than all others.
func lineOf(t *testing.T) string {
	g, err := objectid.NewGenerator(nil)
	check(t, err)
	return fmt.Sprintf("oid1 %v\n", g.New())
}

// After a gap the agent does not date the ends that it finds, and an exec not until it has seen
// that the process runs. Before, the ages of what it keeps do not count the time for which the
// host was suspended. A program whose line was not read in the gap has its time to send it.
func TestGap(t *testing.T) {
	t.Parallel()
	a, addr := listening(t, 100)
	a.State = filepath.Join(t.TempDir(), "state")
	check(t, a.rewrite())
	dial(t, a, addr)
	c := only(t, a)
	start := func() (p *process, kill func()) {
		kernel, fd, kill := other(t)
		p = &process{RemoteOptions: registry.RemoteOptions{Kernel: kernel, Interval: time.Hour}, Since: time.Now(), due: time.Now().Add(time.Hour)}
		check(t, a.follow(p, fd))
		return p, kill
	}
	dies, kill := start()
	runs, _ := start()
	a.keep(measured{p: runs, at: time.Now()})
	kill()
	a.looked = time.Minute
	c.since = time.Now().Add(-time.Hour)
	if a.look(time.Minute + maxGap); !dies.Ended.IsZero() || runs.doubt || c.since.After(time.Now().Add(-time.Minute)) {
		t.Error("a gap of the longest time that is none")
	}
	if a.look(time.Minute + 2*maxGap + 1); dies.Ended.IsZero() || dies.Reason != "" {
		t.Errorf("an end that was found after a gap: %v, %q", dies.Ended, dies.Reason)
	}
	if a.expire(c, time.Now()); a.conns[c.fd] == nil {
		t.Error("a connection is closed before its line is read")
	}
	for what, at := range map[string]time.Time{"start": runs.Since, "heartbeat": a.queue[0].at} {
		if at != at.Round(0) {
			t.Errorf("the time of a %s has a monotonic part", what)
		}
	}
	if !runs.Ended.IsZero() || !runs.due.IsZero() {
		t.Errorf("a process that runs: ended %v, measured at %v", runs.Ended, runs.due)
	}
	seen, _ := start()
	seen.doubt, a.looked = true, sinceBoot()
	ctx, cancel := context.WithCancel(t.Context())
	a.poke = make(chan struct{}, 1)
	go a.measure(ctx)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		a.mu.Lock()
		doubt := runs.doubt
		a.mu.Unlock()
		if !doubt || time.Now().After(deadline) {
			break
		}
	}
	cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.looked = sinceBoot()
	a.end(runs, "replaced by exec")
	a.end(seen, "replaced by exec")
	if runs.Reason != "replaced by exec" || seen.Reason != "" {
		t.Errorf("ended by exec, after a measurement since the gap: %q, before: %q", runs.Reason, seen.Reason)
	}
	// The agent may be stopped at any line: between look and what finds the end, too.
	found, _ := start()
	a.looked = sinceBoot() - maxGap - 1
	if a.end(found, "replaced by exec"); found.Ended.IsZero() || found.Reason != "" {
		t.Errorf("an end that was found after a gap that nobody had seen: %v, %q", found.Ended, found.Reason)
	}
}

// The agent accepts all connections that wait at once, and reads all lines of one that the
// program has closed, although nobody waits for the answers. It says if the last one is cut off.
func TestLastLines(t *testing.T) {
	t.Parallel()
	a, addr := listening(t, 100)
	var log bytes.Buffer
	a.Log, a.State = slog.New(slog.NewTextHandler(&log, nil)), filepath.Join(t.TempDir(), "state")
	check(t, a.rewrite())
	a.poke = make(chan struct{}, 1)
	var fds [3]int
	for i := range fds {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		check(t, err)
		defer unix.Close(fd)
		check(t, unix.Connect(fd, addr))
		_, err = unix.Write(fd, []byte("oid1 000000000000000000000000\n"+lineOf(t)+lineOf(t)+lineOf(t)+"oid1 6b0a"))
		check(t, err)
		check(t, unix.Shutdown(fd, unix.SHUT_RDWR)) // answers fail
		fds[i] = fd
	}
	if a.accept(); len(a.conns) != len(fds) {
		t.Fatalf("%d connections are accepted, want %d", len(a.conns), len(fds))
	}
	for _, c := range a.conns {
		for range 2 {
			a.read(c)
		}
	}
	for p := range a.processes {
		if len(p.Claims) != 3*len(fds) || len(a.processes) != 1 {
			t.Errorf("%d ids of %d processes, want %d of one", len(p.Claims), len(a.processes), 3*len(fds))
		}
	}
	if len(a.conns) > 0 || len(a.processes) == 0 || !strings.Contains(log.String(), "ended within the line") {
		t.Errorf("%d connections and %d processes; log: %s", len(a.conns), len(a.processes), log.String())
	}
}

// When a process ended that the agent has never seen is known only if its connection was
// accepted in time. Two such processes, and a second line of one, are not mixed up, nor when
// the agent is started again.
func TestNeverSeen(t *testing.T) {
	t.Parallel()
	a, _ := listening(t, 100)
	a.State = filepath.Join(t.TempDir(), "state")
	check(t, a.rewrite())
	a.poke = make(chan struct{}, 1)
	self, err := gpid.ParseAddr("")
	check(t, err)
	claimed := func(waited, ago time.Duration, line string) (*process, *conn) {
		t.Helper()
		g, err := gpid.New(self, time.Now().Add(-ago), 4711)
		check(t, err)
		c := &conn{pid: 4711, waited: waited, shown: registry.Process{GPID: g, StartUnknown: true, Name: "(not known)"}}
		a.conns[-1] = c
		p, err := a.claim(c, strings.TrimSpace(line))
		check(t, err)
		a.changed(p)
		return p, c
	}
	line := lineOf(t)
	p, c := claimed(maxGap, 0, line)
	if p.Reason != neverSeen || p.Ended.IsZero() || p.Since.After(p.Ended) || p.Name != "(not known)" {
		t.Errorf("accepted in time: %+v", p)
	}
	if q, err := a.claim(c, strings.TrimSpace(lineOf(t))); err != nil || q != p || len(p.Claims) != 2 {
		t.Errorf("a second line of the connection: another process, %v", err)
	}
	if q, _ := claimed(0, time.Second, line); q != p {
		t.Error("the same id on another connection is that of another process")
	}
	late, _ := claimed(maxGap+1, time.Second, lineOf(t))
	if late.Reason != "" || late.Ended.IsZero() || late == p {
		t.Errorf("accepted late: %+v", late)
	}
	a.looked = sinceBoot() - maxGap - 1
	if stopped, _ := claimed(0, 0, lineOf(t)); stopped.Reason != "" || stopped.Ended.IsZero() {
		t.Errorf("the agent was stopped after it had accepted: %+v", stopped)
	}
	old := objectid.MinAt(time.Now().Add(-70 * time.Second))
	old[11] = 1
	if _, err := a.claim(c, "oid1 "+old.String()); err == nil || !strings.Contains(err.Error(), "before the process was first seen") {
		t.Errorf("an id from 70 seconds before: %v", err)
	}
	text, err := os.ReadFile(a.State)
	check(t, err)
	b := &agent{Options: Options{Log: a.Log, State: a.State + "2"}, processes: map[*process]struct{}{}}
	check(t, os.WriteFile(b.State, text, 0o600))
	check(t, b.load())
	defer b.state.file.Close()
	reasons := []string{}
	for p := range b.processes {
		reasons = append(reasons, p.Reason)
	}
	if slices.Sort(reasons); !slices.Equal(reasons, []string{"", "", neverSeen}) {
		t.Errorf("after a restart: %q", reasons)
	}
	earlier := objectid.MinAt(time.Now().Add(-30 * time.Second))
	earlier[4] = 1
	if q, _ := claimed(0, 0, "oid1 "+earlier.String()); !q.Since.Equal(earlier.Time()) {
		t.Errorf("a process that has ended and created an id at %v is recorded from %v on", earlier.Time(), q.Since)
	}
}

// A process that has ended and is not recorded any more is registered again for the ids that
// are not recorded, and not again and again.
func TestForgottenAfterItsEnd(t *testing.T) {
	t.Parallel()
	a, _ := listening(t, 100)
	a.sink, a.poke = &forgetful{}, make(chan struct{}, 1)
	p := &process{Claims: []claim{{}, {}, {}}, Ended: time.Now().Add(-settle)}
	a.processes[p] = struct{}{}
	for n := 0; !p.Done; n++ {
		if check(t, a.record(t.Context(), p)); n == 10 {
			t.Fatal("registered again and again")
		}
	}
}

// forgetful is a sink that knows no process that it has registered.
type forgetful struct{ calls }

func (f *forgetful) AddEvidence(context.Context, registry.MemberKey, []objectid.ID, objectid.Layout) error {
	return ErrForgotten
}
