package lockfaults

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// patience is how long to wait for anything that is not measured.
const patience = 30 * time.Second

// lab runs one fault against one subject.
type lab struct {
	t        testing.TB
	subject  Subject
	ttl      time.Duration
	server   *testenv.RedisServer   // the server of the workers after the fault; nil for PostgreSQL
	cluster  []*testenv.RedisServer // all primaries after the fault, of a Cluster
	workers  []*worker
	stopped  []span        // times in which a worker was stopped
	outage   time.Duration // how long no server accepted writes
	unwanted time.Time     // before this time nobody wanted the lock
	began    time.Time     // when timed work began; zero if no work is timed
	done     time.Time     // when timed work was done

	mu      sync.Mutex
	changed chan struct{}
	events  []event   // of all workers but the late starter; in order for each worker
	late    []event   // of the late starter
	called  time.Time // when the late starter was started, or zero
}

type span struct {
	worker   string
	from, to time.Time
}

// worker is a process that uses the lock.
type worker struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer
	read   sync.WaitGroup
	killed bool
	err    error // how it ended
}

// start starts a worker that asks for the lock at once.
func (l *lab) start(name, url string, hold, wait time.Duration) *worker {
	l.t.Helper()
	w := l.prepare(name, order{URL: url, Hold: hold, Wait: wait})
	w.begin()
	return w
}

// crowd starts a worker with many goroutines, each of which takes the lock the given number
// of times. It returns when all have asked for the lock.
func (l *lab) crowd(name, url string, many, times int, hold time.Duration) *worker {
	l.t.Helper()
	w := l.prepare(name, order{URL: url, Hold: hold, Wait: patience, Many: many, Times: times})
	w.begin()
	for i := range many {
		l.await(name+" asks", is(fmt.Sprintf("%s/%d", name, i+1), asking))
	}
	return w
}

// served waits until a crowd has held the lock the given number of times in total.
func (l *lab) served(w *worker, times int) {
	l.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		n := 0
		l.mu.Lock()
		for _, e := range l.events {
			if e.Kind == ended && e.of(w.name) && e.Lost == "" {
				n++
			}
		}
		l.mu.Unlock()
		if n >= times {
			l.done = time.Now()
			return
		}
		if time.Now().After(end) {
			l.done = end
			l.t.Logf("%s: %d of %d had the lock", w.name, n, times)
			return
		}
	}
}

// begin makes the worker ask for the lock.
func (w *worker) begin() { _, _ = w.stdin.Write([]byte("\n")) }

// prepare starts a worker and waits until it has connected.
func (l *lab) prepare(name string, o order) *worker {
	l.t.Helper()
	w := l.launch(name, o)
	l.await(name+" connected", is(name, started))
	return w
}

// launch starts the process of a worker.
func (l *lab) launch(name string, o order) *worker {
	l.t.Helper()
	o.Subject, o.TTL = l.subject.Name, cmp.Or(o.TTL, l.ttl)
	text := testenv.Must(json.Marshal(o))(l.t)
	w := &worker{name: name, cmd: exec.Command(cmp.Or(o.program, os.Args[0]))}
	w.cmd.Env = append(os.Environ(), variable+"="+string(text))
	w.cmd.Stderr = &w.stderr
	out := testenv.Must(w.cmd.StdoutPipe())(l.t)
	w.stdin = testenv.Must(w.cmd.StdinPipe())(l.t)
	testenv.NoError(l.t, w.cmd.Start())
	l.workers = append(l.workers, w)
	w.read.Go(func() { l.collect(w, out) })
	return w
}

// lateStarter is the name of a worker that starts during a fault, and of the lock that it
// takes, for which nobody else asks. In a Cluster, that lock is on another primary than the
// lock of the other workers.
const lateStarter = "late-starter"

// startLate starts the late starter, just before the fault.
func (l *lab) startLate(url string) {
	l.t.Helper()
	l.called = time.Now()
	l.launch(lateStarter, order{URL: url, Lock: lateStarter, Hold: TTL / 20, Wait: wait, Times: 1}).begin()
}

// collect reads the events of a worker.
func (l *lab) collect(w *worker, out io.Reader) {
	for d := json.NewDecoder(out); ; {
		var e event
		if err := d.Decode(&e); err != nil {
			return // the worker has ended, or was killed while it wrote a line
		}
		e.Worker = w.name + e.Worker
		l.mu.Lock()
		if w.name == lateStarter {
			l.late = append(l.late, e)
		} else {
			l.events = append(l.events, e)
		}
		close(l.changed)
		l.changed = make(chan struct{})
		l.mu.Unlock()
	}
}

// is returns a function that reports whether an event is of this worker and kind.
func is(worker, kind string) func(event) bool {
	return func(e event) bool { return e.Worker == worker && e.Kind == kind }
}

// of reports whether the event is of the worker or one of its goroutines.
func (e event) of(worker string) bool {
	return e.Worker == worker || strings.HasPrefix(e.Worker, worker+"/")
}

// await waits for an event. It fails the test if none comes within patience.
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
	l.await(w.name+" has the lock", is(w.name, acquired))
}

// kill kills a worker with SIGKILL.
func (l *lab) kill(w *worker) {
	w.killed = true
	w.signal(l.t, os.Kill)
}

// freeze stops a worker with SIGSTOP, calls meanwhile, and lets the worker continue after 2 TTL.
func (l *lab) freeze(w *worker, meanwhile func()) {
	from := time.Now()
	w.signal(l.t, stopSignal)
	meanwhile()
	time.Sleep(2 * TTL)
	l.stopped = append(l.stopped, span{w.name, from, time.Now()})
	w.signal(l.t, continueSignal)
}

func (w *worker) signal(t testing.TB, s os.Signal) {
	testenv.NoError(t, w.cmd.Process.Signal(s))
}

// stop tells all workers to end, and waits for them.
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

// complaints returns what the workers wrote to stderr.
func (l *lab) complaints() string {
	var all strings.Builder
	for _, w := range l.workers {
		if w.stderr.Len() > 0 {
			fmt.Fprintf(&all, "\n%s: %s", w.name, w.stderr.String())
		}
	}
	return all.String()
}
