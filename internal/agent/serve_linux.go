package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/otelresource"
	"github.com/oidkit/oid/registry"
)

// spare is how many open files are reserved for the sink, and for pidfds of connections that
// were just accepted.
const spare = 256

// agent has three goroutines. loop serves all connections, measure measures the processes,
// and deliver records them.
type agent struct {
	Options
	epoll, listener int
	socket          *net.UnixListener
	file            os.FileInfo            // of the socket; nil if the agent sees no file. While the socket is open, no other file gets its inode
	folders         map[string]os.FileInfo // see folder
	most            int                    // how many files may be open for connections and processes
	poke            chan struct{}          // wakes deliver
	sink            Sink                   // nil until deliver has opened it; only deliver uses it
	retry           time.Time              // when deliver may call the sink again; only deliver uses it
	asked           sync.Map               // by user, until when asking its processes is paid for, see ask

	mu        sync.Mutex            // guards what follows
	conns     map[int]*conn         // by file descriptor
	users     map[uint32]int        // how many connections each user has
	pidfds    map[int]*process      // by the file descriptor of the pidfd
	latest    map[int]*process      // by pid, the latest one, until nothing more is to be recorded of it
	processes map[*process]struct{} // those that run, and those whose end is to be recorded
	queue     []measured            // heartbeats that are to be sent, the oldest first
	state     state
	logged    map[string]int // see refused
	clearAt   time.Time      // when logged is cleared
	counts    counts
	failing   [len(parts)]bool
	said      [len(parts)]struct { // what was logged last
		reason string
		at     time.Time
	}
	looked   time.Duration // when look was last called, as the time since boot, or 0
	accepted time.Duration // when no connection waited to be accepted, likewise
}

// Serve runs an agent on the socket l until ctx is done, and then returns nil. It closes l.
// It needs Linux 5.3 or later.
func Serve(ctx context.Context, l *net.UnixListener, o *Options) error {
	defer l.Close()
	var files unix.Rlimit // the Go runtime has raised the soft limit to the hard limit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	a := &agent{
		Options: *o, epoll: epoll, most: int(files.Cur) - spare, poke: make(chan struct{}, 1), conns: map[int]*conn{}, users: map[uint32]int{}, pidfds: map[int]*process{},
		latest: map[int]*process{}, processes: map[*process]struct{}{}, folders: map[string]os.FileInfo{},
	}
	a.Log = cmp.Or(a.Log, slog.Default())
	a.addMetrics()
	defer a.close()
	if err := cmp.Or(a.use(l), a.load(), a.folder(a.State), a.folder(l.Addr().String())); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { a.measure(ctx) })
	// While the last calls are made, programs are still served and their ends seen.
	last, stop := context.WithCancel(context.WithoutCancel(ctx))
	wg.Go(func() { defer stop(); a.deliver(ctx) })
	return a.loop(last)
}

// watch makes the loop handle what happens to fd.
func (a *agent) watch(fd int) error {
	return unix.EpollCtl(a.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

func (a *agent) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	unix.Close(a.epoll)
	for fd := range a.conns {
		unix.Close(fd)
	}
	for fd := range a.pidfds {
		unix.Close(fd)
	}
	a.leave()
	a.state.file.Close() // if load has failed, the file is nil, and Close returns an error
}

// loop handles connections and the ends of processes until ctx ends.
func (a *agent) loop(ctx context.Context) error {
	events := make([]unix.EpollEvent, 256)
	for ctx.Err() == nil {
		n, err := unix.EpollWait(a.epoll, events, 200) // ms, to see the end of ctx
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("agent: %w", err)
		}
		a.mu.Lock()
		a.look(sinceBoot())
		a.accept()
		for _, e := range events[:max(n, 0)] {
			a.happened(int(e.Fd))
		}
		a.mu.Unlock()
	}
	return nil
}

// maxGap is how long the agent may not run, and still date what happened meanwhile.
const maxGap = 2 * time.Second

// sinceBoot returns the time since boot, which goes on while the host is suspended.
func sinceBoot() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) // every Linux has this clock
	return time.Duration(t.Nano())
}

// look notes that the agent runs. If it did not run for longer than maxGap, because it was
// stopped, the host was suspended or the machine was starved, nobody knows when the processes
// ended that have ended meanwhile.
func (a *agent) look(now time.Duration) {
	gap, first := now-a.looked, a.looked == 0
	if a.looked = now; first || gap <= maxGap {
		return
	}
	running := len(a.pidfds)
	for fd, p := range a.pidfds {
		p.doubt, p.due = true, time.Time{}
		if readable(fd) {
			a.end(p, registry.ProcessEnded)
		}
	}
	// The monotonic clock stands still while the host is suspended: without it, ages are
	// differences of the wall clock.
	for p := range a.processes {
		p.Since, p.Ended = p.Since.Round(0), p.Ended.Round(0)
	}
	for i := range a.queue {
		a.queue[i].at = a.queue[i].at.Round(0)
	}
	for _, c := range a.conns {
		c.since, c.waited = time.Now(), gap // what it has sent in time is not read yet
	}
	a.Log.Warn("the agent did not run for a while: when the processes that ended meanwhile ended is not known", "seconds", gap.Seconds(), "ended", running-len(a.pidfds))
}

// happened handles an event of a file. The event may be of a closed file that had the same
// descriptor; then nothing can be read from the new one.
func (a *agent) happened(fd int) {
	switch p, c := a.pidfds[fd], a.conns[fd]; {
	case p != nil && readable(fd):
		a.end(p, registry.ProcessEnded)
	case c != nil:
		a.read(c)
	}
}

// process is a process that has sent a line. The file of the agent has it as JSON.
type process struct {
	registry.RemoteOptions
	GPID     gpid.GPID          `json:"gpid"`
	Since    time.Time          `json:"since"` // when it sent its first line
	Claims   []claim            `json:"claims"`
	Recorded int                `json:"recorded,omitempty"` // how many of Claims are recorded
	Member   registry.MemberKey `json:"member,omitempty"`   // empty until it is recorded
	Ended    time.Time          `json:"ended,omitzero"`     // zero while it runs
	Reason   string             `json:"reason,omitempty"`   // why it ended; empty if Ended is not the time of its end
	Done     bool               `json:"done,omitempty"`     // nothing more is to be recorded

	Given otelresource.Description `json:"given"` // what its line says

	reader  *otelresource.Reader  // only one goroutine at a time uses it, without a.mu
	news    *registry.Description // what it says of itself now, if that is not recorded
	pidfd   int
	user    uint32    // the user of the process when it connected; 0 if it is not known
	waiting []*conn   // connections whose lines wait to be recorded
	queued  int       // how many of its heartbeats are in the queue
	due     time.Time // when the next heartbeat is measured
	doubt   bool      // it was not seen to run the same program since the agent did not run for a while
}

// recorded reports whether all ids of p are recorded.
func (p *process) recorded() bool { return p.Member != "" && p.Recorded == len(p.Claims) }

// measure returns the load of p and the reason for its end, or "".
func (p *process) measure() (load registry.Load, end string) {
	return (&registry.Process{Kernel: p.Kernel, Program: p.Program}).Measure()
}

// current ends the process that is followed under a pid if it has called exec.
func (a *agent) current(pid int) {
	if p := a.latest[pid]; p != nil && p.Ended.IsZero() {
		if _, end := p.measure(); end != "" {
			a.end(p, end)
		}
	}
}

// follow adds a process. fd is its pidfd, which shows when the process ends. If it has ended,
// the error is a refusal for the reason gone.
func (a *agent) follow(p *process, fd int) error {
	// If the process of fd still runs, /proc has shown this process and no other one.
	_, end := p.measure()
	if readable(fd) {
		end = registry.ProcessEnded
	}
	err := a.watch(fd)
	if end != "" {
		err = refusal{gone, fmt.Errorf("process %d: %s", p.Kernel.PID, end)}
	}
	if err != nil {
		unix.Close(fd)
		return err
	}
	p.pidfd, p.reader = fd, &otelresource.Reader{PID: p.Kernel.PID, User: p.user, Given: p.Given}
	a.pidfds[fd], a.latest[p.Kernel.PID], a.processes[p] = p, p, struct{}{}
	return nil
}

// readable reports whether fd can be read. A pidfd can be read after its process has ended.
func readable(fd int) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

// unfollow closes the pidfd of a process, unless it is closed.
func (a *agent) unfollow(p *process) {
	if a.pidfds[p.pidfd] == p {
		delete(a.pidfds, p.pidfd)
		unix.Close(p.pidfd)
	}
}

// end records that a process has ended now, unless it is known to have ended. The agent may
// have been stopped since it last looked, even between two lines: look comes after the time.
func (a *agent) end(p *process, reason string) {
	now := time.Now()
	if a.look(sinceBoot()); p.Ended.IsZero() {
		a.unfollow(p)
		if p.Ended, p.Reason = now, reason; p.doubt {
			p.Reason = ""
		}
		a.changed(p)
	}
}

// changed writes p to the file, and makes deliver record it.
func (a *agent) changed(p *process) {
	a.save(p)
	a.wake()
}

// wake makes deliver pass on what is to be recorded.
func (a *agent) wake() {
	select {
	case a.poke <- struct{}{}:
	default:
	}
}
