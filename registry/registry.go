// Package registry records processes, and finds the process that created an ObjectId and
// the load of that process at the time.
//
// A program registers once, generates its ids with the generator of its [Member], and ends:
//
//	r := registry.New(s, nil) // s is a store.Store
//	m, err := r.Register(ctx, &registry.RegisterOptions{Name: "shop", Addr: "10.0.0.7:8080"})
//	...
//	defer m.End(ctx, "shut down")
//	id := m.Generator().New()
//
// [Registry.Trace] returns the process that created the id: its identity, host,
// program, start and end, and its load at the creation time. [Registry.Adopt] records a
// process that creates its ids with another driver, in any language. A server records the
// processes of its clients with [Registry.RegisterRemote] and [Registry.AdoptRemote].
//
// # Terms
//
//   - The process value of an id is the five bytes between its time and its counter, or
//     four bytes in the Java layout.
//   - A process block is the first four bytes of a process value. Each registered process
//     has a block of its own.
//   - A claim is the stored document that gives a block, or an adopted process value, to a
//     process.
//   - An evidence id is an id by which a process is adopted: somebody says that the process
//     created it.
//   - A remote process cannot use this package. Another program, such as a server, passes
//     its heartbeats to [Registry.Heartbeat].
//   - A heartbeat is the periodic sign of life of a process. It carries a sample: the load
//     of the process at that time.
//   - A GPID, see package gpid, identifies one run of a program. Two containers may have
//     processes with the same GPID. A [MemberKey] identifies one registration and is
//     unique.
//
// # Guarantees
//
// Two members never have the same process block, so they never create the same id, even if
// they register at the same moment or lose their connection to the store. A block is
// claimed by inserting it under a unique key, and the claim is never deleted. The exception
// is a member that registered without the store, see [RegisterOptions.Offline]: its block
// is random, and a collision with another process is reported instead of prevented.
//
// If the store cannot be reached, a member continues to generate ids and stores its samples
// later.
//
// A trace is certain only if it is proven which process created the id, see [Trace].Certain. A
// trace is a [Conflict] only if it is proven that no recorded process had the process value
// when the id was created. Ids of an adopted process are [Claimed], because nothing proves
// that the process created its evidence ids.
//
// A clock step never makes a process of this host dead. If this program can see the process,
// the kernel tells whether it is alive. Otherwise, the time since its last heartbeat decides,
// by the monotonic clock, which runs since the host was started.
//
// # Limits
//
// A program that does not register may draw the process value of a member at random. Its
// ids are traced to that member. "oid odds" computes the probability.
//
// If a running virtual machine is copied, both copies create ids with the same block until
// their heartbeats reach the store, which detects the copy. Each copy then claims a new
// block, see [ErrCopied], and traces of the ids created in between are no longer certain. A
// store restored from a backup is not mistaken for a copy.
//
// Hosts have no common clock. If the heartbeats of a process on another host stop, the
// process is [Late]. It is presumed dead when this Registry has waited for three intervals
// without seeing a new heartbeat.
//
// [Registry.Sweep] and [Registry.Prune] remove what is no longer needed. "oid serve" calls
// Sweep every 20 seconds and Prune every hour. Without "oid serve", call Prune daily from
// one program. docs/reference/formats.md describes the stored documents, and docs/scale.md
// the costs.
package registry

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// Registry records processes in one store and traces ids to them. Keep one for the life of
// the program: by watching heartbeats it learns which late processes of other hosts are
// dead. Any number of goroutines may share it.
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
	formatRead  atomic.Bool   // see checkFormat

	memory memory
}

// New returns the registry in s. It reads s through [store.Linearizable].
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

// Options configure a [Registry]. The zero value, like a nil pointer, is ready to use.
type Options struct {
	// OneHost means that only this host can reach the store. Set it if the store is a local
	// file. After a restart of the host, all processes from before the restart are then Dead
	// at once. Without OneHost, they are [Late] first.
	OneHost bool

	// Log receives one message when heartbeats of a member begin to fail and one when they
	// succeed again. Default: slog.Default().
	Log *slog.Logger

	// Now returns the wall clock time for states, heartbeats and generators. Several
	// goroutines may call it at once. Default: time.Now.
	Now func() time.Time
}

// RegisterOptions describe a process for [Registry.Register] and [Registry.Adopt]. The zero
// value, like a nil pointer, is ready to use.
type RegisterOptions struct {
	// Addr is the ip:port at which peers reach the process, in a form that [gpid.Self]
	// reads. Default: the address of this host and port 0, for a process that does not
	// listen.
	Addr string

	// Name of the service, as human readers know it. Default: the name of the program.
	Name string
	// Version of the program. Default: for this process, the version in the build
	// information.
	Version string
	// Labels are up to 50 labels, such as team=orders, with names of up to 100 bytes and
	// values of up to 200 bytes. All characters must be printable.
	Labels map[string]string

	// Interval between two heartbeats, from [MinInterval] to [MaxInterval]. Default: 10s.
	Interval time.Duration

	// Offline lets the call succeed while the store cannot be reached. The member then has
	// a random block, and registers it as soon as the store answers. Until then it is not
	// known whether another process has that block. If the store may be unreachable when the
	// program opens it, open it with [store.OpenLater].
	Offline bool
}

// AdoptOptions describe a process for [Registry.Adopt] and [Describe]. For Adopt, the zero
// value, like a nil pointer, describes this process.
type AdoptOptions struct {
	RegisterOptions

	// PID of the process. For Adopt, 0 means this process. Describe needs a PID.
	PID int
	// Layout of the process's ids. With [objectid.Java] their process value is the first
	// four bytes after the time, otherwise the first five.
	Layout objectid.Layout
}

// RemoteOptions describe a process for [Registry.RegisterRemote] and
// [Registry.AdoptRemote]. The zero value, like a nil pointer, is ready to use.
type RemoteOptions struct {
	// Name, Version, Labels and Interval are as in [RegisterOptions], but the default Name and
	// Version are empty.
	Name, Version string
	Labels        map[string]string
	Interval      time.Duration
	// Host is the name of the process's host. Default: not known.
	Host string

	// Kernel, Program and Executable are fields of the [Process] that [Describe] returns. Set
	// them if the caller is on the host of the process. Default: not known.
	Kernel     gpid.Process
	Program    uint32
	Executable string

	// Clock is what the clock of the process showed when it sent this description. Default:
	// not known.
	Clock time.Time
	// Age is how long ago the caller first saw the process. Set it for AdoptRemote if the
	// caller had to wait for the store: the process was alive then, so its first heartbeat
	// gets that time. RegisterRemote ignores Age.
	Age time.Duration

	// Key makes the call idempotent: the first call with a key, from any Registry, records
	// the process, and later calls with that key return the recorded process. Use a random
	// key. Default: each call records another process.
	Key string
	// StartUnknown means that the process may have started before the start time in the GPID.
	// Evidence ids may then be older than that time: the process started before the oldest of
	// them. A repeated call with the same Key may have another start time in the GPID. The
	// process keeps the GPID of the first call.
	StartUnknown bool
}

// Bounds of the interval between two heartbeats. MinInterval keeps a mistyped interval from
// flooding the store.
const (
	MinInterval = 100 * time.Millisecond
	MaxInterval = keepSamples // 7 days
)

const (
	defaultInterval = 10 * time.Second

	// keepSamples is for how long a process keeps its samples in the store. Samples older
	// than keepAll are thinned.
	keepSamples = 7 * 24 * time.Hour
	keepAll     = 24 * time.Hour
)

// checkInterval returns given, or the default interval for 0.
func checkInterval(given time.Duration) (time.Duration, error) {
	switch {
	case given == 0:
		return defaultInterval, nil
	case given < MinInterval || given > MaxInterval:
		return 0, fmt.Errorf("registry: interval %v: want %v to %v", given, MinInterval, MaxInterval)
	}
	return given, nil
}
