package registry

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
)

// Process describes a recorded process. Times are in whole milliseconds, by the clock of
// the process's host, or for a remote process by the clock of the Registry that records its
// heartbeats.
type Process struct {
	// GPID identifies the run of the program.
	GPID gpid.GPID `bson:"gpid"`
	// Value is the process value in hexadecimal: the 8 digits of the process block, or
	// for an adopted process the value of EvidenceID, see [Adopted].
	Value string `bson:"value"`
	// Block is the claimed process block, 8 hexadecimal digits. An adopted process creates
	// no ids with its block.
	Block string `bson:"block"`
	// Member is a random id of this registration. A process may register more than once.
	Member objectid.ID `bson:"member"`

	Name       string            `bson:"name,omitempty"`
	Host       string            `bson:"host,omitempty"`
	Executable string            `bson:"executable,omitempty"`
	Version    string            `bson:"version,omitempty"`
	Labels     map[string]string `bson:"labels,omitempty"`

	// Kernel identifies the process to the kernel of its host. It is zero if not known.
	Kernel gpid.Process `bson:"kernel"`
	// Program distinguishes the programs that a process runs one after the other with exec,
	// see [gpid.Process.Program]. It is 0 if not known.
	Program uint32 `bson:"program,omitempty"`
	// Network is the number of the process's network namespace. It is 0 if not known.
	Network uint64 `bson:"network,omitempty"`
	// EvidenceID is the first id by which the process was adopted. It is zero for a process
	// that registered.
	EvidenceID objectid.ID `bson:"evidence_id,omitempty"`
	// Adopted lists all adopted process values, such as one for each client of a driver. A
	// process that registered may have some in addition to its block.
	Adopted []Adopted `bson:"adopted,omitempty"`

	// Remote is set if another program passes the heartbeats to [Registry.Heartbeat].
	Remote bool `bson:"remote,omitempty"`

	// From is the earliest creation time that ids of the process can have.
	From time.Time `bson:"from"`
	// Confirmed is when the registration was stored. Traces of ids that were created
	// earlier are not certain.
	Confirmed time.Time `bson:"confirmed"`
	// Interval is the time between two heartbeats.
	Interval time.Duration `bson:"interval"`
	// Registered is when the process registered, as the time since the boot of its host. It
	// is 0 if not known.
	Registered time.Duration `bson:"registered,omitempty"`
	// Copied is zero unless the process was copied. The copy was made after this time;
	// since then both copies may have created ids with the process value.
	Copied time.Time `bson:"copied,omitempty"`
	// Gone is when the kernel of the process's host showed that the process no longer ran.
	// The process has created no ids with a later creation time. Gone is zero if no kernel
	// has shown that.
	Gone time.Time `bson:"gone,omitempty"`
	// Clock is by how much the clock of a remote process is ahead of the clock of the
	// Registry that records its heartbeats; negative values mean that it is behind. Clock is
	// nil if that is not known, and for a process that is not remote.
	Clock *ClockOffset `bson:"clock,omitempty"`
	// Last is the latest heartbeat.
	Last Heartbeat `bson:"last"`
	// Recent are the latest samples, at most six, oldest first. A process that has ended has
	// none.
	Recent []Sample `bson:"-"`
	// End is the recorded end, or nil.
	End *End `bson:"end,omitempty"`
	// StartUnknown means that the start time in GPID is only the latest time at which the
	// process may have started.
	StartUnknown bool `bson:"start_unknown,omitempty"`

	// moved is set if the process was read from a record without a living record.
	moved bool
}

// Heartbeat is the periodic sign of life of a process.
type Heartbeat struct {
	// Count is 1 for the first heartbeat and increases by one with each.
	Count int64 `bson:"count"`
	// Time is when the process sent the heartbeat, by the clock of its host, or for a remote
	// process by the clock of the Registry that recorded it. Time never decreases.
	Time time.Time `bson:"time"`
	// Monotonic is the time since the boot of the process's host, or 0 if not known. Clock
	// steps do not change it.
	Monotonic time.Duration `bson:"monotonic,omitempty"`
	// Load of the process at that time.
	Load Load `bson:"load"`
}

// ClockOffset is by how much a clock was ahead of the reference clock that [Process].Clock
// names, at the least (Min) and at the most (Max). Negative values mean that the clock was
// behind.
type ClockOffset struct {
	Min time.Duration `bson:"min"`
	Max time.Duration `bson:"max"`
}

// String returns the offset rounded to a millisecond, such as "2s behind" or "1.5s to 2s
// ahead", or "right" for zero.
func (o ClockOffset) String() string {
	low, high, side := o.Min.Round(time.Millisecond), o.Max.Round(time.Millisecond), "ahead"
	switch {
	case low == 0 && high == 0:
		return "right"
	case low < 0 && high > 0:
		return fmt.Sprintf("%v behind to %v ahead", -low, high)
	case low < 0:
		low, high, side = -high, -low, "behind"
	}
	if low == high {
		return fmt.Sprintf("%v %s", low, side)
	}
	return fmt.Sprintf("%v to %v %s", low, high, side)
}

// with returns the offset widened by another comparison, in which the clock showed one time
// while it was another one. It returns o if the shown time is zero. o may be nil.
func (o *ClockOffset) with(shown, now time.Time) *ClockOffset {
	if shown.IsZero() {
		return o
	}
	const most = 200 * 365 * 24 * time.Hour // leaves room for sums
	ahead := min(max(shown.Sub(now), -most), most)
	if o == nil {
		return &ClockOffset{ahead, ahead}
	}
	return &ClockOffset{min(o.Min, ahead), max(o.Max, ahead)}
}

const (
	// latency bounds how long the clock reading of a remote process is usually under way.
	latency = time.Second

	// unknownOffset is the assumed error of the clock of a remote process that never sent
	// its clock's time.
	unknownOffset = time.Minute
)

// slack returns by how much the creation times of p's ids may be too early and too late.
func (p *Process) slack() (early, late time.Duration) {
	switch {
	case !p.Remote:
		return 0, 0
	case p.Clock == nil:
		return unknownOffset, unknownOffset
	}
	return max(0, -p.Clock.Min), max(0, p.Clock.Max+latency)
}

// End is the recorded end of a process. Reason is a text for human readers.
type End struct {
	Time   time.Time `bson:"time"`
	Reason string    `bson:"reason"`
}

// sameRun reports whether p and q are known to be the same run of one process. Kernel
// decides if it is known for both. A GPID alone is not enough for remote processes, because
// anybody can send any GPID.
func (p *Process) sameRun(q *Process) bool {
	if zero := (gpid.Process{}); p.Kernel != zero && q.Kernel != zero {
		return p.Kernel == q.Kernel && !p.otherProgram(q.Program)
	}
	return p.GPID == q.GPID && (p.Block == q.Block || !p.Remote && !q.Remote)
}

// otherProgram reports whether program is known to differ from that of p: one of them has
// replaced the other with exec.
func (p *Process) otherProgram(program uint32) bool {
	return p.Program != 0 && program != 0 && p.Program != program
}

// started returns when p started, by the clock of its host.
func (p *Process) started() time.Time {
	if started, err := p.Kernel.Started(); err == nil {
		return started
	}
	return p.GPID.Start()
}

// Adopted is a process value that a process is said to use. EvidenceID is an id with this
// value that the process is said to have created.
type Adopted struct {
	// Value is the process value in hexadecimal: 10 digits, or 8 in the Java layout.
	Value      string      `bson:"value"`
	EvidenceID objectid.ID `bson:"evidence_id"`
	// Evidence is how strongly the evidence id points to the process.
	Evidence Evidence `bson:"evidence,omitempty"`
	// From is the earliest creation time of ids with the value: when the process started.
	From time.Time `bson:"from"`
	// Confirmed is when the registry first recorded that the process uses the value.
	Confirmed time.Time `bson:"confirmed,omitempty"`
}

// Evidence is how strongly an evidence id points to the process that is said to have
// created it.
type Evidence string

const (
	// ByTime means that the process ran when the id was created. Nothing in the id names
	// the process.
	ByTime Evidence = "time"
	// ByPID means that the id has the classic layout and contains the pid of the process.
	ByPID Evidence = "pid"
	// ByHostAndPID means that the id contains the MD5 of the host's name and the pid of the
	// process.
	ByHostAndPID Evidence = "host-and-pid"
)

// Evidences returns all kinds of evidence, the weakest first.
func Evidences() []Evidence { return []Evidence{ByTime, ByPID, ByHostAndPID} }

// missed is the number of missing heartbeats after which a process is presumed dead.
const missed = 3

// patience is how long p may send no heartbeat until it is presumed dead.
func (p *Process) patience() time.Duration { return missed * p.Interval }

// MemberKey identifies one registration, and is never used for another. It is 16
// hexadecimal digits: the process block and the last four bytes of [Process].Member.
type MemberKey string

// valid reports whether k is 16 hexadecimal digits in lower case.
func (k MemberKey) valid() bool {
	return len(k) == 16 && strings.Trim(string(k), "0123456789abcdef") == ""
}

// Key returns the key of the registration, or "" if p has not claimed a block yet.
func (p *Process) Key() MemberKey {
	if p.Block == "" {
		return ""
	}
	return MemberKey(livingKey(p.Block, p.Member))
}

// livingKey returns the key of a living record. If two members have the same block, because
// a claim was lost, each has its own living record.
func livingKey(block string, member objectid.ID) string {
	return block + hex.EncodeToString(member[8:])
}

// adopted reports whether p was recorded by an evidence id and creates no ids with its
// block.
func (p *Process) adopted() bool { return !p.EvidenceID.IsZero() }

// adoptedValues returns the values of p that other processes may have, too: adopted values,
// or a block that p drew offline and that turned out to belong to another process.
func (p *Process) adoptedValues() []Adopted {
	if len(p.Adopted) > 0 || p.Value == p.Block || p.Value == "" {
		return p.Adopted
	}
	return []Adopted{{Value: p.Value, EvidenceID: p.EvidenceID, From: p.From, Confirmed: p.Confirmed}}
}

// InstanceID returns the process's value of OpenTelemetry's attribute service.instance.id. A
// label of this name wins. Otherwise a process that registered itself has the id that
// [gpid.GPID.InstanceID] makes of its GPID, and an adopted process has none: the result is "".
func (p *Process) InstanceID() string {
	if id := p.Labels["service.instance.id"]; id != "" || p.adopted() {
		return id
	}
	return p.GPID.InstanceID()
}

// Attribute returns what p says of itself under the name of an attribute of OpenTelemetry: its
// label of this name or, without one, the field that means the same. These are Name for
// service.name, Version for service.version, Host for host.name, and the result of
// [Process.InstanceID] for service.instance.id. ok reports whether anything is known; only a
// label can be known and empty.
func (p *Process) Attribute(name string) (value string, ok bool) {
	if value, ok = p.Labels[name]; !ok {
		fields := map[string]string{"service.name": p.Name, "service.version": p.Version, "host.name": p.Host, "service.instance.id": p.InstanceID()}
		value = fields[name]
	}
	return value, ok || value != ""
}

// values returns the process values of p, each once.
func (p *Process) values() []string {
	var values []string
	if !p.adopted() && p.Value != "" {
		values = append(values, p.Value)
	}
	for _, a := range p.adoptedValues() {
		if !slices.Contains(values, a.Value) {
			values = append(values, a.Value)
		}
	}
	return values
}

// claimedValues returns the values that p must have claimed: its process values and the
// block under which it is recorded.
func (p *Process) claimedValues() []string {
	values := p.values()
	if p.Block != "" {
		values = append(values, p.Block)
	}
	return values
}

// addAdopted adds the adopted values that p does not have yet.
func (p *Process) addAdopted(more []Adopted) {
	list := slices.Clone(p.Adopted) // other copies of p have the same one
	for _, a := range more {
		if !slices.ContainsFunc(list, func(b Adopted) bool { return b.Value == a.Value }) {
			list = append(list, a)
		}
	}
	p.Adopted = list
}

// sameProcess reports whether p and q are two records of one process, at least one of them
// by adoption. Two registrations of one process do not count: each has its own generator.
func (p *Process) sameProcess(q *Process) bool {
	claims := p.adopted() || q.adopted() || len(p.Adopted) > 0 || len(q.Adopted) > 0
	return claims && p.sameRun(q)
}

// randomID returns an id that differs between copies of a process. [objectid.New] does not:
// each copy continues with the same counter.
func randomID() objectid.ID {
	id := objectid.MinAt(time.Now())
	rand.Read(id[4:])
	return id
}
