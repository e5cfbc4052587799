// Package lockfaults injects faults into the clients and servers of a lock, with real
// processes and real servers of Redis and PostgreSQL. It then judges how the lock behaved.
// The package knows a lock only as a [Subject], so the same faults test this project's lock
// and compare it with others.
//
// The clients are workers. Each worker is a process: the test program, started again. A
// program that uses the package must call [Main] first.
package lockfaults

import (
	"context"
	"time"
)

// Subject is a lock library, used as its documentation says.
type Subject struct {
	Name string
	// Open connects to the server at a URL. The library must renew leases in the background.
	Open func(ctx context.Context, url string, ttl time.Duration) (Client, error)
	// Runs: the Client is a [Runner].
	Runs bool
}

// Client is one process's connection to a lock library.
type Client interface {
	Acquire(ctx context.Context, name string) (Lease, error)
	Close()
}

// Lease is a lock that is held, as far as its holder knows.
type Lease interface {
	// Check returns an error once the holder knows that it does not hold the lock any more.
	Check() error
	// Fence returns the fencing token, or 0 if the library has none.
	Fence() uint64
	Release() error
}

// TTL is the TTL of all locks.
const TTL = time.Second

// name is the name of the lock for which the workers contend.
const name = "contended"
