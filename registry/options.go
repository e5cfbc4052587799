package registry

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
)

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
	// Labels are stored unchanged.
	Labels map[string]string

	// Interval between two heartbeats, at least 100ms. Default: 10s.
	Interval time.Duration

	// Offline lets the call succeed although the store cannot be reached. The
	// member then has a random block and registers it as soon as it can; until
	// then it is not known whether another process has the same block. For a store that
	// cannot even be opened, see [store.OpenLater].
	Offline bool
}

// AdoptOptions describe a process for [Registry.Adopt]. The zero value, like a nil
// pointer, is ready to use.
type AdoptOptions struct {
	// PID of the process to adopt. Default: this process.
	PID int
	// Layout of the ids of the process. With [objectid.Java] its process value is
	// the first four bytes after the time, otherwise the first five.
	Layout objectid.Layout

	// Addr is the ip:port that peers dial, read as by [gpid.Self]. Default: the
	// address of this host and port 0, for a process that does not listen.
	Addr string

	// Name of the service, for people. Default: the name of the program.
	Name string
	// Version of the program. Default: the version in the build information, if
	// the process is this one.
	Version string
	// Labels are stored unchanged.
	Labels map[string]string

	// Interval between two heartbeats, at least 100ms. Default: 10s.
	Interval time.Duration

	// Offline lets the call succeed although the store cannot be reached. The
	// member then registers as soon as it can.
	Offline bool
}

// RemoteOptions describe a process for [Registry.RegisterRemote] and
// [Registry.AdoptRemote]. The zero value, like a nil pointer, is ready to use.
type RemoteOptions struct {
	// Name of the service, for people.
	Name string `json:"name"`
	// Host is the name of its host. Default: not known.
	Host string `json:"host,omitempty"`
	// Version of the program.
	Version string `json:"version,omitempty"`
	// Labels are stored unchanged.
	Labels map[string]string `json:"labels,omitempty"`
	// Interval between two heartbeats, at least 100ms. Default: 10s.
	Interval time.Duration `json:"interval_ns"`

	// Kernel, Program and Executable are those of [Describe], if the caller is on the
	// host of the process. Default: not known.
	Kernel     gpid.Process `json:"kernel"`
	Program    uint32       `json:"program,omitempty"`
	Executable string       `json:"executable,omitempty"`

	// Clock is the time by the clock of the process when it sent this. Default:
	// not known.
	Clock time.Time `json:"-"`
	// Age is how long ago the heartbeats of an adopted process begin, for one that the
	// caller has kept while the store was away. It is confirmed from the call on.
	Age time.Duration `json:"-"`

	// Key makes the call repeatable: of all calls with one key, also by other
	// Registries and at once, the first records the process, and the others return it.
	// It is random, so that no one else has it. Default: each call records a process.
	Key string `json:"key"`
	// StartUnknown means that the start time of the GPID is that of the call, so that
	// another call with the same key may have another.
	StartUnknown bool `json:"-"`
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

const (
	// pruneAtOnce is how many entries of the ended are read together, to delete their
	// records in the order of keys: neighbours share a page of the database.
	pruneAtOnce = 100_000

	// pruneBatch is how many of these records are in memory. Each takes about 1 KB.
	// The keys of their claims are in no order: the more there are, the more of them
	// share a page.
	pruneBatch = 20_000
)

// maxRead bounds the number of records that a call of Page reads.
const maxRead = 20_000
