// Package calls lets a Locker end its calls when it is closed.
package calls

import (
	"context"
	"sync"

	"github.com/oidkit/oid/lock"
)

// Calls counts the calls that are under way. Make it with [New]. Any number of
// goroutines may share one.
type Calls struct {
	// Closing ends when Close is called.
	Closing context.Context

	close context.CancelFunc
	mu    sync.Mutex // orders Begin and Close
	calls sync.WaitGroup
}

// New returns Calls that are open.
func New() *Calls {
	c := new(Calls)
	c.Closing, c.close = context.WithCancel(context.Background())
	return c
}

// Begin counts a call, unless Close came first: then it returns [lock.ErrClosed].
// Without an error the caller calls Done at its end.
func (c *Calls) Begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Closing.Err() != nil {
		return lock.ErrClosed
	}
	c.calls.Add(1)
	return nil
}

// Done ends a call.
func (c *Calls) Done() { c.calls.Done() }

// Go runs f as part of a call that is under way.
func (c *Calls) Go(f func()) { c.calls.Go(f) }

// Close ends Closing, waits until all calls have ended, and reports whether it
// was the first Close.
func (c *Calls) Close() (first bool) {
	c.mu.Lock()
	first = c.Closing.Err() == nil
	c.close()
	c.mu.Unlock()
	c.calls.Wait()
	return first
}
