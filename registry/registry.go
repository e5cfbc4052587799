// Package registry records processes and finds which process created an id, and
// the load of that process at the time.
//
// A program registers once, generates its ids with the generator of the member, and
// ends:
//
//	r := registry.New(s, nil) // s is a store.Store
//	m, err := r.Register(ctx, &registry.RegisterOptions{Name: "shop", Addr: "10.0.0.7:8080"})
//	...
//	defer m.End(ctx, "shut down")
//	id := m.Generator().New()
//
// From then on [Registry.Trace] returns, for each of these ids, the process that
// created it: its identity (package gpid), host, program, start and end, and its
// load at the creation time. A process that creates its ids with another driver, in
// any language, is adopted by some of its ids with [Registry.Adopt]. A server records
// the processes of its clients with [Registry.RegisterRemote] and
// [Registry.AdoptRemote].
//
// A GPID is a name for people: two containers may have processes with one GPID. A
// [MemberKey] names one registration; heartbeats, ends and samples go to it.
//
// # What is promised
//
// Two members never have the same process block, and a block is never given to a
// second member: a block is claimed by inserting it under a unique key, for ever.
// Therefore two members never create the same id, even if they register at the same
// moment or one of them loses its connection to the store. The exception is a member that
// registered without the store, see [RegisterOptions.Offline]: it draws its block at
// random; a collision is then not prevented but reported.
//
// Trace returns Known and certain only if exactly one process had the process value
// at the creation time, its registration was confirmed then, and it ran: its end or a
// later heartbeat was stored, or it is alive. It returns Conflict only if it is proven
// that the process did not have the value then. Otherwise it returns Unknown or Collision, or Known
// with the reason why it is not certain, or Claimed for an adopted process: nothing
// proves that a process created the evidence ids by which it was adopted. The last heartbeat of a process remains after
// the process was killed. A store that cannot be reached does not stop a member: it continues to generate
// ids, keeps its samples, and stores them when it can.
//
// Whether a process of the same boot is alive is decided by the kernel or by the
// monotonic clock. A clock step makes no process dead.
//
// # What is not promised
//
// A program that draws its process value at random, without registering, may draw
// that of a member: the chance is that of any other collision, see "oid odds". Its
// ids are then traced to the wrong process.
//
// Copying a running virtual machine copies its members: both copies then create ids
// with the same blocks until their next heartbeats, which detect the copy. Each then
// claims another block, see [ErrCopied]; from then on, and not before, traces of ids
// created in between are not certain. A program that keeps a generator must ask
// [Member.Generator] again. A store that was restored from a backup is not taken for a
// copy: it has fewer heartbeats than the member has stored.
//
// Hosts have no clock in common. A process of another host whose heartbeats stopped
// is late until this Registry has itself missed three heartbeats in a row; then it is
// presumed dead.
//
// # Design
//
// A store finds documents by _id alone, so every question is a range of keys:
//
//	oid.processes  ip:port:start_time:pid/block  the record of a process
//	oid.living     block and member              what its heartbeats change
//	oid.ended      time:record                   that it ended or crashed, by time
//	oid.values     block                         the claim of a block, for ever
//	               value:time:block              the claim of an adopted value
//	oid.samples    block:time                    load, many samples in each
//	oid.hosts      host and pid:record           how a driver of the classic layout writes them
//	oid.registry   registry                      how far the registry is in order
//
// A block is 8 hexadecimal digits, an adopted value 8 or 10, a time 13 digits of
// milliseconds. The states of processes are not stored; they follow from what is
// stored, so two processes disagree about them for one heartbeat at most. The field v
// of each document is the version of its format.
//
// A heartbeat is one conditional write of the living record, of less than 200 bytes,
// which holds the latest six samples. When those are new, they become one document,
// and once an hour those of an hour one; after a day one sample a minute is kept. The
// heartbeats of a process come at a part of the interval that its block determines,
// so that those of many processes follow one another in the order of keys, and the
// writes of the members of one Registry that come at once are one call of the store.
// [Registry.Sweep] and [Registry.Prune] keep the collections in order; "oid serve"
// calls both. docs/scale.md has the costs.
//
// The times of a process follow the wall clock of its host but never decrease, like
// the creation times of its ids.
package registry

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// Registry is the registry in one store: it records processes and traces ids to
// them. Keep one for a long time: it learns by watching which late processes of
// other hosts are dead, and its members use the same knowledge. Any number of
// goroutines may share it.
type Registry struct {
	store       *batches
	outages     *outages // of the store
	options     Options
	here        here
	random      io.Reader     // blocks are drawn from it
	keepSamples time.Duration // see keepSamples
	pruneAtOnce int           // see pruneAtOnce
	pruneBatch  int           // see pruneBatch
	maxRead     int           // see maxRead

	memory memory
}

// New returns the registry in s, which it uses as [store.Linearizable] returns it. A
// nil o stands for the zero Options.
func New(s store.Store, o *Options) *Registry {
	watched := &outages{Store: store.Linearizable(s)}
	r := &Registry{
		store: newBatches(watched), outages: watched, options: *cmp.Or(o, &Options{}), here: thisHost(), random: rand.Reader,
		keepSamples: keepSamples, pruneAtOnce: pruneAtOnce, pruneBatch: pruneBatch, maxRead: maxRead,
		memory: memory{watched: map[objectid.ID]watch{}, remotes: map[MemberKey]remembered{}},
	}
	r.options.Log = cmp.Or(r.options.Log, slog.Default())
	return r
}

// Options configure a [Registry]. The zero value, like a nil pointer, is ready to
// use.
type Options struct {
	// OneHost means that only this host can reach the store, such as a file. A
	// process of another boot is then known to be dead.
	OneHost bool

	// Log receives one message when the heartbeat of a member fails and one when
	// it works again. Default: slog.Default().
	Log *slog.Logger

	// Now is the wall clock, for states, heartbeats and generators. It is called
	// by several goroutines at once. Default: the system clock.
	Now func() time.Time
}

// RegisterOptions describe a process for [Registry.Register]. The zero value, like
// a nil pointer, is ready to use.
type RegisterOptions struct {
	// Addr is the ip:port that peers dial, read as by [gpid.Self]. Default: the
	// address of this host and port 0, for a process that does not listen.
	Addr string

	// Name of the service, for people. Default: the name of the executable.
	Name string
	// Version of the program. Default: the version in the build information.
	Version string
	// Labels are up to 50 words about the process, such as team=orders: names of up to 100
	// bytes with values of up to 200, of printable characters.
	Labels map[string]string

	// Interval between two heartbeats, at least 100ms. Default: 10s.
	Interval time.Duration

	// Offline lets the call succeed although the store cannot be reached. The
	// member then has a random block and registers it as soon as it can; until
	// then it is not known whether another process has the same block. For a store that
	// cannot even be opened, see [store.OpenLater].
	Offline bool
}

// AdoptOptions describe a process for [Registry.Adopt] and [Describe]. The zero value, like
// a nil pointer, is ready to use and describes this process.
type AdoptOptions struct {
	RegisterOptions

	// PID of the process. Default: this process.
	PID int
	// Layout of the process's ids. With [objectid.Java] their process value is the first
	// four bytes after the time, otherwise the first five.
	Layout objectid.Layout
}

// RemoteOptions describe a process for [Registry.RegisterRemote] and
// [Registry.AdoptRemote]. The zero value, like a nil pointer, is ready to use.
type RemoteOptions struct {
	// Name of the service, for people.
	Name string
	// Host is the name of its host. Default: not known.
	Host string
	// Version of the program.
	Version string
	// Labels are up to 50 words about the process, such as team=orders: names of up to 100
	// bytes with values of up to 200, of printable characters.
	Labels map[string]string
	// Interval between two heartbeats, at least 100ms. Default: 10s.
	Interval time.Duration

	// Kernel, Program and Executable are those of [Describe], if the caller is on the
	// host of the process. Default: not known.
	Kernel     gpid.Process
	Program    uint32
	Executable string

	// Clock is the time by the clock of the process when it sent this. Default:
	// not known.
	Clock time.Time
	// Age is how long ago the heartbeats of an adopted process begin, for one that the
	// caller has kept while the store was away. It is confirmed from the call on.
	Age time.Duration

	// Key makes the call repeatable: of all calls with one key, also by other
	// Registries and at once, the first records the process, and the others return it.
	// It is random, so that no one else has it. Default: each call records a process.
	Key string
	// StartUnknown means that the start time of the GPID is that of the call, so that
	// another call with the same key may have another.
	StartUnknown bool
}

// Bounds of the interval between two heartbeats. The lower one keeps a mistyped
// interval from flooding the store.
const (
	MinInterval = 100 * time.Millisecond
	MaxInterval = keepSamples
)

const (
	defaultInterval = 10 * time.Second

	// keepSamples is for how long a process keeps its own samples in the store, and
	// keepAll for how long all of them.
	keepSamples = 7 * 24 * time.Hour
	keepAll     = 24 * time.Hour
)

// checkInterval returns the interval to use for one that was given.
func checkInterval(given time.Duration) (time.Duration, error) {
	switch {
	case given == 0:
		return defaultInterval, nil
	case given < MinInterval || given > MaxInterval:
		return 0, fmt.Errorf("registry: interval %v, want %v to %v", given, MinInterval, MaxInterval)
	}
	return given, nil
}
