package registry

import (
	"fmt"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
)

// Process is what is recorded of a process. Times are by the clock of its own
// host, in whole milliseconds.
type Process struct {
	// GPID is the identity of this run of the process.
	GPID gpid.GPID `bson:"gpid" json:"gpid"`
	// Value is the process value in hexadecimal: the 8 digits of its process
	// block, or for an adopted process 10 digits, with the Java layout 8.
	Value string `bson:"value" json:"value"`
	// Block is the 8 digits of the claimed process block. It differs from Value
	// if the process was adopted; no ids are then created with it.
	Block string `bson:"block" json:"block"`
	// Member is unique to this registration: a process may register more than
	// once.
	Member objectid.ID `bson:"member" json:"member"`

	Name       string            `bson:"name,omitempty" json:"name,omitempty"`
	Host       string            `bson:"host,omitempty" json:"host,omitempty"`
	Executable string            `bson:"executable,omitempty" json:"executable,omitempty"`
	Version    string            `bson:"version,omitempty" json:"version,omitempty"`
	Labels     map[string]string `bson:"labels,omitempty" json:"labels,omitempty"`

	// Kernel is the kernel's identification of the process, zero if not known.
	Kernel gpid.Process `bson:"kernel" json:"kernel,omitzero"`
	// Program distinguishes the programs that a process of the kernel runs one after
	// the other with exec, see [gpid.Process.Program], or is 0 if it is not known.
	Program uint32 `bson:"program,omitempty" json:"-"`
	// Network is the number of its network namespace, or 0.
	Network uint64 `bson:"network,omitempty" json:"network,omitempty"`
	// Sample is the id by which the process was adopted, otherwise zero.
	Sample objectid.ID `bson:"sample,omitempty" json:"sample,omitzero"`

	// Remote is set for a process whose heartbeats are passed to
	// [Registry.Heartbeat].
	Remote bool `bson:"enrolled,omitempty" json:"remote,omitempty"`

	// From is the earliest creation time of its ids.
	From time.Time `bson:"from" json:"from"`
	// Confirmed is the time from which the registration is confirmed: since then
	// every other process with the same value is recorded, too.
	Confirmed time.Time `bson:"certain" json:"confirmed"`
	// Interval is the time between two heartbeats.
	Interval time.Duration `bson:"interval" json:"interval_ns"`
	// Registered is the time of the registration by the clock of
	// [Heartbeat.Monotonic].
	Registered time.Duration `bson:"joined,omitempty" json:"-"`
	// Copied is zero, or a time before which this process was the only one with its
	// value: then a copy of it was made, and each of the copies created ids with it.
	Copied time.Time `bson:"copied,omitempty" json:"-"`
	// Clock bounds the difference between the clock that the ids of a remote
	// process are created by and that of the other times here, or is nil if it is
	// not known. For other processes it is nil, because both are the same clock.
	Clock *ClockOffset `bson:"clock,omitempty" json:"-"`
	// Last is the latest heartbeat.
	Last Heartbeat `bson:"last" json:"last"`
	// Recent are the latest samples of a process that has not ended, in order of
	// time: at most six.
	Recent []Sample `bson:"-" json:"-"`
	// End is the recorded end, or nil.
	End *End `bson:"end,omitempty" json:"end,omitempty"`
}

// Heartbeat is the periodic sign of life of a process.
type Heartbeat struct {
	// Count increases by one with every heartbeat.
	Count int64 `bson:"count" json:"count"`
	// Time is by the wall clock of the process's host; it never decreases.
	Time time.Time `bson:"time" json:"time"`
	// Monotonic is the time since the boot of the process's host, which a clock
	// step does not change, or 0 if not known.
	Monotonic time.Duration `bson:"monotonic,omitempty" json:"-"`
	// Load of the process at that time.
	Load Load `bson:"load" json:"load"`
}

// ClockOffset is by how much a clock was ahead, at least and at most, whenever it
// was compared. It is negative for a clock that was behind.
type ClockOffset struct {
	Min time.Duration `bson:"min"`
	Max time.Duration `bson:"max"`
}

// with returns what is known after another comparison. A zero clock is none.
func (o *ClockOffset) with(clock, now time.Time) *ClockOffset {
	if clock.IsZero() {
		return o
	}
	const most = 200 * 365 * 24 * time.Hour // leaves room for sums
	ahead := min(max(clock.Sub(now), -most), most)
	if o == nil {
		return &ClockOffset{ahead, ahead}
	}
	return &ClockOffset{min(o.Min, ahead), max(o.Max, ahead)}
}

const (
	// latency is how long a remote process's reading of its clock is under way at
	// most, as a rule.
	latency = time.Second

	// unknownOffset is by how much the clock of a remote process may be off if it
	// never said what it shows.
	unknownOffset = time.Minute
)

// slack returns by how much the creation times of the ids of p may be too early
// and too late.
func (p *Process) slack() (early, late time.Duration) {
	switch {
	case !p.Remote:
		return 0, 0
	case p.Clock == nil:
		return unknownOffset, unknownOffset
	}
	return max(0, -p.Clock.Min), max(0, p.Clock.Max+latency)
}

// End is an end that the process recorded, or that was recorded for it.
type End struct {
	Time   time.Time `bson:"time" json:"time"`
	Reason string    `bson:"reason" json:"reason"`
}

// adopted reports whether p was recorded by a sample id.
func (p *Process) adopted() bool { return !p.Sample.IsZero() }

// sameMaker reports whether p and q are one process that was adopted twice. Two
// members of one process that registered have a generator each.
func (p *Process) sameMaker(q *Process) bool { return p.adopted() && q.adopted() && p.sameRun(q) }

// sameRun reports whether p and q are known to be the same run of one process.
func (p *Process) sameRun(q *Process) bool {
	return p.GPID == q.GPID || p.Kernel != gpid.Process{} && p.Kernel == q.Kernel && !p.otherProgram(q.Program)
}

// otherProgram reports whether a program of the same process of the kernel is known
// to be another one than p: there was an exec between them.
func (p *Process) otherProgram(program uint32) bool {
	return p.Program != 0 && program != 0 && p.Program != program
}

// adopt sets the value of p to that of sample. The error wraps [ErrSample] if a
// process that started at the given time, with the clock of p, cannot have created
// it by now.
func (p *Process) adopt(sample objectid.ID, layout objectid.Layout, started, now time.Time) error {
	const tolerance = time.Minute // between the clocks of the id and of the caller
	created := sample.Time()
	early, late := p.slack()
	switch {
	case sample.IsZero():
		return fmt.Errorf("%w: it is the zero id", ErrSample)
	case created.After(now.Add(max(tolerance, late))):
		return fmt.Errorf("%w: %v was created at %s, which is in the future", ErrSample, sample, created.Format(time.RFC3339))
	case created.Before(started.Add(-early).Truncate(time.Second)):
		return fmt.Errorf("%w: %v was created at %s and the process started at %s", ErrSample,
			sample, created.Format(time.RFC3339), started.Format(time.RFC3339))
	}
	p.Sample, p.From = sample, started.UTC().Truncate(time.Millisecond)
	if p.Value = valueOf(sample); layout == objectid.Java {
		p.Value = blockOf(sample)
	}
	return nil
}
