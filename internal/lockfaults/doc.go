// Package lockfaults does to the clients of a lock what happens to them in
// production, with real processes and real servers of Redis and PostgreSQL, and
// judges what they made of it. It knows locks only as a [Subject], so the same faults are used to
// test this project's lock and to compare it with others.
//
// Each worker is a process of its own: the program itself, started again. A
// program that uses the package calls [Main] first.
package lockfaults

import (
	"context"
	"time"
)

// Subject is a lock library, used as its documentation says.
type Subject struct {
	Name string
	// Open connects to the server at a URL. Leases are to be renewed in the
	// background.
	Open func(ctx context.Context, url string, ttl time.Duration) (Client, error)
}

// Client is what a process has of a lock library.
type Client interface {
	Acquire(ctx context.Context, name string) (Lease, error)
	Close()
}

// Lease is a lock that is held, as far as its holder knows.
type Lease interface {
	// Check returns an error once the holder knows that it holds the lock no
	// more.
	Check() error
	// Fence is 0 if there is none.
	Fence() uint64
	Release() error
}

// TTL is that of the locks in every fault.
const TTL = time.Second

// name is that of the lock.
const name = "contended"
