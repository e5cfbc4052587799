package registry

import (
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
)

// Process is what a member recorded about itself, or about the process that it
// adopted. Times are those of the member's own host, in whole milliseconds.
type Process struct {
	Key string `bson:"_id" json:"-"`

	// GPID is the identity of this run of the process.
	GPID gpid.GPID `bson:"gpid" json:"gpid"`
	// Value is the process bytes of its ids in hexadecimal: 8 digits if all 256
	// values that begin with them are its own, otherwise 10.
	Value string `bson:"value" json:"value"`
	// Block is the 8 digits that it claimed. It differs from Value if the
	// process was adopted; no ids are then made with it.
	Block string `bson:"block" json:"block"`
	// Member is unique to this membership.
	Member objectid.ID `bson:"member" json:"member"`

	Name       string            `bson:"name,omitempty" json:"name,omitempty"`
	Host       string            `bson:"host,omitempty" json:"host,omitempty"`
	Executable string            `bson:"executable,omitempty" json:"executable,omitempty"`
	Version    string            `bson:"version,omitempty" json:"version,omitempty"`
	Labels     map[string]string `bson:"labels,omitempty" json:"labels,omitempty"`

	// Kernel is what the kernel knows the process by, zero if that is not known.
	Kernel gpid.Process `bson:"kernel" json:"kernel,omitzero"`
	// Network is the number of its network namespace, or 0.
	Network uint64 `bson:"network,omitempty" json:"network,omitempty"`
	// Sample is the id that an adopted process showed, otherwise zero.
	Sample objectid.ID `bson:"sample,omitempty" json:"sample,omitzero"`

	// Enrolled is set if somebody else tells of it, see [Registry.Enroll].
	Enrolled bool `bson:"enrolled,omitempty" json:"enrolled,omitempty"`

	// From is the earliest time of its ids.
	From time.Time `bson:"from" json:"from"`
	// Certain is when the registry had its word: from then on no other member
	// could hold the same value unseen.
	Certain time.Time `bson:"certain" json:"certain"`
	// Interval is the time between two heartbeats.
	Interval time.Duration `bson:"interval" json:"interval_ns"`
	// Joined is the reading of the clock that [Beat.Monotonic] is of, when the
	// member joined.
	Joined time.Duration `bson:"joined,omitempty" json:"-"`
	// Last is the latest heartbeat.
	Last Beat `bson:"last" json:"last"`
	// End is how it ended, or nil if it never said.
	End *End `bson:"end,omitempty" json:"end,omitempty"`
}

// Beat is a heartbeat.
type Beat struct {
	// Count rises by one with every heartbeat.
	Count int64 `bson:"count" json:"count"`
	// Time is by the wall clock of the member's host; it never goes back.
	Time time.Time `bson:"time" json:"time"`
	// Monotonic is the clock of the member's boot that nobody can set, or 0 where
	// there is none.
	Monotonic time.Duration `bson:"monotonic,omitempty" json:"-"`
	// Load is the sample that was taken.
	Load Load `bson:"load" json:"load"`
}

// End is a clean end.
type End struct {
	Time   time.Time `bson:"time" json:"time"`
	Reason string    `bson:"reason" json:"reason"`
}

// missed is after how many intervals without a heartbeat a process is presumed
// dead.
const missed = 3

// patience is how long p may be without a heartbeat.
func (p *Process) patience() time.Duration { return missed * p.Interval }

// sameMaker reports whether p and q are one process that was adopted twice. Two
// members of one process that joined have a generator each.
func (p *Process) sameMaker(q *Process) bool {
	return !p.Sample.IsZero() && !q.Sample.IsZero() && p.sameRun(q)
}

// sameRun reports whether p and q are known to be the same run of one process.
func (p *Process) sameRun(q *Process) bool {
	return p.GPID == q.GPID || p.Kernel != gpid.Process{} && p.Kernel == q.Kernel
}

// holding is a document of the collection of values: who holds a block or a
// value.
type holding struct {
	Key     string      `bson:"_id"`
	Member  objectid.ID `bson:"member"`
	Process string      `bson:"process"`
	// Idle is set if no ids are made with the block.
	Idle bool `bson:"idle,omitempty"`
	// Pruned is what is left of the process after its record was pruned.
	Pruned *Process `bson:"pruned,omitempty"`
}
