package redislock

import (
	"context"
	"sync"
	"time"

	"github.com/oidkit/oid/lock/internal/engine"
)

// limited is the context of one request. With a client of ours it does not end at
// its deadline: then the connection ends on which the request waits. A context that
// ends needs a timer and a channel, which would cost as much as a good part of the
// request.
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

// limit returns the context of a request that takes no longer than d. The caller
// calls cancel.
func (l *Locker) limit(ctx context.Context, d time.Duration) *limited {
	c := &limited{Context: ctx, l: l, began: time.Now(), limit: d}
	if l.reset == nil {
		c.Context, c.stop = context.WithTimeout(ctx, d)
	} else {
		c.watch()
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

// watch waits for the deadline.
func (c *limited) watch() {
	// Timers may be early by a sixteenth.
	c.l.timeouts.Set(&c.timer, c.limit+c.limit/15, c.drop)
}

// drop ends the connections. It waits again in case the request goes on with one
// that is just being opened.
func (c *limited) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done {
		c.l.reset(time.Now())
		c.watch()
	}
}

// cancel ends the watch.
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
