package redislock

import (
	"context"
	"sync"
	"time"
)

// deadline is a context that ends at a time, like that of [context.WithDeadline],
// but sets a timer only if somebody waits for its end. Where a request has a
// connection for itself, the connection's own deadline is all that is needed, and
// a timer would cost as much as a good part of the request.
type deadline struct {
	context.Context
	at time.Time

	mu   sync.Mutex
	with context.Context // with a timer; nil until Done is called
	stop context.CancelFunc
}

// Deadline returns the earlier of d's own deadline and its parent's.
func (d *deadline) Deadline() (time.Time, bool) {
	if at, ok := d.Context.Deadline(); ok && at.Before(d.at) {
		return at, true
	}
	return d.at, true
}

// Done returns a channel that is closed at the end.
func (d *deadline) Done() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.with == nil {
		d.with, d.stop = context.WithDeadline(d.Context, d.at)
	}
	return d.with.Done()
}

// Err returns why the context has ended, or nil.
func (d *deadline) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.with != nil:
		return d.with.Err()
	case d.Context.Err() != nil:
		return d.Context.Err()
	case !time.Now().Before(d.at):
		return context.DeadlineExceeded
	}
	return nil
}

// cancel stops the timer, if there is one.
func (d *deadline) cancel() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop != nil {
		d.stop()
	}
}
