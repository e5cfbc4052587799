package redislock

import (
	"context"
	"sync"
	"time"
)

// limited is a context that ends at a time, like that of [context.WithDeadline],
// but sets a timer only if somebody waits for its end. Where a request has a
// connection for itself, the connection's own deadline is all that is needed, and
// a timer would cost as much as a good part of the request.
type limited struct {
	context.Context
	at time.Time

	mu   sync.Mutex
	with context.Context // with a timer; nil until Done is called
	stop context.CancelFunc
}

// limit returns a context that ends after d or with ctx. The caller calls cancel.
func limit(ctx context.Context, d time.Duration) (_ context.Context, cancel func()) {
	l := &limited{Context: ctx, at: time.Now().Add(d)}
	return l, l.cancel
}

// Deadline returns the earlier of l's own deadline and its parent's.
func (l *limited) Deadline() (time.Time, bool) {
	if at, ok := l.Context.Deadline(); ok && at.Before(l.at) {
		return at, true
	}
	return l.at, true
}

// Done returns a channel that is closed at the end.
func (l *limited) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.with == nil {
		l.with, l.stop = context.WithDeadline(l.Context, l.at)
	}
	return l.with.Done()
}

// Err returns why the context has ended, or nil.
func (l *limited) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.with != nil:
		return l.with.Err()
	case l.Context.Err() != nil:
		return l.Context.Err()
	case !time.Now().Before(l.at):
		return context.DeadlineExceeded
	}
	return nil
}

// cancel stops the timer, if there is one.
func (l *limited) cancel() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop != nil {
		l.stop()
	}
}
