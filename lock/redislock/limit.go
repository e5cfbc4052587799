package redislock

import (
	"context"
	"sync"
	"time"
)

// limited is the context of one request. With a client of ours its channel is not
// closed at the deadline: then the connection ends on which the request waits. A channel
// for each request would cost as much as a good part of it.
type limited struct {
	context.Context
	l     *Locker
	end   time.Time
	stop  context.CancelFunc // nil for a client of ours
	timer *time.Timer        // ends connections of a client of ours

	mu     sync.Mutex
	opened time.Time // connections opened before are ended next
	done   bool
}

// limit returns the context of a request that takes no longer than d from now. The
// caller calls cancel.
func (l *Locker) limit(ctx context.Context, now time.Time, d time.Duration) *limited {
	c := &limited{Context: ctx, l: l, end: now.Add(d), opened: now}
	if at, ok := ctx.Deadline(); ok && at.Before(c.end) {
		c.end = at
	}
	if l.reset == nil {
		c.Context, c.stop = context.WithTimeout(ctx, d)
		return c
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(d+d/15, c.drop) // the client has its turn before
	return c
}

// Deadline returns the earlier of c's own deadline and its parent's.
func (c *limited) Deadline() (time.Time, bool) { return c.end, true }

// Err returns why a request may not be sent again, or nil.
func (c *limited) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	if !time.Now().Before(c.end) {
		return context.DeadlineExceeded
	}
	return nil
}

// drop ends the connections that were opened before the request began or the last drop,
// unless the request has ended. One that was opened later has longer.
func (c *limited) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done {
		c.l.reset(c.opened)
		c.opened = time.Now()
		c.timer.Reset(maxTry)
	}
}

// cancel leaves the connections open.
func (c *limited) cancel() {
	if c.stop != nil {
		c.stop()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = true
	c.timer.Stop()
}
