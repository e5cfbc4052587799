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

// Process is what is recorded of a process. Times are by the clock of its own
// host, in whole milliseconds.
type Process struct {
	// GPID is the identity of this run of the process.
	GPID gpid.GPID `bson:"gpid"`
	// Value is the process value in hexadecimal: the 8 digits of its process
	// block, or for an adopted process 10 digits, with the Java layout 8. Adopted
	// lists further ones.
	Value string `bson:"value"`
	// Block is the 8 digits of the claimed process block. It differs from Value
	// if the process was adopted; no ids are then created with it.
	Block string `bson:"block"`
	// Member is unique to this registration: a process may register more than
	// once.
	Member objectid.ID `bson:"member"`

	Name       string            `bson:"name,omitempty"`
	Host       string            `bson:"host,omitempty"`
	Executable string            `bson:"executable,omitempty"`
	Version    string            `bson:"version,omitempty"`
	Labels     map[string]string `bson:"labels,omitempty"`

	// Kernel is the kernel's identification of the process, zero if not known.
	Kernel gpid.Process `bson:"kernel"`
	// Program distinguishes the programs that a process of the kernel runs one after
	// the other with exec, see [gpid.Process.Program], or is 0 if it is not known.
	Program uint32 `bson:"program,omitempty"`
	// Network is the number of its network namespace, or 0.
	Network uint64 `bson:"network,omitempty"`
	// EvidenceID is the id by which the process was adopted, otherwise zero.
	EvidenceID objectid.ID `bson:"evidence_id,omitempty"`
	// Adopted are all its adopted values. A process may have several: those of
	// several clients, or of a driver beside its own process block.
	Adopted []Adopted `bson:"adopted,omitempty"`

	// Remote is set for a process whose heartbeats are passed to
	// [Registry.Heartbeat].
	Remote bool `bson:"remote,omitempty"`

	// From is the earliest creation time of its ids.
	From time.Time `bson:"from"`
	// Confirmed is the time from which the registration is confirmed: since then
	// every other process with the same value is recorded, too.
	Confirmed time.Time `bson:"confirmed"`
	// Interval is the time between two heartbeats.
	Interval time.Duration `bson:"interval"`
	// Registered is the time of the registration by the clock of
	// [Heartbeat.Monotonic].
	Registered time.Duration `bson:"registered,omitempty"`
	// Copied is zero, or a time before which this process was the only one with its
	// value: then a copy of it was made, and each of the copies created ids with it.
	Copied time.Time `bson:"copied,omitempty"`
	// Gone is zero, or the creation time of ids from which the process has created
	// none, because the kernel of its host showed then that it was gone.
	Gone time.Time `bson:"gone,omitempty"`
	// Clock bounds the difference between the clock that the ids of a remote
	// process are created by and that of the other times here, or is nil if it is
	// not known. For other processes it is nil, because both are the same clock.
	Clock *ClockOffset `bson:"clock,omitempty"`
	// Last is the latest heartbeat.
	Last Heartbeat `bson:"last"`
	// Recent are the latest samples of a process that has not ended, in order of
	// time: at most six.
	Recent []Sample `bson:"-"`
	// End is the recorded end, or nil.
	End *End `bson:"end,omitempty"`

	// moved is set if the process was read from the record of one that is not living
	// any more, see [record].
	moved bool
}

// Heartbeat is the periodic sign of life of a process.
type Heartbeat struct {
	// Count increases by one with every heartbeat.
	Count int64 `bson:"count"`
	// Time is by the wall clock of the process's host; it never decreases.
	Time time.Time `bson:"time"`
	// Monotonic is the time since the boot of the process's host, which a clock
	// step does not change, or 0 if not known.
	Monotonic time.Duration `bson:"monotonic,omitempty"`
	// Load of the process at that time.
	Load Load `bson:"load"`
}

// ClockOffset is by how much a clock was ahead, at least and at most, whenever it
// was compared. It is negative for a clock that was behind.
type ClockOffset struct {
	Min time.Duration `bson:"min"`
	Max time.Duration `bson:"max"`
}

// String returns the offset as "2s behind" or "1.5s to 2s ahead", to the
// millisecond, or "right".
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

// with returns what is known after another comparison. A clock that shows the zero time is none.
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
	Time   time.Time `bson:"time"`
	Reason string    `bson:"reason"`
}

// sameRun reports whether p and q are known to be the same run of one process. The
// kernel decides where it is known. The GPID of a remote process is only what was said
// of it: another one may have the same.
func (p *Process) sameRun(q *Process) bool {
	if zero := (gpid.Process{}); p.Kernel != zero && q.Kernel != zero {
		return p.Kernel == q.Kernel && !p.otherProgram(q.Program)
	}
	return p.GPID == q.GPID && (p.Block == q.Block || !p.Remote && !q.Remote)
}

// otherProgram reports whether a program of the same process of the kernel is known
// to be another one than p: there was an exec between them.
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

// Adopted is a process value that a process is said to use, by an evidence id: an id that
// it is said to have created.
type Adopted struct {
	// Value is the process value in hexadecimal: 10 digits, with the Java layout 8.
	Value string `bson:"value"`
	// EvidenceID is the id.
	EvidenceID objectid.ID `bson:"evidence_id"`
	// Evidence is what the evidence id shows.
	Evidence Evidence `bson:"evidence,omitempty"`
	// From is the earliest creation time of the ids with the value: the start of the
	// process.
	From time.Time `bson:"from"`
	// Confirmed is the time of the adoption. Since then every other process with the
	// same value is recorded, too.
	Confirmed time.Time `bson:"confirmed,omitempty"`
}

// Evidence is what an evidence id shows of the process that is said to have created it.
type Evidence string

const (
	// ByTime: the process ran when the id was created. Nothing in the id
	// names the process.
	ByTime Evidence = "time"
	// ByPID: the id has the classic layout, and the pid of the process.
	ByPID Evidence = "pid"
	// ByHostAndPID: the id has the host's name, by its MD5, and the pid of the
	// process.
	ByHostAndPID Evidence = "host-and-pid"
)

// Evidences returns all evidence, the weakest first.
func Evidences() []Evidence { return []Evidence{ByTime, ByPID, ByHostAndPID} }

// missed is the number of intervals without a heartbeat after which a process is
// presumed dead.
const missed = 3

// patience is how long p may be without a heartbeat.
func (p *Process) patience() time.Duration { return missed * p.Interval }

// MemberKey names a registration for ever: the 8 hexadecimal digits of the process
// block that it has claimed, and those of the last 4 bytes of [Process.Member]. Two
// processes may have one GPID, such as those with pid 1 in containers that were
// started at once; they never have one MemberKey. It is the key of the living record.
type MemberKey string

// valid reports whether k is 16 hexadecimal digits in lower case.
func (k MemberKey) valid() bool {
	return len(k) == 16 && strings.Trim(string(k), "0123456789abcdef") == ""
}

// Key returns the key of the registration, or "" if it has claimed no block yet.
func (p *Process) Key() MemberKey {
	if p.Block == "" {
		return ""
	}
	return MemberKey(livingKey(p.Block, p.Member))
}

// livingKey is the key of a living record. The block comes first, and two members
// that have one block, after a claim was lost, have a record each.
func livingKey(block string, member objectid.ID) string {
	return block + hex.EncodeToString(member[8:])
}

// adopted reports whether p was recorded by an evidence id: no ids are created with its
// block.
func (p *Process) adopted() bool { return !p.EvidenceID.IsZero() }

// adoptedValues returns the values of p that others may have, too: the adopted ones, or
// the block that it drew offline and that belongs to another process.
func (p *Process) adoptedValues() []Adopted {
	if len(p.Adopted) > 0 || p.Value == p.Block || p.Value == "" {
		return p.Adopted
	}
	return []Adopted{{Value: p.Value, EvidenceID: p.EvidenceID, From: p.From, Confirmed: p.Confirmed}}
}

// values returns the process values of p.
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

// claimedValues returns the values that p has to have claimed: those that it uses, and its
// block, under which it is recorded.
func (p *Process) claimedValues() []string {
	values := p.values()
	if p.Block != "" {
		values = append(values, p.Block)
	}
	return values
}

// addAdopted adds those of the adopted values that p does not have.
func (p *Process) addAdopted(more []Adopted) {
	list := slices.Clone(p.Adopted) // other copies of p have the same one
	for _, a := range more {
		if !slices.ContainsFunc(list, func(b Adopted) bool { return b.Value == a.Value }) {
			list = append(list, a)
		}
	}
	p.Adopted = list
}

// sameProcess reports whether p and q are one process that was recorded twice, by a
// evidence id at least once. Two members of one process that registered have a generator
// each.
func (p *Process) sameProcess(q *Process) bool {
	claims := p.adopted() || q.adopted() || len(p.Adopted) > 0 || len(q.Adopted) > 0
	return claims && p.sameRun(q)
}

// randomID returns an id that differs in the copies of a process: [objectid.New]
// goes on with the same counter in each of them.
func randomID() objectid.ID {
	id := objectid.MinAt(time.Now())
	rand.Read(id[4:])
	return id
}
