package agent

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strconv"

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
func (c *conn) look() {
	fd, err := c.peer()
	if err == nil {
		defer unix.Close(fd)
		c.shown, c.hidden = registry.Describe(&registry.AdoptOptions{PID: c.pid})
		// If the process of fd still has its pid, /proc has shown this process and no other.
		// Signal 0 only asks.
		err = unix.PidfdSendSignal(fd, 0, nil, 0)
	}
	switch {
	case errors.Is(err, unix.ESRCH), errors.Is(err, unix.EINVAL): // from SO_PEERPIDFD before Linux 6.15
		c.shown, c.hidden = registry.Process{StartUnknown: true, Name: "(not known)", Labels: map[string]string{"process.user.id": strconv.Itoa(int(c.user))}}, nil
		c.shown.Host, _ = os.Hostname()
		addr, _ := gpid.ParseAddr("")
		c.shown.GPID, c.hidden = gpid.New(addr, c.since, c.pid)
	case errors.Is(c.hidden, gpid.ErrNoProcess) && c.shown.Kernel.PID != 0: // a zombie
		c.hidden = nil
	case err != nil && !errors.Is(err, unix.EPERM): // it may not be signaled, but it is there
		c.hidden = err
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
	if c.hidden != nil {
		return c.shown, c.hidden
	}
	now, err := registry.Describe(&registry.AdoptOptions{PID: c.pid, RegisterOptions: registry.RegisterOptions{
		Addr: l.Addr, Name: l.Name, Version: l.Version, Interval: a.Interval,
	}})
	switch {
	case err == nil && now.Kernel == c.shown.Kernel:
		return now, nil
	case errors.Is(err, registry.ErrDescription):
		return now, refusal{badLine, err}
	}
	shown := c.shown
	shown.Name, shown.Version, shown.Interval = cmp.Or(l.Name, shown.Name), cmp.Or(l.Version, shown.Version), a.Interval
	if l.Addr != "" {
		addr, _ := gpid.ParseAddr(l.Addr) // ParseLine has checked it
		shown.GPID, err = gpid.New(addr, shown.GPID.Start(), c.pid)
		return shown, err
	}
	return shown, nil
}

// is reports whether p is the process that a connection has shown, by an id with the value.
func (p *process) is(shown *registry.Process, value string) bool {
	if p.Done || p.Kernel != shown.Kernel || p.Program != shown.Program {
		return false
	}
	return !shown.StartUnknown || p.GPID.Start().Equal(shown.GPID.Start()) || p.has(value)
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
	if c.waited > maxGap {
		reason = "" // nobody knows when it ended
	}
	p.Ended, p.Reason = p.Since, reason
	if created := id.Time(); created.Before(p.Since) {
		p.Since = created // it ran then
	}
	a.latest[c.pid], a.processes[p] = p, struct{}{}
	return nil
}
