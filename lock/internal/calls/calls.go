// Package calls has what the Lockers of all engines have in common: options, and calls that
// Close ends.
package calls

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/oidkit/oid/gpid"
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

// BeginFor is Begin for a call with the name of a lock, which it checks.
func (c *Calls) BeginFor(name string) error {
	if err := lock.CheckName(name); err != nil {
		return err
	}
	return c.Begin()
}

// Ask makes a call about the lock with a name and returns its result, or the zero T with an
// error that begins with what, such as "redislock: status of", and the name.
func Ask[T any](c *Calls, what, name string, call func() (T, error)) (result T, err error) {
	if err := c.BeginFor(name); err != nil {
		return result, err
	}
	defer c.Done()
	if result, err = call(); err != nil {
		var none T
		return none, fmt.Errorf("%s %q: %w", what, name, err)
	}
	return result, nil
}

// Done ends a call.
func (c *Calls) Done() { c.calls.Done() }

// Go runs f as part of a call that is under way.
func (c *Calls) Go(f func()) { c.calls.Go(f) }

// Repeat calls f, after a pause again, until it returns no error or one that will not pass.
// When ctx ends, the error is that of ctx with that of the last f before; when Close is
// called, it is [lock.ErrClosed]. f gets a context that ends with both.
func (c *Calls) Repeat(ctx context.Context, pause time.Duration, mayPass func(error) bool, f func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(c.Closing, stop)()
	for failed := error(nil); ; {
		err := f(ctx)
		switch {
		case err == nil:
			return nil
		case c.Closing.Err() != nil:
			return lock.ErrClosed
		case ctx.Err() != nil && failed != nil:
			return fmt.Errorf("%w: %w", ctx.Err(), failed)
		case ctx.Err() != nil || !mayPass(err):
			return err
		}
		failed = err
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
		}
	}
}

// Silence is how long a place may be silent until a waiter reports it: a busy server may
// take seconds.
const Silence = 5 * time.Second

// NoAnswer returns the error of a request that got no answer within d. It is an
// [os.ErrDeadlineExceeded] and no end of the caller's context.
func NoAnswer(d time.Duration) error { return noAnswer(d) }

type noAnswer time.Duration

func (e noAnswer) Error() string {
	return fmt.Sprintf("no answer within %v", time.Duration(e).Round(time.Millisecond))
}

func (noAnswer) Is(target error) bool { return target == os.ErrDeadlineExceeded }

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

// Chosen returns the options of one Acquire, with the TTL of its Locker if o has none. The
// error wraps [lock.ErrInvalid] if the TTL is invalid.
func Chosen(o []lock.AcquireOptions, ttl time.Duration) (chosen lock.AcquireOptions, err error) {
	if len(o) > 0 {
		chosen = o[0]
	}
	if chosen.TTL == 0 {
		chosen.TTL = ttl
	}
	return chosen, lock.CheckTTL(chosen.TTL)
}

// SetDefaults replaces the zero TTL and the zero process in the options of a Locker. The
// error wraps [lock.ErrInvalid] if the TTL is invalid, or is the reason why this process
// cannot be identified.
func SetDefaults(ttl *time.Duration, process *gpid.GPID) (err error) {
	if *ttl == 0 {
		*ttl = lock.DefaultTTL
	}
	if process.IsZero() {
		if *process, err = gpid.Self(""); err != nil {
			return err
		}
	}
	return lock.CheckTTL(*ttl)
}
