package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
)

// Register records this process, claims a process block that no other process ever had, and
// starts its heartbeats. The returned member generates ids until [Member.End]. A process
// may register more than once: each member has its own block.
//
// ctx bounds the call and not the life of the member. If the store cannot be reached,
// Register fails. If o.Offline is set, Register instead returns, after at most one interval,
// a member that registers later. The error wraps [gpid.ErrInvalid] for an invalid o.Addr, and
// [ErrDescription] for an invalid name, version or label.
func (r *Registry) Register(ctx context.Context, o *RegisterOptions) (*Member, error) {
	o = cmp.Or(o, &RegisterOptions{})
	p, err := r.self(o)
	if err != nil {
		return nil, err
	}
	return r.newMember(p, o, true).start(ctx)
}

// Adopt records a process that creates its ids with any driver, in any language. evidence
// must contain one id for each process value of the process, such as one for each client of
// the driver. All ids of the process are traced to it, including earlier ones. The process is
// this one or, on Linux, any process of this host, see o.PID. The heartbeats of the member
// contain the load of the adopted process, and stop when that process ends. The same process
// may be adopted more than once.
//
// Traces of ids of the process are [Claimed], never Known. [Adopted].Evidence says how
// strong the claim is.
//
// If the error is a [*CollisionError], the member is valid: another live process has the
// same process value, and both are recorded. The error wraps [ErrEvidence] if the process
// cannot have created the evidence ids, and [gpid.ErrNoProcess] if no process has the pid
// o.PID. For other errors, ctx and o.Offline, see [Registry.Register].
func (r *Registry) Adopt(ctx context.Context, evidence []objectid.ID, o *AdoptOptions) (*Member, error) {
	opts := *cmp.Or(o, &AdoptOptions{})
	self := opts.PID == 0 || opts.PID == os.Getpid()
	var p Process
	var err error
	if self {
		p, err = r.self(&opts.RegisterOptions)
	} else {
		p, err = Describe(&opts)
	}
	if err != nil {
		return nil, err
	}
	started := p.started()
	if _, err := p.Kernel.Started(); err != nil && self { // how old this process is, is not known
		for _, id := range evidence {
			started = minTime(started, id.Time())
		}
	}
	if err := p.adopt(evidence, opts.Layout, started, wall(r.options.Now)); err != nil {
		return nil, err
	}
	p.identify()
	m, err := r.newMember(p, &opts.RegisterOptions, self).start(ctx)
	var collision *CollisionError
	if err == nil && errors.As(m.Err(), &collision) {
		return m, collision
	}
	return m, err
}

// self describes this process.
func (r *Registry) self(o *RegisterOptions) (Process, error) {
	o = new(*o)
	g, err := gpid.Self(o.Addr)
	if err != nil {
		return Process{}, fmt.Errorf("registry: %w", err)
	}
	executable, _ := os.Executable()
	o.Name = cmp.Or(o.Name, printable(filepath.Base(executable)))
	if info, ok := debug.ReadBuildInfo(); ok && o.Version == "" {
		o.Version = info.Main.Version
	}
	return r.here.local(o, Process{GPID: g, Kernel: r.here.self, Program: r.here.program, Executable: executable})
}

// Describe returns what the kernel shows of the process with the pid o.PID, together with
// what o says. Nothing is recorded. Describe works on Linux only. The error wraps
// [gpid.ErrNoProcess] if no process has the pid, [gpid.ErrInvalid] for an invalid o.Addr,
// and [ErrDescription] for an invalid name, version or label. Of a zombie, which has ended but
// still has its pid, Describe returns both what the kernel shows and [gpid.ErrNoProcess].
func Describe(o *AdoptOptions) (Process, error) {
	o = new(*cmp.Or(o, &AdoptOptions{}))
	kernel, ended := gpid.ProcessOf(o.PID)
	if ended != nil {
		if ended = fmt.Errorf("registry: adopt process %d: %w", o.PID, ended); kernel == (gpid.Process{}) {
			return Process{}, ended
		}
	}
	g, err := kernel.GPID(o.Addr)
	if err != nil {
		return Process{}, fmt.Errorf("registry: adopt process %d: %w", o.PID, err)
	}
	if o.Name == "" {
		comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", o.PID))
		if err != nil {
			return Process{}, fmt.Errorf("registry: adopt process %d: read its name: %w", o.PID, err)
		}
		o.Name = cmp.Or(printable(strings.TrimSuffix(string(comm), "\n")), "?") // a process may remove its name
	}
	executable, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", o.PID)) // hidden for other users' processes
	program, _ := kernel.Program()                                   // likewise
	p, err := thisHost().local(&o.RegisterOptions, Process{GPID: g, Kernel: kernel, Program: program, Executable: executable})
	return p, cmp.Or(err, ended)
}

// local completes the description of a process of this host.
func (h here) local(o *RegisterOptions, p Process) (Process, error) {
	said := RemoteOptionsOf(&p)
	said.Name, said.Version, said.Labels, said.Interval = o.Name, o.Version, o.Labels, o.Interval
	said.Host, _ = os.Hostname() // empty if the host has no name
	p.Member, p.Network, p.Registered = randomID(), h.network, monotonic()
	err := said.describe(&p)
	return p, err
}
