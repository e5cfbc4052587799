package redislock

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/oidkit/oid/lock"
)

// TryAcquire takes the lock if it is free, see [lock.Locker].
func (l *Locker) TryAcquire(ctx context.Context, name string, _ ...lock.AcquireOptions) (*lock.Lease, error) {
	r, err := l.newRequest(name)
	if err != nil {
		return nil, err
	}
	if err := l.begin(); err != nil {
		return nil, err
	}
	defer l.calls.Done()
	var a answer
	for range tries {
		a, err = r.ask(ctx, false)
		if err == nil && a.granted {
			return r.lease(ctx, a.value.fence, safe(a.sent, l.ttl)), nil
		}
		if err == nil {
			return nil, r.held(a)
		}
		if permanent(err) || ctx.Err() != nil {
			break
		}
	}
	r.giveUp()
	return nil, r.failed(ctx, err)
}

// failed is the error of a request that ended with err, the last one.
func (r *request) failed(ctx context.Context, err error) error {
	if end := ctx.Err(); end != nil && end != err {
		return fmt.Errorf("redislock: acquire %q: %w: %w", r.name, end, err)
	}
	return fmt.Errorf("redislock: acquire %q: %w", r.name, err)
}

// Acquire takes the lock, waiting for it as long as ctx allows, see
// [lock.Locker].
func (l *Locker) Acquire(ctx context.Context, name string, _ ...lock.AcquireOptions) (*lock.Lease, error) {
	r, err := l.newRequest(name)
	if err != nil {
		return nil, err
	}
	if err := l.begin(); err != nil {
		return nil, err
	}
	defer l.calls.Done()
	lease, err := r.wait(ctx)
	if err != nil {
		r.giveUp()
		return nil, err
	}
	return lease, nil
}

// join makes r known to the process's line.
func (r *request) join() <-chan value {
	r.joined = true
	return r.l.line.join(r.text)
}

// The pause after an error that may pass doubles from the first to the second.
const (
	minPause = 20 * time.Millisecond
	maxPause = time.Second
)

// wait asks for the lock until it is granted.
func (r *request) wait(ctx context.Context) (*lock.Lease, error) {
	var (
		woken  <-chan value // gets the lock's value when it is given to r
		placed time.Time    // when the last request was sent by which r stood in line
		last   error        // what stands in the way
		pause  = minPause
	)
	// Only whoever is told when its turn has come may stand in line.
	if r.l.line.listening() {
		woken = r.join()
	}
	for {
		a, err := r.ask(ctx, r.joined)
		var sleep time.Duration
		switch {
		case err == nil && a.granted:
			return r.lease(ctx, a.value.fence, safe(a.sent, r.l.ttl)), nil
		case ctx.Err() != nil && last != nil:
			return nil, r.failed(ctx, last)
		case err != nil && permanent(err), ctx.Err() != nil:
			return nil, r.failed(ctx, err)
		case err != nil:
			last = err
			sleep = pause
			pause = min(2*pause, maxPause)
		case !r.joined:
			last = r.held(a)
			if err := r.l.listen(ctx); err != nil {
				return nil, r.failed(ctx, err)
			}
			woken = r.join()
			continue
		default:
			last = r.held(a)
			placed = a.sent
			pause = minPause
			// Waiters spread their polls, and ask at the latest when the lock
			// would expire, a little late since it expires by whole milliseconds.
			sleep = r.l.ttl/6 + rand.N(r.l.ttl/6)
			sleep = min(sleep, a.ttl+time.Millisecond+rand.N(10*time.Millisecond))
		}
		timer := time.NewTimer(sleep)
		select {
		case v := <-woken:
			// The lock was given to r after its last request was sent, for a third
			// of the TTL. Where that is not yet long ago, no need to ask.
			if deadline := safe(placed, r.l.ttl/3); v.owner == r.text && time.Until(deadline) > r.l.ttl/6 {
				r.l.see(v.fence)
				return r.lease(ctx, v.fence, deadline), nil
			}
		case <-timer.C:
		case <-ctx.Done():
			return nil, r.failed(ctx, last)
		case <-r.l.closing.Done():
			return nil, fmt.Errorf("redislock: acquire %q: %w", r.name, lock.ErrClosed)
		}
	}
}
