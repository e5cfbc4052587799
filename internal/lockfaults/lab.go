package lockfaults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// patience is how long a worker may take for anything that is not measured.
const patience = 30 * time.Second

// lab is where one fault happens to one subject.
type lab struct {
	t       testing.TB
	subject Subject
	server  *testenv.RedisServer // that which the workers end up with
	workers []*worker
	stopped []span // times in which a worker stood still and could do nothing

	mu      sync.Mutex
	changed chan struct{}
	events  []event // those of one worker are in order
}

type span struct {
	worker   string
	from, to time.Time
}

// worker is a process that takes the lock.
type worker struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer
	read   sync.WaitGroup
	killed bool
	err    error // how it ended
}

// start starts a worker.
func (l *lab) start(name, url string, hold, wait time.Duration) *worker {
	l.t.Helper()
	w := l.prepare(name, url, hold, wait)
	w.begin()
	return w
}

// begin lets a worker ask for the lock.
func (w *worker) begin() { _, _ = w.stdin.Write([]byte("\n")) }

// prepare starts a worker up to the moment when it is connected.
func (l *lab) prepare(name, url string, hold, wait time.Duration) *worker {
	l.t.Helper()
	text, err := json.Marshal(order{Subject: l.subject.Name, URL: url, Hold: hold, Wait: wait})
	if err != nil {
		l.t.Fatal(err)
	}
	w := &worker{name: name, cmd: exec.Command(os.Args[0])}
	w.cmd.Env = append(os.Environ(), variable+"="+string(text))
	w.cmd.Stderr = &w.stderr
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	if w.stdin, err = w.cmd.StdinPipe(); err != nil {
		l.t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.workers = append(l.workers, w)
	w.read.Go(func() { l.collect(w, out) })
	l.await(name+" connected", func(e event) bool { return e.Worker == name && e.Kind == started })
	return w
}

// collect keeps what a worker tells.
func (l *lab) collect(w *worker, out io.Reader) {
	for d := json.NewDecoder(out); ; {
		var e event
		if err := d.Decode(&e); err != nil {
			return // it has ended, or was killed in the middle of a line
		}
		e.Worker = w.name
		l.mu.Lock()
		l.events = append(l.events, e)
		close(l.changed)
		l.changed = make(chan struct{})
		l.mu.Unlock()
	}
}

// await waits for an event.
func (l *lab) await(what string, match func(event) bool) {
	l.t.Helper()
	if !l.within(patience, match) {
		l.stop()
		l.t.Fatalf("%s: not after %v; workers said: %s", what, patience, l.complaints())
	}
}

// within reports whether an event comes within d.
func (l *lab) within(d time.Duration, match func(event) bool) bool {
	for end := time.After(d); ; {
		l.mu.Lock()
		found, changed := slices.ContainsFunc(l.events, match), l.changed
		l.mu.Unlock()
		if found {
			return true
		}
		select {
		case <-changed:
		case <-end:
			return false
		}
	}
}

// holds waits until a worker has the lock.
func (l *lab) holds(w *worker) {
	l.t.Helper()
	l.await(w.name+" has the lock", func(e event) bool { return e.Worker == w.name && e.Kind == acquired })
}

// kill ends a worker as kill -9 does.
func (l *lab) kill(w *worker) {
	w.killed = true
	if err := w.cmd.Process.Kill(); err != nil {
		l.t.Fatal(err)
	}
}

// freeze stops a worker for d.
func (l *lab) freeze(w *worker, d time.Duration) {
	from := time.Now()
	if err := w.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		l.t.Fatal(err)
	}
	time.Sleep(d)
	l.stopped = append(l.stopped, span{w.name, from, time.Now()})
	if err := w.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		l.t.Fatal(err)
	}
}

// stop tells all workers to finish and waits until they have.
func (l *lab) stop() {
	for _, w := range l.workers {
		w.stdin.Close()
	}
	for _, w := range l.workers {
		overdue := time.AfterFunc(patience, func() { _ = w.cmd.Process.Kill() })
		w.read.Wait()
		w.err = w.cmd.Wait()
		overdue.Stop()
	}
}

// complaints returns what workers wrote to stderr.
func (l *lab) complaints() string {
	var all strings.Builder
	for _, w := range l.workers {
		if w.stderr.Len() > 0 {
			fmt.Fprintf(&all, "\n%s: %s", w.name, w.stderr.String())
		}
	}
	return all.String()
}
