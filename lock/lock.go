package lock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/objectid"
)

// Locker takes locks. Any number of goroutines may share one. Locks are not
// reentrant: acquiring a lock that you hold blocks until ctx ends. Only the engines of
// this module implement it; wrap one by embedding it.
type Locker interface {
	// Acquire takes the lock, waiting for it as long as ctx allows. It retries after
	// errors that may pass, such as an unreachable server, and returns others at once.
	// When ctx ends, the error wraps that of ctx and a [HeldError] or the last error of
	// the engine. The lease does not end with ctx; [Do] joins the two.
	Acquire(ctx context.Context, name string, o *AcquireOptions) (*Lease, error)

	// TryAcquire takes the lock if it is free. If another has it, the error is or wraps a
	// [HeldError]. After any other error nobody knows whether it is free.
	TryAcquire(ctx context.Context, name string, o *AcquireOptions) (*Lease, error)

	// Status returns who has the lock. A name that was never used is a free lock.
	Status(ctx context.Context, name string) (Status, error)

	// List returns the status of every lock that is held, sorted by name.
	List(ctx context.Context) ([]Status, error)

	// Close frees what the Locker itself uses, and ends its waiting Acquires with
	// [ErrClosed]. Release leases first: Close does not. It stops renewing them, so they
	// end at their deadline with [ErrExpired], except in filelock, which has none.
	Close() error

	// note returns what [Once], [Runs] and [Slots] keep beside the lock. Like Acquire it
	// repeats attempts whose errors may pass, as long as ctx allows.
	note(ctx context.Context, name string) (engine.Note, error)
}

// withNotes is a Locker that reads notes by a function of its engine.
type withNotes struct {
	Locker
	read func(ctx context.Context, name string) (engine.Note, error)
}

func (l withNotes) note(ctx context.Context, name string) (engine.Note, error) {
	return l.read(ctx, name)
}

// The engines cannot reach what this package does not export, except by these functions.
func init() {
	engine.NewLease = newLease
	engine.WithNotes = func(l Locker, read func(context.Context, string) (engine.Note, error)) Locker {
		return withNotes{l, read}
	}
}

// AcquireOptions tune one Acquire. The zero value is ready to use.
type AcquireOptions struct {
	// TTL is how long this lease outlives its last renewal, between [MinTTL] and
	// [MaxTTL]. Default: the TTL of the Locker. filelock ignores it.
	TTL time.Duration
	// Command is the command line that [Status] shows. Only its first
	// [MaxCommand] bytes are kept. Default: none.
	Command string
	// Group makes the lock protect a process group beside the process that asks,
	// such as that of a command that it will start. [Lease.SetGroup] names the group
	// once it exists. A lock is freed before its TTL when the kernel reports that its
	// holder has ended; with Group only when the whole group has ended as well.
	Group bool
}

const (
	// DefaultTTL is how long a lease lives without a renewal by default.
	DefaultTTL = 30 * time.Second

	// MinTTL is the shortest TTL: renewals come at a third of it.
	MinTTL = 100 * time.Millisecond

	// MaxTTL is the longest TTL: a lock may stay held for this long after a crash.
	MaxTTL = 24 * time.Hour

	// MaxCommand is how many bytes of a command line are kept.
	MaxCommand = 1024
	// MaxName is the length of the longest name in bytes.
	MaxName = 512
)

// CheckTTL returns an error that wraps [ErrInvalid] unless ttl is between
// [MinTTL] and [MaxTTL].
func CheckTTL(ttl time.Duration) error {
	switch {
	case ttl < MinTTL:
		return fmt.Errorf("%w ttl %v: want at least %v, or it could not be renewed in time", ErrInvalid, ttl, MinTTL)
	case ttl > MaxTTL:
		return fmt.Errorf("%w ttl %v: want at most %v", ErrInvalid, ttl, MaxTTL)
	}
	return nil
}

// CheckName returns an error that wraps [ErrInvalid] unless name is 1 to [MaxName] bytes of
// printable UTF-8 text without braces, which select the node of a key in a Redis Cluster.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w name: it is empty", ErrInvalid)
	case len(name) > MaxName:
		return fmt.Errorf("%w name: %d bytes, want at most %d; it begins with %.32q", ErrInvalid, len(name), MaxName, name)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w name: not UTF-8: %q", ErrInvalid, name)
	}
	bad := func(r rune) bool { return r == '{' || r == '}' || !unicode.IsPrint(r) }
	if i := strings.IndexFunc(name, bad); i >= 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		return fmt.Errorf("%w name: byte %d begins %q, which a name cannot contain: %q", ErrInvalid, i, r, name)
	}
	return nil
}

// Status is what everyone can see of a lock.
type Status struct {
	// Name is the lock's name.
	Name string
	// Held reports whether somebody has it. If not, only Waiters may follow.
	Held bool
	// Owner is the lease that has it. This and all that follows is zero if another kind
	// of program has it, such as flock(1) in filelock.
	Owner Owner
	// Fence is the lease's fence.
	Fence uint64
	// Since is when it was granted, by the holder's clock.
	Since time.Time
	// TTL is how long the lock outlives its last renewal, 0 in filelock.
	TTL time.Duration
	// Waiters is how many wait in the queue, including some that may have died. It is 0 in
	// filelock, which has no queue.
	Waiters int
	// Holder describes the process that has it.
	Holder Holder
}

// Holder describes a process that holds a lock, as it described itself. Fields
// that are not known are zero. Engines keep it as JSON.
type Holder struct {
	// Host is the name of its host.
	Host string `json:"host,omitempty"`
	// Process is the kernel's identity of the process, with its pid.
	Process gpid.Process `json:"process,omitzero"`
	// Command is the command line that the process gave with
	// [AcquireOptions.Command].
	Command string `json:"command,omitempty"`
	// Group is the process group that the lock protects beside the process, 0 if
	// none and -1 if it does not exist yet, see [AcquireOptions.Group].
	Group int `json:"group,omitempty"`
	// State shows whether the process and its group still run. It is StateUnknown
	// unless they belong to this host, boot and pid namespace.
	State State `json:"-"`
}

// State is whether a holder still runs.
type State string

// The states of a holder.
const (
	StateUnknown State = ""
	StateAlive   State = "alive"
	StateEnded   State = "ended"
)

// Do takes the lock, waiting as long as ctx allows, calls f, and releases the lock. The
// context that f gets ends with ctx and with the lease; f should return soon after. The error
// joins that of f and, if the lease ended before f returned, the cause.
func Do(ctx context.Context, l Locker, name string, f func(ctx context.Context, lease *Lease) error, o *AcquireOptions) error {
	lease, err := l.Acquire(ctx, name, o)
	if err != nil {
		return err
	}
	return doUnder(ctx, lease, f)
}

// doUnder is [Do] once the lock is taken.
func doUnder(ctx context.Context, lease *Lease, f func(ctx context.Context, lease *Lease) error) (err error) {
	defer func() { // also when f panics
		if lost := lease.Release(); err == nil {
			err = lost
		} else if lost != nil {
			err = errors.Join(err, lost)
		}
	}()
	work, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(lease.Context(), func() { cancel(context.Cause(lease.Context())) })
	defer stop()
	return f(work, lease)
}

// Owner names one lease: the process that asked for it, and an id of its own
// that carries the second in which it was asked for.
//
//	10.0.0.7:8080:1795166651598985:4711/507f1f77bcf86cd799439011
//
// The zero Owner means "nobody" and is written as the empty text.
type Owner struct {
	Process gpid.GPID
	ID      objectid.ID
}

// ParseOwner reads the text that [Owner.String] writes. Every error wraps
// [ErrInvalid].
func ParseOwner(s string) (Owner, error) {
	process, id, found := strings.Cut(s, "/")
	if !found {
		return Owner{}, fmt.Errorf("%w owner: no slash between process and id: %.200q", ErrInvalid, s)
	}
	var o Owner
	var err error
	if o.Process, err = gpid.Parse(process); err != nil {
		return Owner{}, fmt.Errorf("%w owner: %w", ErrInvalid, err)
	}
	if o.ID, err = objectid.Parse(id); err != nil {
		return Owner{}, fmt.Errorf("%w owner: %w", ErrInvalid, err)
	}
	if o.ID.String() != id {
		return Owner{}, fmt.Errorf("%w owner: id in upper case: %q", ErrInvalid, s)
	}
	return o, nil
}

// IsZero reports whether o is nobody.
func (o Owner) IsZero() bool { return o == Owner{} }

// String returns process/id, or the empty string for the zero Owner.
func (o Owner) String() string {
	if o.IsZero() {
		return ""
	}
	return o.Process.String() + "/" + o.ID.String()
}

// MarshalText returns what [Owner.String] returns. It implements
// [encoding.TextMarshaler]; the error is always nil.
func (o Owner) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads text as [ParseOwner] does, or sets the zero Owner if text
// is empty. On an error o is left as it was.
func (o *Owner) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*o = Owner{}
		return nil
	}
	parsed, err := ParseOwner(string(text))
	if err != nil {
		return err
	}
	*o = parsed
	return nil
}
