package lock

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Locker takes locks. Any number of goroutines may share one. A lock is taken
// by a lease and not by a process or a goroutine: asking again for a lock that
// one holds waits for oneself.
type Locker interface {
	// Acquire takes the lock, waiting for it as long as ctx allows. It tries
	// again what may pass, such as a server that is not there, and returns at
	// once what does not, such as a wrong password. When ctx ends, the error
	// wraps its error and what stood in the way: a [HeldError] or the last error
	// of the engine. The lease does not end with ctx, which is for the waiting
	// alone; [Do] joins the two.
	Acquire(ctx context.Context, name string) (*Lease, error)

	// TryAcquire takes the lock if it is free. Its error is a [HeldError] if it
	// is not.
	TryAcquire(ctx context.Context, name string) (*Lease, error)

	// Status tells who has the lock. Nothing can be concluded from it for the
	// time after: the lock may have been taken or released since.
	Status(ctx context.Context, name string) (Status, error)

	// List returns the status of every lock that is held, sorted by name.
	List(ctx context.Context) ([]Status, error)

	// Close gives back what the Locker itself uses, and ends its waiting
	// Acquires with [ErrClosed]. It does not release leases: do that before.
	Close() error
}

// Status is what everybody can see of a lock.
type Status struct {
	// Name is the lock's name.
	Name string
	// Held reports whether somebody has it. All further fields are zero if not.
	Held bool
	// Owner is the lease that has it.
	Owner Owner
	// Fence is the lease's fence.
	Fence uint64
	// Since is when it was granted, by the engine's clock.
	Since time.Time
	// TTL is how long the engine would wait for a sign of the holder. It is 0 in
	// filelock, where the kernel knows.
	TTL time.Duration
	// Waiters is how many stand in line, some of whom may have died meanwhile.
	// filelock does not know and says 0.
	Waiters int
}

const (
	// DefaultTTL is how long a lease lives without a renewal, if nothing else is
	// asked for.
	DefaultTTL = 30 * time.Second

	// MinTTL is the shortest TTL that is accepted: renewals come at a third of
	// it, and each of their tries must have time to be answered.
	MinTTL = 100 * time.Millisecond

	// MaxTTL is the longest TTL that is accepted: so long may a lock stay taken
	// after its holder has crashed.
	MaxTTL = 24 * time.Hour

	// MaxName is the length of the longest name in bytes.
	MaxName = 512
)

// CheckTTL returns an error that wraps [ErrInvalid] unless ttl lies between
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

// CheckName returns an error that wraps [ErrInvalid] unless name can name a
// lock: 1 to [MaxName] bytes of UTF-8 text without control characters and
// braces. (In a Redis Cluster braces say which node keeps a key.)
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
		return fmt.Errorf("%w name: byte %d begins %q, which no name may contain: %q", ErrInvalid, i, r, name)
	}
	return nil
}
