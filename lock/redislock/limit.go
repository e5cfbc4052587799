package redislock

import (
	"context"
	"sync"
	"time"

	"github.com/oidkit/oid/lock/internal/engine"
)

// limited is the context of one request. With a client of ours its channel is not
// closed at the deadline: then the connection ends on which the request waits. A timer
// and a channel for each request would cost as much as a good part of it.
type limited struct {
	context.Context
	l     *Locker
	began time.Time
	limit time.Duration
	stop  context.CancelFunc // nil for a client of ours
	timer engine.Timer

	mu   sync.Mutex
	done bool
}

// limit returns the context of a request that takes no longer than d from now. The
// caller calls cancel.
func (l *Locker) limit(ctx context.Context, now time.Time, d time.Duration) *limited {
	c := &limited{Context: ctx, l: l, began: now, limit: d}
	if l.reset == nil {
		c.Context, c.stop = context.WithTimeout(ctx, d)
	} else {
		c.dropAfter(now, d+d/15) // a Timer may be early by a sixteenth
	}
	return c
}

// Deadline returns the earlier of c's own deadline and its parent's.
func (c *limited) Deadline() (time.Time, bool) {
	end := c.began.Add(c.limit)
	if at, ok := c.Context.Deadline(); ok && at.Before(end) {
		return at, true
	}
	return end, true
}

// Err returns why a request may not be sent again, or nil.
func (c *limited) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	if time.Since(c.began) >= c.limit {
		return context.DeadlineExceeded
	}
	return nil
}

// dropAfter ends the connections that are open now, at d after now.
func (c *limited) dropAfter(now time.Time, d time.Duration) {
	c.l.timeouts.Set(&c.timer, now, d, func() { c.drop(now) })
}

// drop ends the connections that were opened before a time, unless the request has
// ended. One that was opened later has longer.
func (c *limited) drop(opened time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done {
		c.l.reset(opened)
		c.dropAfter(time.Now(), maxTry)
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
	c.l.timeouts.Stop(&c.timer)
}
