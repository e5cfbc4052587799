package towire

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/pure"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

// Process converts s.
func Process(s registry.Status) wire.Process {
	out := wire.Process{
		Member: string(s.Key()), GPID: s.GPID.String(), Name: s.Name, Host: s.Host, Executable: s.Executable, Version: s.Version, Labels: s.Labels, InstanceID: s.InstanceID(),
		State: string(s.State), Reason: s.Reason, Presumed: s.Presumed,
		ProcessValue: s.Value, Remote: s.Remote, Rivals: GPIDs(s.Rivals),
		IDsFrom: s.From, IDsConfirmedFrom: s.Confirmed, IDsUntil: s.Until,
		IntervalSeconds:  s.Interval.Seconds(),
		LastHeartbeat:    wire.LastHeartbeat{Number: s.Last.Count, Time: s.Last.Time, Load: Load(s.Last.Load)},
		NetworkNamespace: s.Network, StartUnknown: s.StartUnknown,
	}
	if s.Value == s.Block {
		out.ProcessBlock = s.Block
	}
	if s.Successor != (gpid.GPID{}) {
		out.Successor = s.Successor.String()
	}
	if !s.EvidenceID.IsZero() {
		out.EvidenceID = &s.EvidenceID
	}
	out.Adopted = each.Of(s.Adopted, claim)
	if s.Clock != nil {
		out.ClockOffset = &wire.ClockOffset{MinSeconds: s.Clock.Min.Seconds(), MaxSeconds: s.Clock.Max.Seconds()}
	}
	if s.End != nil {
		out.End = &wire.End{Time: s.End.Time, Reason: s.End.Reason}
	}
	out.Kernel = kernel(s.Kernel, s.Program)
	return out
}

func claim(a registry.Adopted) wire.Adopted {
	return wire.Adopted{
		ProcessValue: a.Value, EvidenceID: a.EvidenceID, Evidence: string(a.Evidence), IDsFrom: a.From, IDsConfirmedFrom: a.Confirmed,
	}
}

// Registered returns the answer to a request about p. rivals are other live processes with
// the same process value.
func Registered(p registry.Process, rivals []gpid.GPID) wire.Registered {
	out := wire.Registered{
		Member: string(p.Key()), GPID: p.GPID.String(), ProcessValue: p.Value, Adopted: each.Of(p.Adopted, claim), IntervalSeconds: p.Interval.Seconds(), Rivals: GPIDs(rivals),
	}
	if p.Value == p.Block {
		out.ProcessBlock = p.Block
	}
	return out
}

// Processes converts all. The result is never nil.
func Processes(all []registry.Status) []wire.Process {
	return each.Of(all, Process)
}

// Names returns the GPID of each process, for people. If several have the same GPID, their
// member key follows it.
func Names(all []registry.Status) []string {
	times := map[gpid.GPID]int{}
	for _, s := range all {
		times[s.GPID]++
	}
	return each.Of(all, func(s registry.Status) string {
		if times[s.GPID] > 1 {
			return fmt.Sprintf("%v (member %s)", s.GPID, s.Key())
		}
		return s.GPID.String()
	})
}

// GPIDs returns the texts of all. The result is never nil.
func GPIDs(all []gpid.GPID) []string { return each.Of(all, gpid.GPID.String) }

// Sample converts a load sample of a member. before is the previous sample of the member,
// from which the processors in use are computed. before may be nil, and member may be empty.
func Sample(member registry.MemberKey, before *registry.Sample, s registry.Sample) wire.Sample {
	return wire.Sample{Member: string(member), Time: s.Time, Load: Load(s.Load), Processors: measured(registry.CPUUsed(before, &s))}
}

// Trace converts t.
func Trace(t registry.Trace) wire.Trace {
	out := wire.Trace{
		TimedID: pure.TimedID(t.ID), Verdict: string(t.Verdict), Reason: t.Reason, Certain: t.Certain,
		Processes: Processes(t.Processes), Processors: measured(t.CPU),
	}
	if t.Adopted != nil {
		out.Adopted = new(claim(*t.Adopted))
	}
	if t.Classic != nil {
		out.Classic = new(wire.Classic(*t.Classic))
	}
	if d := t.Deploy; d != nil {
		out.Deploy = &wire.Deploy{Service: d.Service, Version: d.Version, Time: d.Time, Since: d.Since, First: d.First, Again: d.Again, Text: deployText(d, t.ID.Time())}
	}
	if t.Before != nil {
		out.Before = new(Sample("", nil, *t.Before))
	}
	if t.After != nil {
		out.After = new(Sample("", nil, *t.After))
	}
	return out
}

// deployText says since when a version is there. at is the creation time of the id.
func deployText(d *registry.Deploy, at time.Time) string {
	when := humanize.RelTime(d.Time.Truncate(time.Second), at, "before this id", "after this id")
	when = strings.Replace(when, "now", "in the second of this id", 1)
	switch {
	case d.Time.IsZero():
		return d.Version + "; since when cannot be told: earlier records were pruned or not read"
	case d.Again:
		return d.Version + ", deployed again " + when
	case !d.Since.IsZero():
		when += ", in records since " + d.Since.Format(time.RFC3339)
	}
	return d.Version + ", first seen " + when
}

// Load converts l. Values that were not measured become nil.
func Load(l registry.Load) wire.Load {
	return wire.Load{
		CPUSeconds: measured(l.CPU.Seconds()), MemoryBytes: measured(l.RSS), HeapBytes: measured(l.Heap),
		Files: measured(l.Files), Threads: measured(l.Threads), Goroutines: measured(l.Goroutines),
	}
}

// measured returns a pointer to n. It returns nil if n is negative, such as
// registry.Unmeasured.
func measured[N int64 | float64](n N) *N {
	if n < 0 {
		return nil
	}
	return &n
}

// FromLoad converts l. Values that are nil become registry.Unmeasured.
func FromLoad(l wire.Load) registry.Load {
	none := int64(registry.Unmeasured)
	count := func(n *int64) int64 { return *cmp.Or(n, &none) }
	var out registry.Load
	for _, f := range registry.LoadFields() {
		*f.Of(&out) = none
	}
	out.RSS, out.Heap = count(l.MemoryBytes), count(l.HeapBytes)
	out.Files, out.Threads, out.Goroutines = count(l.Files), count(l.Threads), count(l.Goroutines)
	if l.CPUSeconds != nil {
		out.CPU = time.Duration(*l.CPUSeconds * float64(time.Second))
	}
	return out
}

// LoadTexts returns the values of l for people, such as "memory 11 MiB" and "13 files". It
// leaves out processor time, and values that were not measured.
func LoadTexts(l registry.Load) (out []string) {
	for _, f := range registry.LoadFields() {
		switch n := *f.Of(&l); {
		case n < 0 || f.Unit == registry.Nanoseconds:
		case f.Unit == registry.Bytes:
			out = append(out, f.Title+" "+humanize.IBytes(uint64(n)))
		default:
			out = append(out, phrase.Count(n, strings.TrimSuffix(f.Title, "s"), f.Title))
		}
	}
	return out
}

// Lock converts s.
func Lock(s lock.Status) wire.Lock {
	out := wire.Lock{Name: s.Name}
	if !s.Held {
		return out
	}
	if s.Owner.IsZero() {
		out.Holder = &wire.Holder{}
		return out
	}
	out.Holder = &wire.Holder{
		GPID: s.Owner.Process.String(), Lease: s.Owner.ID, Fence: s.Fence, Since: s.Since,
		Host: s.Holder.Host, PID: s.Owner.Process.PID(), Command: s.Holder.Command, State: string(s.Holder.State),
	}
	if s.TTL > 0 {
		out.Holder.TTLSeconds = new(s.TTL.Seconds())
	}
	if s.TTL != 0 { // otherwise the kernel holds the lock, and does not tell how many wait
		out.Waiters = &s.Waiters
	}
	return out
}

// Locks converts all. The result is never nil.
func Locks(all []lock.Status) []wire.Lock { return each.Of(all, Lock) }

// LockStatus converts s, the slots that [lock.HeldSlots] returns, and the runs that
// [lock.Runs] returns.
func LockStatus(s lock.Status, slots []lock.Status, runs []lock.Run) wire.LockStatus {
	out := wire.LockStatus{Lock: Lock(s), Slots: Locks(slots)}
	for _, r := range runs {
		x := wire.Run{
			Tick: r.Tick.Time, Key: r.Tick.Key, Outcome: string(r.Outcome), Attempt: r.Attempt, Host: r.Host,
			Fence: r.Fence, Start: r.Start, End: r.End, ExitCode: r.ExitCode,
		}
		if !r.Owner.IsZero() {
			x.GPID, x.Lease = r.Owner.Process.String(), r.Owner.ID
		}
		out.Runs = append(out.Runs, x)
	}
	return out
}
