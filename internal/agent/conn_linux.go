package agent

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/internal/otelresource"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// Bounds of what programs may use.
const (
	maxIDs   = 100          // process values per process; a registration over HTTP has the same bound
	maxLines = 1000         // lines per connection
	maxBuf   = 16 * maxLine // bytes that a connection may send before the answer to its line

	maxAccept = 1000 // connections that are accepted before other events are handled
)

// patience is how long a line waits to be recorded before it is answered anyway.
const patience = time.Second

// idle is how long a connection may be open before its first line.
var idle = 10 * time.Second

// conn is the connection of a program.
type conn struct {
	fd, pid int              // pid is 0 if the process is in a PID namespace that the agent cannot see
	user    uint32           // the user of the process when it connected
	since   time.Time        // when the connection was accepted or, if waits is set, when its line arrived
	waited  time.Duration    // how long it had waited to be accepted, at most; or how long the agent did not run since
	shown   registry.Process // what the kernel showed of the process then, see look
	closed  bool             // the program has closed it
	buf     []byte           // bytes that are not handled yet
	lines   int              // how many lines were handled
	waits   *process         // the process of a line that is to be recorded before it is answered, or nil
}

// accept accepts all connections that wait. It asks the kernel about each program at once,
// because the program may end at any time.
func (a *agent) accept() {
	waited := sinceBoot() - a.accepted // no connection has waited longer
	for range maxAccept {
		fd, _, err := unix.Accept4(a.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch {
		case err == nil:
			a.welcome(fd, waited)
		case errors.Is(err, unix.EAGAIN):
			a.accepted = sinceBoot()
			return
		case !errors.Is(err, unix.ECONNABORTED) && !errors.Is(err, unix.EINTR):
			a.refused(0, 0, tooMany, fmt.Errorf("accept a connection: %w", err))
			time.Sleep(10 * time.Millisecond) // the next attempt may fail as well
			return
		}
	}
}

// welcome adds a connection that has waited to be accepted for at most the given time.
func (a *agent) welcome(fd int, waited time.Duration) {
	c := &conn{fd: fd, since: time.Now(), waited: waited}
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err == nil {
		c.pid, c.user = int(peer.Pid), peer.Uid
		c.look()
	}
	err = errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1), a.watch(fd))
	a.conns[fd] = c
	a.users[c.user]++
	switch {
	case len(a.conns)+len(a.pidfds) >= a.most:
		err = refusal{tooMany, fmt.Errorf("the agent has %d connections and processes, the maximum", a.most)}
	case a.users[c.user] > a.most/2: // each process takes one file for its connection and one for itself
		err = refusal{tooMany, fmt.Errorf("user %d has %d connections, the maximum for one user", c.user, a.most/2)}
	}
	if err != nil {
		a.refuse(c, err)
	}
}

// answer writes the answer to a line: err or, if err is nil, the member and the GPID of p. A
// program that does not read its answers is disconnected.
func (a *agent) answer(c *conn, p *process, err error) {
	if a.conns[c.fd] != c {
		return
	}
	text := failure(err)
	if err == nil {
		member := registry.MemberKey("-")
		if p.recorded() {
			member = p.Member
		}
		text = fmt.Sprintf("ok %s %v\n", member, p.GPID)
	}
	n, err := unix.SendmsgN(c.fd, []byte(text), nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	if n < len(text) && !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) { // after these lines may be left, see hangUp
		a.drop(c)
	}
}

// refuse answers with err and closes the connection.
func (a *agent) refuse(c *conn, err error) {
	a.deny(c, err)
	a.drop(c)
}

// deny answers with err and logs it with its reason.
func (a *agent) deny(c *conn, err error) {
	r, ok := errors.AsType[refusal](err)
	if !ok {
		r.reason = unreadable
	}
	a.refused(c.pid, c.user, r.reason, err)
	a.answer(c, nil, err)
}

// drop closes a connection, unless it is closed.
func (a *agent) drop(c *conn) {
	if a.conns[c.fd] == c {
		delete(a.conns, c.fd)
		a.users[c.user]--
		unix.Close(c.fd)
	}
}

// expire closes a connection that has not sent a line in time, and answers a line that was
// not recorded in time.
func (a *agent) expire(c *conn, now time.Time) {
	switch waited := now.Sub(c.since); {
	case c.lines == 0 && waited > idle:
		a.refuse(c, refusal{silent, fmt.Errorf("no line in %v", idle)})
	case c.waits != nil && (a.failing[theSink] || waited > patience):
		a.release(c.waits, nil)
	}
}

// read handles what a program has written.
func (a *agent) read(c *conn) {
	var buf [4096]byte
	var control [64]byte
	n, m, _, _, err := unix.Recvmsg(c.fd, buf[:], control[:unix.CmsgSpace(unix.SizeofUcred)], unix.MSG_DONTWAIT)
	switch from := writer(control[:m]); {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
	case err != nil || n == 0:
		a.hangUp(c)
	case from != c.pid && from != 0:
		a.refuse(c, refusal{otherWriter, fmt.Errorf("process %d writes to the connection of process %d: each process has to connect itself", from, c.pid)})
	case len(c.buf)+n > maxBuf:
		a.refuse(c, refusal{tooMany, fmt.Errorf("more than %d bytes sent without waiting for an answer", maxBuf)})
	default:
		c.buf = append(c.buf, buf[:n]...)
		a.handle(c)
	}
}

// hangUp handles the last lines of a connection that the program has closed. Nobody waits
// for the answers.
func (a *agent) hangUp(c *conn) {
	c.closed, c.waits = true, nil
	if a.handle(c); len(c.buf) > 0 {
		a.refused(c.pid, c.user, badLine, fmt.Errorf("the connection ended within the line %.40q", c.buf))
	}
	a.drop(c)
	a.current(c.pid) // the program may have called exec, which closes the connection
}

// writer returns the pid of the process that wrote, from the control message of the kernel.
// It returns 0 if the process wrote before SO_PASSCRED was set.
func writer(control []byte) int {
	if messages, err := unix.ParseSocketControlMessage(control); err == nil && len(messages) > 0 {
		if cred, err := unix.ParseUnixCredentials(&messages[0]); err == nil {
			return int(cred.Pid)
		}
	}
	return 0
}

// handle handles the lines of a connection until one has to wait to be recorded.
func (a *agent) handle(c *conn) {
	for c.waits == nil && a.conns[c.fd] == c {
		line, rest, found := bytes.Cut(c.buf, []byte("\n"))
		switch {
		case len(line) >= maxLine:
			a.refuse(c, refusal{badLine, fmt.Errorf("the line is longer than %d bytes", maxLine)})
			return
		case !found:
			return
		case c.lines == maxLines:
			a.refuse(c, refusal{tooMany, fmt.Errorf("more than %d lines", maxLines)})
			return
		}
		c.lines, c.buf = c.lines+1, slices.Clone(rest)
		p, err := a.claim(c, string(line))
		if err != nil {
			a.deny(c, err)
			continue
		}
		if p.recorded() {
			a.answer(c, p, nil)
			continue
		}
		if !c.closed {
			c.waits, c.since = p, time.Now()
			p.waiting = append(p.waiting, c)
		}
		a.changed(p)
	}
}

// release answers the lines that wait for p to be recorded, and handles further lines of
// their connections.
func (a *agent) release(p *process, err error) {
	waiting := p.waiting
	p.waiting = nil
	for _, c := range waiting {
		c.waits = nil
		a.answer(c, p, err)
		a.handle(c)
	}
}

// claim adds the id in a line to the process that has sent it, and returns the process.
func (a *agent) claim(c *conn, line string) (*process, error) {
	l, err := ParseLine(line)
	if err != nil {
		return nil, refusal{badLine, err}
	}
	if c.pid == 0 {
		return nil, refusal{otherNamespace, errors.New("the agent cannot see this process, which is in another PID namespace: run the agent in the PID namespace of the host")}
	}
	shown, err := a.identify(c, &l)
	if err != nil {
		return nil, err
	}
	adopted, err := shown.Check([]objectid.ID{l.ID}, l.Layout)
	if err != nil {
		return nil, refusal{badID, err}
	}
	a.current(c.pid) // finds out whether a process that is followed has called exec
	p := a.latest[c.pid]
	if p == nil || !p.is(&shown, adopted[0].Value) {
		p = &process{user: c.user, GPID: shown.GPID, Since: time.Now(), RemoteOptions: registry.RemoteOptionsOf(&shown)}
		p.Given = otelresource.Description{Name: l.Name, Version: l.Version}
		// An agent that has lost its file finds the member that it has registered before.
		p.Key = fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, p.Kernel, p.Program, p.GPID, adopted[0].Value)))
		if err := a.enter(p, c, l.ID); err != nil {
			return nil, err
		}
		if p.Ended.IsZero() {
			said, unread := a.ask(p)
			if _, end := p.measure(); end == "" { // otherwise said may come from another process
				a.hear(p, said, unread)
				p.update()
			}
		}
	}
	if !p.has(adopted[0].Value) {
		if len(p.Claims) == maxIDs {
			return nil, refusal{tooMany, fmt.Errorf("the process has %d process values, the maximum", maxIDs)}
		}
		p.Claims = append(p.Claims, claim{l.ID, l.Layout, adopted[0].Value})
	}
	return p, nil
}

// claim is an evidence id of a process.
type claim struct {
	ID     objectid.ID     `json:"id"`
	Layout objectid.Layout `json:"layout"`
	Value  string          `json:"value"` // the process value of the id
}
