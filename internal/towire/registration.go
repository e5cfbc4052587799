package towire

import (
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

// Registration returns the request that adopts the process g on a server. ids are its
// evidence ids, which have the given layout.
func Registration(g gpid.GPID, ids []objectid.ID, layout objectid.Layout, o *registry.RemoteOptions) wire.Registration {
	out := wire.Registration{
		Key: o.Key, Address: g.Addr().String(), PID: uint32(g.PID()),
		Name: o.Name, Version: o.Version, Labels: o.Labels, Host: o.Host,
		EvidenceIDs: ids, Layout: layout.String(), IntervalSeconds: o.Interval.Seconds(), Clock: o.Clock, AgeSeconds: o.Age.Seconds(),
		Kernel: kernel(o.Kernel, o.Program), Executable: o.Executable, Started: g.Start(), StartUnknown: o.StartUnknown,
	}
	return out
}

// FromRegistration returns what r says about a process, except its GPID: its evidence ids,
// their layout, and its description.
func FromRegistration(r *wire.Registration) (ids []objectid.ID, layout objectid.Layout, o *registry.RemoteOptions) {
	o = &registry.RemoteOptions{
		Key: r.Key, StartUnknown: r.StartUnknown || r.Started.IsZero(),
		Name: r.Name, Version: r.Version, Labels: r.Labels, Host: r.Host,
		Interval: Seconds(r.IntervalSeconds), Clock: r.Clock, Age: Seconds(r.AgeSeconds),
		Executable: r.Executable,
	}
	if k := r.Kernel; k != nil {
		o.Kernel = gpid.Process{Boot: k.BootID, Namespace: k.PIDNamespace, PID: k.PID, Ticks: k.StartTicks}
		o.Program = k.Program
	}
	return r.EvidenceIDs, Layout(r.Layout), o
}

// FromHeartbeat returns the heartbeat of a process.
func FromHeartbeat(b wire.HeartbeatOf) registry.RemoteHeartbeat {
	return registry.RemoteHeartbeat{
		Member: registry.MemberKey(b.Member), Load: FromLoad(b.Load), Clock: b.Clock, Age: Seconds(b.AgeSeconds), Description: (*registry.Description)(b.Description),
	}
}

// Layout returns the layout with this name in the API. The empty name means modern.
func Layout(name string) (layout objectid.Layout) {
	_ = layout.UnmarshalText([]byte(name)) // fails only for the empty name
	return layout
}

// Seconds converts a number of seconds to a duration.
func Seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// kernel returns the identity of a process in the kernel and its program, or nil if it is
// not known.
func kernel(p gpid.Process, program uint32) *wire.Kernel {
	if p == (gpid.Process{}) {
		return nil
	}
	return &wire.Kernel{BootID: p.Boot, PIDNamespace: p.Namespace, PID: p.PID, StartTicks: p.Ticks, Program: program}
}
