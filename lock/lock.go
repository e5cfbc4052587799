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

// Locker takes locks. They are not reentrant: if you acquire a lock that you already hold,
// the call waits until ctx ends. Only the engines of this module implement Locker; to wrap
// a Locker, embed it.
type Locker interface {
	// Acquire takes the lock, waiting for it as long as ctx allows. If ctx ends first, the
	// error wraps the error of ctx and also what the call was waiting for: a [HeldError], or
	// else the last error of the backend. An error that does not pass, such as a wrong password,
	// is returned at once, unless the backend has answered this call before: the password may
	// then be corrected while the call keeps its position. The lease goes on after ctx has ended.
	Acquire(ctx context.Context, name string, o *AcquireOptions) (*Lease, error)

	// TryAcquire takes the lock if it is free, without waiting. If somebody else holds it,
	// the error is or wraps a [HeldError].
	TryAcquire(ctx context.Context, name string, o *AcquireOptions) (*Lease, error)

	// Status returns who holds the lock. A lock that was never used is free.
	Status(ctx context.Context, name string) (Status, error)

	// List returns the status of every lock that is held, sorted by name. If it cannot read
	// some of them, it returns the others together with an error.
	List(ctx context.Context) ([]Status, error)

	// Break frees the lock although owner has not released it, so that the next waiter gets it.
	// Use it if the holder hangs or the lock never expires. The lease of owner ends with
	// [ErrLost] when it is next renewed, after a third of its TTL at the latest. Until then two
	// leases go on, but only the resource can keep the holder from writing: give it the fence
	// of the lease plus one. Later leases have at least this fence.
	//
	// Break and the next holder cannot meet: if owner does not hold the lock any more, Break
	// changes nothing and returns an error that wraps ErrLost. In filelock Break always returns
	// an error. It says which process to end, because only the kernel can free the lock.
	Break(ctx context.Context, name string, owner Owner) error

	// Close makes waiting Acquires return [ErrClosed] and frees the resources of the Locker.
	// Release leases first: Close only stops renewing them, so they end at their deadlines.
	// In filelock they have no deadline and do not end.
	Close() error

	// note returns the text that [Once], [Runs] and [Slots] keep with the lock. Like Acquire
	// it retries after temporary errors as long as ctx allows.
	note(ctx context.Context, name string) (engine.Note, error)
}

// withNotes is a Locker whose notes are read by a function of its engine.
type withNotes struct {
	Locker
	read func(ctx context.Context, name string) (engine.Note, error)
}

func (l withNotes) note(ctx context.Context, name string) (engine.Note, error) {
	return l.read(ctx, name)
}

// The engines call unexported functions of this package through these variables.
func init() {
	engine.NewLease = newLease
	engine.WithNotes = func(l Locker, read func(context.Context, string) (engine.Note, error)) Locker {
		return withNotes{l, read}
	}
}

// AcquireOptions tune one lease.
type AcquireOptions struct {
	// TTL is how long the lock stays held after the last renewal, between [MinTTL] and
	// [MaxTTL]. Default: the TTL of the Locker. filelock ignores it.
	TTL time.Duration
	// Command is the command line that [Status] shows, cut to its first 1,024 bytes.
	// Default: none.
	Command string
	// Group says that a process group, for example that of a command, does work under the
	// lock and may outlive this process; name the group with [Lease.SetGroup]. Without Group,
	// a waiter on the same host gets the lock as soon as this process has died. With Group, it
	// gets the lock when the group has ended too or the TTL has passed, whichever comes first.
	// filelock has no TTL: its package comment says what Group does there.
	Group bool
}

const (
	// DefaultTTL is the TTL of a Locker whose Options set none.
	DefaultTTL = 30 * time.Second

	// MinTTL is the shortest TTL. A lease is renewed after a third of its TTL.
	MinTTL = 100 * time.Millisecond

	// MaxTTL is the longest TTL. If a holder crashes, its lock may stay held for its TTL.
	MaxTTL = 24 * time.Hour

	// MaxName is the length of the longest name, in bytes.
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
// printable UTF-8 text without braces.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w name: it is empty", ErrInvalid)
	case len(name) > MaxName:
		return fmt.Errorf("%w name: %d bytes, want at most %d; it begins with %.32q", ErrInvalid, len(name), MaxName, name)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w name: not UTF-8: %q", ErrInvalid, name)
	}
	// In a key of a Redis Cluster, braces select the node.
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
	// Held reports whether the lock is held. If not, all fields below except Waiters are zero.
	Held bool
	// Owner is the process that holds the lock, with the id of its lease. In filelock a
	// program that does not use this package, such as flock(1), may hold the lock: then Owner
	// and all fields below are zero.
	Owner Owner
	// Fence is the lease's fencing token.
	Fence uint64
	// Since is when the lease was granted, by the holder's clock.
	Since time.Time
	// TTL is how long the lock stays held if it is not renewed again: in Redis from now, in a
	// store from the last renewal. It is 0 in filelock. It is negative if somebody has removed
	// the TTL in Redis, so that the lock stays held until a renewal or a [Locker.Break].
	TTL time.Duration
	// Waiters is the length of the queue, including waiters that may have died. It is 0 in
	// filelock, which has no queue.
	Waiters int
	// Holder describes the process that holds the lock.
	Holder Holder
}

// Holder is what a process that holds a lock has recorded about itself. Unknown fields are
// zero. Engines keep it as JSON.
type Holder struct {
	// Host is the name of the process's host.
	Host string `json:"host,omitempty"`
	// Process is the kernel's identity of the process, with its pid.
	Process gpid.Process `json:"process,omitzero"`
	// Command is [AcquireOptions.Command].
	Command string `json:"command,omitempty"`
	// Group is the process group of [AcquireOptions.Group]: 0 if there is none, and -1 if the
	// holder has not named it yet.
	Group int `json:"group,omitempty"`
	// State says whether the process or its group still runs. It is StateUnknown if the caller
	// cannot tell, for example on another host, after a restart of the host, or in another pid
	// namespace.
	State State `json:"-"`
}

// State says whether a holder still runs.
type State string

// The states of a holder.
const (
	StateUnknown State = ""
	StateAlive   State = "alive"
	StateEnded   State = "ended"
)

// Do takes the lock, waiting as long as ctx allows, calls f, and releases the lock. The
// context of f ends when ctx or the lease ends; f should then return. Do returns the error of
// f. If the lease ended before f returned, the reason is joined to that error.
//
// To limit how long f runs, but not the wait, f can use [context.WithTimeout].
func Do(ctx context.Context, l Locker, name string, f func(ctx context.Context, lease *Lease) error, o *AcquireOptions) error {
	lease, err := l.Acquire(ctx, name, o)
	if err != nil {
		return err
	}
	return doUnder(ctx, lease, f)
}

// doUnder is [Do] for a lease that has begun.
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

// Owner identifies one lease by two parts: the process that asked for the lease, and an id
// that was created when the process asked.
//
//	10.0.0.7:8080:1795166651598985:4711/507f1f77bcf86cd799439011
//
// The zero Owner stands for nobody. Its text is empty.
type Owner struct {
	Process gpid.GPID
	ID      objectid.ID
}

// ParseOwner parses the text of [Owner.String]. Every error wraps [ErrInvalid].
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

// IsZero reports whether o stands for nobody.
func (o Owner) IsZero() bool { return o == Owner{} }

// String returns the process and the id with a slash between them.
func (o Owner) String() string {
	if o.IsZero() {
		return ""
	}
	return o.Process.String() + "/" + o.ID.String()
}

// MarshalText implements [encoding.TextMarshaler] with the text of [Owner.String].
func (o Owner) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText parses text as [ParseOwner] does, or as the zero Owner if text is empty.
// After an error o is unchanged.
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
