package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// Bounds of what programs may use.
const (
	maxIDs   = 100              // process values of a process, as of a registration over HTTP
	maxLines = 1000             // of a connection
	maxBuf   = 16 * maxLine     // of a connection, while its line waits to be recorded
	idle     = 10 * time.Second // until a connection has sent a line
	spare    = 100              // file descriptors for the sink and the agent itself
)

// patience is how long a program waits for the answer to its line until the line is
// recorded. Then the answer has no member key.
const patience = time.Second

// agent serves programs with one goroutine, and passes what they say to its sink with
// others.
type agent struct {
	Options
	epoll, listener int
	most            int // how many connections and processes together
	poke            chan struct{}
	sink            Sink // nil until it was opened; of deliver

	mu        sync.Mutex            // guards what follows
	conns     map[int]*conn         // by file descriptor
	pidfds    map[int]*process      // likewise
	running   map[int]*process      // by pid
	processes map[*process]struct{} // those that run, and those whose end is to be recorded
	todo      map[*process]struct{} // of these, those of which something is to be recorded
	fresh     []*conn               // which have sent no line, the oldest first
	queue     []measured            // the heartbeats to be sent, the oldest first
	state     state
	away      bool // the last call of the sink failed
	retry     time.Time
}

// process is a process that has sent a line. Its exported fields are in the file of the
// agent.
type process struct {
	Registration
	Program  uint32    `json:"program,omitempty"` // see [gpid.Process.Program]
	Claims   []claim   `json:"claims"`
	Recorded int       `json:"recorded,omitempty"` // how many of them are recorded
	Member   string    `json:"member,omitempty"`   // empty until it is recorded
	Ended    time.Time `json:"ended,omitzero"`
	Reason   string    `json:"reason,omitempty"`
	Done     bool      `json:"done,omitempty"` // nothing more is to be recorded

	pidfd   int // or -1
	waiting []*conn
	queued  int       // heartbeats in the queue
	due     time.Time // for the next heartbeat
}

// claim is an id that a process has created.
type claim struct {
	ID     objectid.ID     `json:"id"`
	Layout objectid.Layout `json:"layout"`
	Value  string          `json:"value"` // the process value of the id
}

// conn is the connection of a program.
type conn struct {
	fd, pid int       // pid is 0 if it is in another PID namespace
	since   time.Time // it was accepted, or sent the line that waits
	buf     []byte    // what is not handled yet
	lines   int
	waits   bool // for a line to be recorded
}

// Serve is an agent with a socket, until ctx ends. It closes l, and returns nil after
// the end of ctx. It needs Linux.
func Serve(ctx context.Context, l *net.UnixListener, o *Options) (err error) {
	defer l.Close()
	f, err := l.File()
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	defer f.Close()
	a := &agent{
		Options: *o, listener: int(f.Fd()), poke: make(chan struct{}, 1), conns: map[int]*conn{}, pidfds: map[int]*process{},
		running: map[int]*process{}, processes: map[*process]struct{}{}, todo: map[*process]struct{}{},
	}
	if a.Log == nil {
		a.Log = slog.Default()
	}
	if a.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("agent: epoll: %w", err)
	}
	defer unix.Close(a.epoll)
	stop, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("agent: eventfd: %w", err)
	}
	defer unix.Close(stop)
	// Accepted connections inherit it: the kernel then names who wrote each part.
	if err := unix.SetsockoptInt(a.listener, unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		return fmt.Errorf("agent: SO_PASSCRED: %w", err)
	}
	a.most = fileLimit() - spare
	if err := errors.Join(unix.SetNonblock(a.listener, true), a.watch(a.listener), a.watch(stop), a.load()); err != nil {
		return err
	}
	defer a.close()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer context.AfterFunc(ctx, func() { _, _ = unix.Write(stop, []byte{1, 0, 0, 0, 0, 0, 0, 0}) })()
	wg.Go(func() { a.measure(ctx) })
	wg.Go(func() { a.deliver(ctx) })
	return a.loop(ctx)
}

// fileLimit returns how many files the agent may open, as many as the system lets it.
func fileLimit() int {
	const want = 1 << 17 // 65,000 processes
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) == nil && l.Cur < want {
		_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: max(l.Max, want), Max: max(l.Max, want)}) // needs a privilege
	}
	_ = unix.Getrlimit(unix.RLIMIT_NOFILE, &l)
	return int(min(l.Cur, want))
}

// watch makes the loop handle what happens to fd.
func (a *agent) watch(fd int) error {
	if err := unix.EpollCtl(a.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}); err != nil {
		return fmt.Errorf("agent: epoll: %w", err)
	}
	return nil
}

// close closes all files that processes are known by.
func (a *agent) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for fd := range a.conns {
		unix.Close(fd)
	}
	for fd := range a.pidfds {
		unix.Close(fd)
	}
	a.state.file.Close()
}

// loop handles connections and the ends of processes until ctx ends.
func (a *agent) loop(ctx context.Context) error {
	events := make([]unix.EpollEvent, 256)
	for ctx.Err() == nil {
		n, err := unix.EpollWait(a.epoll, events, int(patience.Milliseconds()))
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("agent: epoll: %w", err)
		}
		a.mu.Lock()
		for _, e := range events[:max(n, 0)] {
			fd := int(e.Fd)
			switch p, c := a.pidfds[fd], a.conns[fd]; {
			case fd == a.listener:
				a.accept()
			case p != nil:
				a.end(p, registry.ProcessEnded)
			case c != nil:
				a.read(c)
			}
		}
		a.expire()
		a.mu.Unlock()
	}
	return nil
}

// accept takes a connection.
func (a *agent) accept() {
	fd, _, err := unix.Accept4(a.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	if err != nil {
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.ECONNABORTED) {
			a.Log.Warn("accept a connection", "error", err)
			time.Sleep(10 * time.Millisecond) // it may last
		}
		return
	}
	c := &conn{fd: fd, since: time.Now()}
	a.conns[fd] = c
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err == nil {
		err = errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1), a.watch(fd))
	}
	switch {
	case err != nil:
		a.refuse(c, err)
	case len(a.conns)+len(a.pidfds) >= a.most:
		a.refuse(c, fmt.Errorf("the agent has %d processes and connections, the most that it may open", a.most))
	default:
		c.pid = int(peer.Pid)
		a.fresh = append(a.fresh, c)
	}
}

// refuse says what is wrong and closes the connection.
func (a *agent) refuse(c *conn, err error) {
	a.answer(c, failure(err))
	a.drop(c)
}

// failure is the answer to a line.
func failure(err error) string {
	return "error " + strings.TrimPrefix(err.Error(), "registry: ") + "\n"
}

// drop closes a connection.
func (a *agent) drop(c *conn) {
	if a.conns[c.fd] == c {
		delete(a.conns, c.fd)
		unix.Close(c.fd)
	}
}

// answer writes a line to the program. One that does not read its answers is
// disconnected.
func (a *agent) answer(c *conn, text string) {
	if a.conns[c.fd] != c {
		return
	}
	if n, err := unix.SendmsgN(c.fd, []byte(text), nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL); err != nil || n < len(text) {
		a.drop(c)
	}
}

// expire closes connections that have not sent a line in time, and answers lines that
// are not recorded in time.
func (a *agent) expire() {
	for len(a.fresh) > 0 && (a.fresh[0].lines > 0 || time.Since(a.fresh[0].since) > idle) {
		if c := a.fresh[0]; c.lines == 0 && a.conns[c.fd] == c {
			a.refuse(c, fmt.Errorf("no line in %v", idle))
		}
		a.fresh = a.fresh[1:]
	}
	for p := range a.todo {
		if len(p.waiting) > 0 && (a.away || time.Since(p.waiting[0].since) > patience) {
			a.release(p, nil)
		}
	}
}

// read handles what a program has written.
func (a *agent) read(c *conn) {
	var buf [4096]byte
	var control [64]byte
	n, m, _, _, err := unix.Recvmsg(c.fd, buf[:], control[:unix.CmsgSpace(unix.SizeofUcred)], unix.MSG_DONTWAIT)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
		return
	}
	if err != nil || n == 0 {
		a.drop(c)
		if p := a.running[c.pid]; p != nil { // an exec closes it, too
			if reason := p.runs(); reason != "" {
				a.end(p, reason)
			}
		}
		return
	}
	if writer := writer(control[:m]); writer != c.pid && writer != 0 {
		a.refuse(c, fmt.Errorf("process %d writes to the connection of process %d: each process has to connect itself", writer, c.pid))
		return
	}
	if c.buf = append(c.buf, buf[:n]...); len(c.buf) > maxBuf {
		a.refuse(c, fmt.Errorf("more than %d bytes before the answer", maxBuf))
		return
	}
	a.handle(c)
}

// writer returns the pid of the process that wrote, by the control message of the
// kernel, or 0 if it wrote before SO_PASSCRED was set.
func writer(control []byte) int {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil || len(messages) == 0 {
		return 0
	}
	cred, err := unix.ParseUnixCredentials(&messages[0])
	if err != nil {
		return 0
	}
	return int(cred.Pid)
}

// handle handles the lines of a connection, until one has to wait.
func (a *agent) handle(c *conn) {
	for !c.waits && a.conns[c.fd] == c {
		end := slices.Index(c.buf, '\n')
		if end >= maxLine || end < 0 && len(c.buf) >= maxLine {
			a.refuse(c, fmt.Errorf("the line is longer than %d bytes", maxLine))
			return
		}
		if end < 0 {
			return
		}
		line := string(c.buf[:end])
		if c.buf = c.buf[end+1:]; len(c.buf) == 0 {
			c.buf = nil
		}
		if c.lines++; c.lines > maxLines {
			a.refuse(c, fmt.Errorf("more than %d lines", maxLines))
			return
		}
		p, err := a.claim(c, line)
		switch {
		case err != nil:
			a.answer(c, failure(err))
		case p.Member != "" && p.Recorded == len(p.Claims):
			a.answer(c, p.answer())
		default:
			c.waits, c.since = true, time.Now()
			p.waiting = append(p.waiting, c)
			a.changed(p)
		}
	}
}

// answer is the answer to a line of p.
func (p *process) answer() string {
	member := p.Member
	if member == "" {
		member = "-"
	}
	return "ok " + member + " " + p.GPID.String() + "\n"
}

// release answers the lines that wait for p to be recorded.
func (a *agent) release(p *process, err error) {
	waiting := p.waiting
	p.waiting = nil
	for _, c := range waiting {
		if c.waits = false; err != nil {
			a.answer(c, failure(err))
		} else {
			a.answer(c, p.answer())
		}
		a.handle(c)
	}
}

// changed makes p be recorded, and keeps it in the file.
func (a *agent) changed(p *process) {
	a.todo[p] = struct{}{}
	a.save(p)
	a.wake()
}

// wake makes deliver look at what is to be recorded.
func (a *agent) wake() {
	select {
	case a.poke <- struct{}{}:
	default:
	}
}

// claim returns the process of a connection that has sent a line, with the id in it.
func (a *agent) claim(c *conn, line string) (*process, error) {
	l, err := ParseLine(line)
	if err != nil {
		return nil, err
	}
	if c.pid == 0 {
		return nil, errors.New("the agent does not see this process, which is in another PID namespace: run the agent in that of the host")
	}
	shown, err := registry.Describe(registry.AdoptOptions{PID: c.pid, Addr: l.Addr, Name: l.Name, Version: l.Version, Interval: a.Interval})
	if err != nil {
		return nil, err
	}
	values, err := shown.Check([]objectid.ID{l.ID}, l.Layout)
	if err != nil {
		return nil, err
	}
	p := a.running[c.pid]
	if p != nil && !p.is(&shown) {
		a.end(p, p.runs())
		p = nil
	}
	if p == nil {
		p = &process{Program: shown.Program, Registration: Registration{
			Key: rand.Text(), GPID: shown.GPID, Kernel: shown.Kernel, Host: shown.Host, Executable: shown.Executable,
			Name: shown.Name, Version: shown.Version, Interval: shown.Interval,
		}}
		if err := a.follow(p, c); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(p.Claims, func(k claim) bool { return k.Value == values[0].Value }) {
		if len(p.Claims) == maxIDs {
			return nil, fmt.Errorf("the process has %d process values, the most that are recorded", maxIDs)
		}
		p.Claims = append(p.Claims, claim{l.ID, l.Layout, values[0].Value})
	}
	return p, nil
}

// is reports whether p is the process that the kernel shows, and runs the same program.
func (p *process) is(shown *registry.Process) bool {
	return p.Kernel == shown.Kernel && (p.Program == shown.Program || p.Program == 0 || shown.Program == 0)
}

// of returns p for the functions of package registry.
func (p *process) of() *registry.Process {
	return &registry.Process{Kernel: p.Kernel, Program: p.Program}
}

// runs is [registry.Process.Runs].
func (p *process) runs() string { return p.of().Runs() }

// follow adds a process that runs. c is its connection, or nil if it has none.
func (a *agent) follow(p *process, c *conn) (err error) {
	p.pidfd = -1
	if c != nil {
		p.pidfd, err = unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	}
	if c == nil || errors.Is(err, unix.ENOPROTOOPT) { // a kernel before 6.5
		p.pidfd, err = unix.PidfdOpen(p.Kernel.PID, 0)
	}
	switch {
	case errors.Is(err, unix.ENOSYS): // the end is seen at the end of the connection, or by the next heartbeat
		p.pidfd, err = -1, nil
	case err != nil:
		return fmt.Errorf("process %d has ended", p.Kernel.PID)
	default:
		a.pidfds[p.pidfd] = p
		err = a.watch(p.pidfd)
	}
	// What /proc shows is that of the process of the pidfd if it runs now.
	poll := []unix.PollFd{{Fd: int32(p.pidfd), Events: unix.POLLIN}}
	if n, _ := unix.Poll(poll, 0); err == nil && (n > 0 || p.runs() != "") {
		err = fmt.Errorf("process %d has ended", p.Kernel.PID)
	}
	if err != nil {
		a.unfollow(p)
		return err
	}
	a.running[p.Kernel.PID], a.processes[p] = p, struct{}{}
	return nil
}

// unfollow closes what p was followed by.
func (a *agent) unfollow(p *process) {
	if a.running[p.Kernel.PID] == p {
		delete(a.running, p.Kernel.PID)
	}
	if p.pidfd >= 0 {
		delete(a.pidfds, p.pidfd)
		unix.Close(p.pidfd)
		p.pidfd = -1
	}
}

// end notes that a process has ended.
func (a *agent) end(p *process, reason string) {
	if !p.Ended.IsZero() {
		return
	}
	a.unfollow(p)
	p.Ended, p.Reason = time.Now(), reason
	a.changed(p)
}
