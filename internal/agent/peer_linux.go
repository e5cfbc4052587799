package agent

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// neverSeen is the reason for the end of a process that had ended, and whose pid was free,
// before the agent looked at it.
const neverSeen = "ended before the agent saw it: its program and load are not known"

// look asks the kernel about the process that has connected, and fills c.shown:
//
//	it runs                          what /proc shows
//	it is a zombie                   likewise, without what a zombie has lost, such as its executable
//	it has ended, its pid is free    its pid and its user; c.shown.StartUnknown is set
//	the kernel does not say          nothing
func (c *conn) look() {
	fd, err := c.peer()
	if err == nil {
		defer unix.Close(fd)
		if c.shown, err = registry.Describe(&registry.AdoptOptions{PID: c.pid}); err != nil && !errors.Is(err, gpid.ErrNoProcess) {
			c.shown = registry.Process{}
		}
		// If the process of fd still has its pid, /proc has shown this process and no other.
		// Signal 0 only asks.
		err = unix.PidfdSendSignal(fd, 0, nil, 0)
	}
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) { // EINVAL: from SO_PEERPIDFD before Linux 6.15
		c.shown = registry.Process{StartUnknown: true, Name: "(not known)", Labels: map[string]string{"process.user.id": strconv.Itoa(int(c.user))}}
		c.shown.Host, _ = os.Hostname()
		addr, _ := gpid.ParseAddr("")
		c.shown.GPID, _ = gpid.New(addr, c.since, c.pid)
	}
}

// peer returns a pidfd of the process that has connected. Before Linux 6.5, it returns one of
// the process that has its pid now.
func (c *conn) peer() (int, error) {
	fd, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	if errors.Is(err, unix.ENOPROTOOPT) {
		fd, err = unix.PidfdOpen(c.pid, 0)
	}
	return fd, err
}

// identify returns what is known of the process that has sent l: what the kernel shows now or,
// if the process has ended, what the kernel showed when it connected.
func (a *agent) identify(c *conn, l *Line) (registry.Process, error) {
	now, err := registry.Describe(&registry.AdoptOptions{PID: c.pid, RegisterOptions: registry.RegisterOptions{
		Addr: l.Addr, Name: l.Name, Version: l.Version, Interval: a.Interval,
	}})
	switch unknown := c.shown.Kernel == (gpid.Process{}) && !c.shown.StartUnknown; {
	case unknown, err == nil && now.Kernel == c.shown.Kernel && (now.Program != 0 || c.shown.Program == 0): // otherwise it ended while it was described
		return now, err
	case errors.Is(err, registry.ErrDescription):
		return now, refusal{badLine, err}
	}
	shown := c.shown
	shown.Name, shown.Version, shown.Interval = cmp.Or(l.Name, shown.Name), cmp.Or(l.Version, shown.Version), a.Interval
	addr, _ := gpid.ParseAddr(l.Addr) // ParseLine has checked it
	shown.GPID, err = gpid.New(addr, shown.GPID.Start(), c.pid)
	return shown, err
}

// is reports whether p is the process that a connection has shown, by an id with the value.
func (p *process) is(shown *registry.Process, value string) bool {
	return !p.Done && p.Kernel == shown.Kernel && p.Program == shown.Program &&
		(!shown.StartUnknown || p.GPID.Start().Equal(shown.GPID.Start()) || p.has(value))
}

// has reports whether p has an id with the value.
func (p *process) has(value string) bool {
	return slices.ContainsFunc(p.Claims, func(k claim) bool { return k.Value == value })
}

// enter adds a process that has connected by c and has created id. It follows the process, or
// notes that it has ended.
func (a *agent) enter(p *process, c *conn, id objectid.ID) error {
	reason := neverSeen
	if !p.StartUnknown {
		reason = registry.ProcessEnded
		fd, err := c.peer()
		if err == nil {
			err = a.follow(p, fd)
		}
		if r, _ := errors.AsType[refusal](err); err == nil || r.reason != gone && !errors.Is(err, unix.ESRCH) && !errors.Is(err, unix.EINVAL) {
			return err
		}
	}
	p.Ended, p.Reason = time.Now(), reason
	if a.look(sinceBoot()); c.waited > maxGap {
		p.Reason = "" // nobody knows when it ended
	}
	if created := id.Time(); created.Before(p.Since) {
		p.Since = created // it ran then
	}
	a.latest[c.pid], a.processes[p] = p, struct{}{}
	return nil
}
