package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// other starts a process and returns it with its pidfd.
func other(t *testing.T) (kernel gpid.Process, fd int, kill func()) {
	t.Helper()
	child := exec.Command("cat")
	in, err := child.StdinPipe()
	check(t, err)
	check(t, child.Start())
	kill = func() { in.Close(); _ = child.Wait() }
	t.Cleanup(kill)
	kernel, err = gpid.ProcessOf(child.Process.Pid)
	check(t, err)
	fd, err = unix.PidfdOpen(kernel.PID, 0)
	check(t, err)
	return kernel, fd, kill
}

// A process is followed only if its pidfd and what /proc has shown are of one process,
// which runs: pids are used again.
func TestFollow(t *testing.T) {
	t.Parallel()
	a, _ := listening(t, 100)
	living, livingFD, _ := other(t)
	ended, endedFD, kill := other(t)
	kill()
	for name, c := range map[string]struct {
		kernel gpid.Process
		fd     int
	}{"the pidfd of one that has ended": {living, endedFD}, "the pid of one that has ended": {ended, livingFD}} {
		if err := a.follow(&process{RemoteOptions: registry.RemoteOptions{Kernel: c.kernel}}, c.fd); err == nil || len(a.processes) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	var pipe [2]int // the end to read is closed, as the pidfd of a process that is not followed
	check(t, unix.Pipe2(pipe[:], unix.O_CLOEXEC|unix.O_NONBLOCK))
	defer unix.Close(pipe[1])
	_, err := unix.Write(pipe[1], []byte("ended"))
	check(t, err)
	if err := a.follow(&process{RemoteOptions: registry.RemoteOptions{Kernel: living}}, pipe[0]); err == nil {
		t.Error("a process that has ended is followed")
	}
	// Until its exec a process that another test starts has the other end, too.
	for deadline := time.Now().Add(20 * time.Second); !errors.Is(err, unix.EPIPE); _, err = unix.Write(pipe[1], []byte("x")) {
		if time.Now().After(deadline) {
			t.Fatalf("a file is left open: %v", err)
		}
		time.Sleep(time.Millisecond)
	}
}

// After an exec a line and the end of a connection are those of the next program, and
// the process before it has ended.
func TestExec(t *testing.T) {
	t.Parallel()
	a, addr := listening(t, 100)
	fd, _ := dial(t, a, addr)
	self, err := gpid.ProcessOf(os.Getpid())
	check(t, err)
	program, err := self.Program()
	check(t, err)
	before := func() *process {
		p := &process{RemoteOptions: registry.RemoteOptions{Kernel: self, Program: program + 1}}
		p.pidfd, err = unix.PidfdOpen(self.PID, 0)
		check(t, err)
		a.latest[self.PID], a.pidfds[p.pidfd] = p, p
		return p
	}
	c := only(t, a)
	p := before()
	q, err := a.claim(c, "oid1 "+objectid.New().String())
	if err != nil || p == q || p.Reason != "replaced by exec" || q.Program != program {
		t.Errorf("a line after an exec: %v, %+v, %+v", err, p, q)
	}
	check(t, unix.Shutdown(fd, unix.SHUT_RDWR)) // a child that is being started may hold a copy of fd
	p = before()
	if a.read(c); p.Reason != "replaced by exec" || a.conns[c.fd] != nil {
		t.Errorf("the end of the connection by an exec: %+v", p)
	}
}

// A program that does not read its answers is disconnected. An answer is one line.
func TestUnread(t *testing.T) {
	t.Parallel()
	a, addr := listening(t, 100)
	fd, _ := dial(t, a, addr)
	_, err := unix.Write(fd, bytes.Repeat([]byte("x\n"), 500))
	check(t, err)
	c := only(t, a)
	check(t, unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 1))
	if a.read(c); a.conns[c.fd] != nil {
		t.Error("it is still connected")
	}
	dial(t, a, addr)
	c = only(t, a)
	if a.answer(c, nil, errors.New(strings.Repeat("x", 1<<22))); a.conns[c.fd] != nil {
		t.Error("it is still connected after a part of an answer")
	}
	if text := failure(errors.Join(errors.New("registry: one"), errors.New("two"))); text != "error one; two\n" {
		t.Errorf("%q", text)
	}
}

// The pidfd of a process of several threads may show an exec as its end. The reason is
// looked up a little later.
func TestExecOfThreads(t *testing.T) {
	t.Parallel()
	a, _ := listening(t, 100)
	var sink calls
	a.sink = &sink
	self, err := gpid.ProcessOf(os.Getpid())
	check(t, err)
	program, err := self.Program()
	check(t, err)
	p := &process{RemoteOptions: registry.RemoteOptions{Kernel: self, Program: program + 1}, Member: "0a1b2c3d4e5f6071"}
	a.end(p, registry.ProcessEnded)
	if check(t, a.record(t.Context(), p)); len(sink.ends) > 0 || p.Done {
		t.Error("the end is recorded at once")
	}
	p.Ended = p.Ended.Add(-settle)
	if check(t, a.record(t.Context(), p)); !slices.Equal(sink.ends, []string{"replaced by exec"}) {
		t.Errorf("ends: %q", sink.ends)
	}
}

// While the sink is away the agent keeps the latest heartbeats.
func TestLatestHeartbeats(t *testing.T) {
	t.Parallel()
	a, _ := listening(t, 100)
	p, began := &process{}, time.Now()
	for i := range maxQueue + 10 {
		a.keep(measured{p: p, at: began.Add(time.Duration(i))})
	}
	if len(a.queue) != maxQueue || p.queued != maxQueue || a.queue[0].at != began.Add(10) {
		t.Errorf("%d heartbeats, %d of the process, the first %v after the start", len(a.queue), p.queued, a.queue[0].at.Sub(began))
	}
	p.Done = true // refused
	if err := a.sendHeartbeats(t.Context()); err != nil || len(a.queue) > 0 {
		t.Errorf("%d heartbeats of a process that is not recorded, %v", len(a.queue), err)
	}
}

// While the sink is away, heartbeats of a process that it knows are kept, in their order,
// and recorded before its end.
func TestHeartbeatsAreKept(t *testing.T) {
	t.Parallel()
	const interval = 10 * time.Second
	a, _ := listening(t, 100)
	a.State = filepath.Join(t.TempDir(), "state")
	check(t, a.rewrite())
	kernel, fd, kill := other(t)
	p := &process{RemoteOptions: registry.RemoteOptions{Kernel: kernel, Interval: interval}, Member: "0a1b2c3d4e5f6071", Claims: []claim{{}}, Recorded: 1}
	check(t, a.follow(p, fd))
	synctest.Test(t, func(t *testing.T) {
		sink, began := new(absent), time.Now()
		a.sink, a.poke = sink, make(chan struct{}, 1)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { a.measure(ctx) })
		running.Go(func() { a.deliver(ctx) })
		time.Sleep(interval + interval/2)
		sink.away.Store(true)
		time.Sleep(4 * interval)
		kill()
		a.mu.Lock()
		a.happened(fd)
		a.mu.Unlock()
		time.Sleep(interval)
		if n := len(sink.at); n != 2 {
			t.Errorf("%d heartbeats and ends while the sink is away, want the 2 from before", n)
		}
		sink.away.Store(false)
		time.Sleep(interval)
		stop()
		running.Wait()
		want := []time.Duration{scan}
		for len(want) < 6 {
			want = append(want, want[len(want)-1]+interval)
		}
		want = append(want, 5*interval+interval/2) // the end
		for i, at := range sink.at {
			if i >= len(want) || at.Sub(began) != want[i] {
				t.Errorf("heartbeat or end %d is %v after the start, want %v", i, at.Sub(began), want)
			}
		}
		if len(sink.at) != len(want) || !p.Done {
			t.Errorf("%d heartbeats and ends, want %d", len(sink.at), len(want))
		}
		for i, at := range sink.tries {
			if i > 0 && at.Sub(sink.tries[i-1]) < again {
				t.Errorf("call %d follows %v after one that failed", i, at.Sub(sink.tries[i-1]))
			}
		}
	})
}

// absent is a sink that may be away for heartbeats, and keeps the times of what it records.
type absent struct {
	Sink
	away  atomic.Bool
	at    []time.Time
	tries []time.Time // while it is away
}

func (s *absent) Heartbeats(_ context.Context, beats []registry.RemoteHeartbeat) []error {
	errs := make([]error, len(beats))
	if s.away.Load() {
		s.tries = append(s.tries, time.Now())
	}
	for i, b := range beats {
		if s.away.Load() {
			errs[i] = errors.New("away")
		} else {
			s.at = append(s.at, time.Now().Add(-b.Age))
		}
	}
	return errs
}

func (s *absent) End(_ context.Context, _ registry.MemberKey, _ string, age time.Duration) error {
	s.at = append(s.at, time.Now().Add(-age))
	return nil
}

// calls is a sink that keeps what it is called with.
type calls struct {
	Sink
	beats   [][]registry.RemoteHeartbeat
	err     error // of each heartbeat
	samples []int // of each call
	ends    []string
	ages    []time.Duration // of registrations and ends
}

func (c *calls) Register(_ context.Context, _ gpid.GPID, _ []objectid.ID, _ objectid.Layout, o *registry.RemoteOptions) (registry.MemberKey, error) {
	c.ages = append(c.ages, o.Age)
	return "1a1b2c3d4e5f6071", errors.New("a warning")
}

func (c *calls) Heartbeats(_ context.Context, beats []registry.RemoteHeartbeat) []error {
	c.beats = append(c.beats, beats)
	return slices.Repeat([]error{c.err}, len(beats))
}

func (c *calls) AddEvidence(_ context.Context, _ registry.MemberKey, samples []objectid.ID, _ objectid.Layout) error {
	c.samples = append(c.samples, len(samples))
	return nil
}

func (c *calls) End(_ context.Context, _ registry.MemberKey, reason string, age time.Duration) error {
	c.ends, c.ages = append(c.ends, reason), append(c.ages, age)
	return nil
}

// A call has a bounded number of heartbeats, one of each process, and ids of one layout.
func TestCalls(t *testing.T) {
	t.Parallel()
	a, _ := listening(t, 100)
	var sink calls
	a.sink = &sink
	for i := range maxBatch + 1 {
		p := &process{Member: registry.MemberKey(fmt.Sprint(i))}
		a.keep(measured{p: p, at: time.Now().Add(-time.Second)})
		a.keep(measured{p: p, at: time.Now()})
	}
	check(t, a.sendHeartbeats(t.Context()))
	all := map[registry.MemberKey]time.Duration{}
	n := 0
	for _, call := range sink.beats {
		in := map[registry.MemberKey]bool{}
		for _, b := range call {
			if last, ok := all[b.Member]; in[b.Member] || ok && last < b.Age {
				t.Fatalf("heartbeat of member %s, %v ago, in one call with another or after a later one", b.Member, b.Age)
			}
			in[b.Member], all[b.Member] = true, b.Age
		}
		if n += len(call); len(call) > maxBatch {
			t.Errorf("%d heartbeats in a call", len(call))
		}
	}
	if n != 2*(maxBatch+1) {
		t.Errorf("%d heartbeats, want %d", n, 2*(maxBatch+1))
	}
	p := &process{Member: "0a1b2c3d4e5f6071", Claims: []claim{{}, {}, {Layout: objectid.Java}, {}}}
	for !p.recorded() {
		check(t, a.record(t.Context(), p))
	}
	if !slices.Equal(sink.samples, []int{2, 1, 1}) {
		t.Errorf("calls with %v ids", sink.samples)
	}
}

// What the errors of a registry mean to the agent.
func TestSinkErrors(t *testing.T) {
	t.Parallel()
	other := errors.New("other")
	for err, want := range map[error]error{
		registry.ErrCollision: nil, registry.ErrEvidence: ErrRefused, gpid.ErrInvalid: ErrRefused, registry.ErrSelfManaged: ErrRefused, registry.ErrKey: ErrForgotten,
		store.ErrNotFound: ErrForgotten, registry.ErrEnded: ErrForgotten, ErrRefused: ErrRefused, ErrForgotten: ErrForgotten, other: other,
	} {
		if got := sinkError(fmt.Errorf("it says: %w", err)); !errors.Is(got, want) || want == nil && got != nil {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}

// An error beside a key is a warning. Times are not in the future, though the clock was
// set back since an earlier agent.
func TestWarningAndClock(t *testing.T) {
	t.Parallel()
	a, _ := listening(t, 100)
	var sink calls
	a.sink = &sink
	later := time.Now().Add(time.Hour)
	p := &process{Claims: []claim{{}}, Since: later}
	if check(t, a.record(t.Context(), p)); p.Member != "1a1b2c3d4e5f6071" || p.Recorded != 1 {
		t.Errorf("recorded as %+v", p)
	}
	p.Ended, p.Reason = later, "replaced by exec"
	if check(t, a.record(t.Context(), p)); !slices.Equal(sink.ages, []time.Duration{0, 0}) || !p.Done {
		t.Errorf("ages of the registration and the end: %v", sink.ages)
	}
}

// A process whose heartbeats are refused is registered again, and its end is recorded.
func TestRefusedHeartbeats(t *testing.T) {
	t.Parallel()
	for _, err := range []error{ErrRefused, ErrForgotten} {
		t.Run(err.Error(), func(t *testing.T) {
			a, _ := listening(t, 100)
			sink := calls{err: err}
			a.sink = &sink
			p := &process{Member: "0a1b2c3d4e5f6071", Claims: []claim{{}}, Recorded: 1, Since: time.Now().Add(-time.Hour)}
			a.processes[p] = struct{}{}
			a.keep(measured{p: p, at: time.Now()})
			if a.pass(t.Context()); a.failing[theSink] || p.Member != "1a1b2c3d4e5f6071" {
				t.Errorf("registered as %q", p.Member)
			}
			if age := sink.ages[0]; age > time.Minute {
				t.Errorf("registered as of %v ago, which another member has", age)
			}
			p.Ended, p.Reason = time.Now().Add(-settle), "replaced by exec"
			if a.pass(t.Context()); len(sink.ends) != 1 {
				t.Errorf("%d ends", len(sink.ends))
			}
		})
	}
}

// hanging is a sink whose calls end with their contexts.
type hanging struct{ Sink }

func (hanging) Register(ctx context.Context, _ gpid.GPID, _ []objectid.ID, _ objectid.Layout, _ *registry.RemoteOptions) (registry.MemberKey, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

func (hanging) Heartbeats(ctx context.Context, beats []registry.RemoteHeartbeat) []error {
	<-ctx.Done()
	return slices.Repeat([]error{ctx.Err()}, len(beats))
}

// Who replaces a token while the server is restarted reads in the log that the server refuses the
// old one, not only that the server did not answer. Reasons that alternate do not fill the log.
func TestReasonChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, _ := listening(t, 100)
		var log strings.Builder
		a.Log = slog.New(slog.NewTextHandler(&log, nil))
		fails := func(reason string, n int) {
			t.Helper()
			for range n {
				a.report(theSink, errors.New(reason))
				time.Sleep(time.Second)
			}
		}
		fails("refused", 40)
		fails("401", 5)
		for range 30 {
			fails("refused", 1)
			fails("502", 1)
		}
		a.report(theSink, nil)
		fails("502", 1)
		got := []int{strings.Count(log.String(), "error=refused"), strings.Count(log.String(), "error=401"), strings.Count(log.String(), "error=502")}
		if got[0]+got[2] < 3 || got[0]+got[2] > 4 || got[0] < 1 || got[1] != 1 || got[2] < 1 {
			t.Errorf("the log has refused, 401 and 502 %v times:\n%s", got, log.String())
		}
	})
}

// A sink that does not answer is away.
func TestHangingCalls(t *testing.T) {
	t.Parallel()
	a, _ := listening(t, 100)
	a.Open = func(ctx context.Context) (Sink, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	synctest.Test(t, func(t *testing.T) {
		took := func() time.Duration {
			began := time.Now()
			a.failing[theSink] = false
			if a.pass(t.Context()); !a.failing[theSink] {
				t.Error("a sink that hangs is not away")
			}
			return time.Since(began)
		}
		if d := took(); d != callTime {
			t.Errorf("opening took %v", d)
		}
		a.sink = hanging{}
		p := &process{Member: "0a1b2c3d4e5f6071"}
		a.keep(measured{p: p, at: time.Now()})
		if d := took(); d != callTime {
			t.Errorf("heartbeats took %v", d)
		}
		a.queue, a.processes[&process{Claims: []claim{{}}}] = nil, struct{}{}
		if d := took(); d != callTime {
			t.Errorf("a registration took %v", d)
		}
	})
}

// A connection with a line stays open. Each line has its own time to be recorded, and none
// while the sink is away. A member key in its answer says that its id is recorded.
func TestTimeOfAnAnswer(t *testing.T) {
	t.Parallel()
	a, addr := listening(t, 100)
	fd, _ := dial(t, a, addr)
	said := func() string {
		buf := make([]byte, 200)
		n, _, _ := unix.Recvfrom(fd, buf, unix.MSG_DONTWAIT)
		return string(buf[:max(n, 0)])
	}
	c := only(t, a)
	say := func() {
		t.Helper()
		ids, err := objectid.NewGenerator(nil)
		check(t, err)
		_, err = unix.Write(fd, fmt.Appendf(nil, "oid1 %v\n", ids.New()))
		check(t, err)
		c.since = time.Now().Add(-time.Hour) // when it was accepted
		before := time.Now()
		a.read(c)
		if a.expire(c, before.Add(patience)); c.waits == nil {
			t.Errorf("an answer before its time: %q", said())
		}
	}
	say()
	p := c.waits
	if a.expire(c, time.Now().Add(patience+time.Nanosecond)); !strings.HasPrefix(said(), "ok - ") {
		t.Error("no answer in time")
	}
	p.Member, p.Recorded = "0a1b2c3d4e5f6071", 1
	say()
	a.report(theSink, errors.New("away"))
	if a.expire(c, time.Now()); !strings.HasPrefix(said(), "ok - ") {
		t.Error("no answer at once while the sink is away, or one that says that a second id is recorded")
	}
	if a.expire(c, time.Now().Add(2*idle)); a.conns[c.fd] == nil {
		t.Errorf("a connection with a line is closed: %q", said())
	}
	c.lines = 0
	if a.expire(c, time.Now().Add(2*idle)); a.conns[c.fd] != nil || !strings.Contains(said(), "no line in 10s") {
		t.Error("a connection without a line stays open")
	}
	if n, err := unix.Read(fd, make([]byte, 1)); n != 0 || err != nil {
		t.Errorf("it is not closed: %v", err)
	}
}

// Lines with different ids are answered once all are recorded.
func TestAnswerAfterAllIDs(t *testing.T) {
	t.Parallel()
	a, addr := listening(t, 100)
	a.sink = new(calls)
	fd, _ := dial(t, a, addr)
	c := only(t, a)
	p := &process{Claims: []claim{{}, {}}, waiting: []*conn{c}}
	c.waits = p
	for _, want := range []string{"", "ok 1a1b2c3d4e5f6071 "} {
		check(t, a.record(t.Context(), p))
		buf := make([]byte, 200)
		n, _, _ := unix.Recvfrom(fd, buf, unix.MSG_DONTWAIT)
		if said := string(buf[:max(n, 0)]); !strings.HasPrefix(said, want) || want == "" && said != "" {
			t.Errorf("answer with %d ids recorded: %q", p.Recorded, said)
		}
	}
}

// A program that has disconnected before its answer has none, and neither has the one
// whose connection has the number of that file now.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	a, addr := listening(t, 100)
	fd, _ := dial(t, a, addr)
	p := &process{waiting: []*conn{{fd: only(t, a).fd}}}
	p.waiting[0].waits = p
	a.release(p, nil)
	if n, _, err := unix.Recvfrom(fd, make([]byte, 200), unix.MSG_DONTWAIT); n > 0 || !errors.Is(err, unix.EAGAIN) {
		t.Errorf("%d bytes for another program, %v", n, err)
	}
}
