package registry

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
)

// Options tune [Join] and [Adopt]. The zero value, like a nil pointer, is ready
// to use.
type Options struct {
	// Addr is the ip:port that peers dial, read as [gpid.Self] does. Default:
	// this host's address and port 0, for a process that listens on nothing.
	Addr string

	// Name is what people call the service. Default: the executable's name.
	Name string
	// Version of the program. Default: what the Go toolchain put into the
	// binary, if the process is this one.
	Version string
	// Labels are kept as they are.
	Labels map[string]string

	// Interval between two heartbeats, at least 100ms. Default: 10s.
	Interval time.Duration
	// KeepSamples is for how long a member keeps its own samples in the store.
	// Default: 7 days.
	KeepSamples time.Duration

	// OneHost says that only this host can reach the store, as it is with a file.
	// A process of another boot is then known to have ended.
	OneHost bool

	// Offline lets Join and Adopt succeed though the store cannot be reached.
	// The member then holds a random block and registers it as soon as it can;
	// until then nobody knows whether another process has the same one.
	Offline bool

	// PID is the process to adopt. Default: this one. Join ignores it.
	PID int
	// Layout is how the adopted process makes its ids. With [objectid.Java] the
	// first four of the process bytes are its value, otherwise all five. Join
	// ignores it.
	Layout objectid.Layout

	// Log is told, once and not with every heartbeat, when a heartbeat fails
	// and when it works again. Default: slog.Default().
	Log *slog.Logger
	// Random is where blocks are drawn from. Default: crypto/rand.
	Random io.Reader
	// Now is the wall clock, for the heartbeats and for the generator. It is
	// called by several goroutines at once. Default: the system's.
	Now func() time.Time
}

// minInterval keeps a mistyped interval from flooding the store.
const minInterval = 100 * time.Millisecond

func (o *Options) withDefaults() (Options, error) {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Interval == 0 {
		out.Interval = 10 * time.Second
	}
	if out.KeepSamples == 0 {
		out.KeepSamples = 7 * 24 * time.Hour
	}
	if out.Log == nil {
		out.Log = slog.Default()
	}
	if out.Random == nil {
		out.Random = rand.Reader
	}
	if out.PID == 0 {
		out.PID = os.Getpid()
	}
	switch {
	case out.Interval < minInterval:
		return out, fmt.Errorf("registry: interval %v, want %v or more", out.Interval, minInterval)
	case out.KeepSamples < out.Interval:
		return out, fmt.Errorf("registry: samples kept for %v, want the interval, %v, or more", out.KeepSamples, out.Interval)
	}
	return out, nil
}

var (
	// ErrCollision is wrapped by the error of [Adopt], and by that of
	// [Member.Err], if another live process holds the same process value.
	ErrCollision = errors.New("registry: process value is held by another live process")

	// ErrSample is wrapped by the error of [Adopt] if the process cannot have
	// made the sample id.
	ErrSample = errors.New("registry: the process cannot have made the sample id")

	// ErrLeft is wrapped by the error of [Member.Leave] and [Member.Detach] if
	// the member has left before.
	ErrLeft = errors.New("registry: member has left")
)

// CollisionError says who holds the same process value. It wraps [ErrCollision].
type CollisionError struct {
	Value  string      // in hexadecimal
	Others []gpid.GPID // never empty
}

// Error names the value and the first of the others.
func (e *CollisionError) Error() string {
	return fmt.Sprintf("%v: %s by %v", ErrCollision, e.Value, e.Others[0])
}

// Unwrap returns [ErrCollision].
func (e *CollisionError) Unwrap() error { return ErrCollision }
