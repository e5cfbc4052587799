package redislock

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/oidkit/oid/lock"
)

// TryAcquire takes the lock if it is free, see [lock.Locker].
func (l *Locker) TryAcquire(ctx context.Context, name string, o ...lock.AcquireOptions) (*lock.Lease, error) {
	r, err := l.newRequest(name, o)
	if err != nil {
		return nil, err
	}
	defer l.calls.Done()
	var a answer
	for range tries {
		a, err = r.ask(ctx)
		if err == nil && a.granted {
			return r.lease(ctx, a.fence), nil
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
func (l *Locker) Acquire(ctx context.Context, name string, o ...lock.AcquireOptions) (*lock.Lease, error) {
	r, err := l.newRequest(name, o)
	if err != nil {
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

// The pause after an error that may pass doubles from the first to the second.
const (
	minPause = 20 * time.Millisecond
	maxPause = time.Second
)

// wait asks for the lock until it is granted.
func (r *request) wait(ctx context.Context) (*lock.Lease, error) {
	var refused *answer // the last, if the last request got one
	var failure error   // of the last request, if it failed
	obstacle := func() error {
		if failure == nil && refused != nil {
			return r.held(*refused)
		}
		return failure
	}
	pause := minPause
	// Only a waiter that can be told when its turn has come may queue.
	if r.l.queue.listening() {
		r.l.queue.join(r)
	}
	for {
		a, err := r.ask(ctx)
		var sleep time.Duration
		switch {
		case err == nil && a.granted:
			return r.lease(ctx, a.fence), nil
		case ctx.Err() != nil && obstacle() != nil:
			return nil, r.failed(ctx, obstacle())
		// Redis may be full for a while: it refuses newcomers but no waiters.
		case err != nil && permanent(err) && !(refused != nil && code(err) == "OOM"), ctx.Err() != nil && err != nil:
			return nil, r.failed(ctx, err)
		case err != nil:
			failure = err
			sleep = pause
			pause = min(2*pause, maxPause)
		default:
			if refused == nil {
				r.l.tell(lock.Event{Kind: lock.Waiting, Name: r.name, Owner: r.owner, Took: time.Since(r.began)})
			}
			refused, failure, pause = &a, nil, minPause
			if !r.joined {
				if err := r.l.listen(ctx); ctx.Err() != nil {
					return nil, r.failed(ctx, obstacle())
				} else if err != nil {
					return nil, r.failed(ctx, err)
				}
				r.l.queue.join(r)
				continue
			}
			r.l.watches.see(r, a.text)
			// Waiters spread their polls. A lock expires by whole milliseconds, and
			// so does what is left of a reservation.
			sleep = min(r.ttl/6, time.Second)
			sleep = min(sleep+rand.N(sleep), a.wait+time.Millisecond+rand.N(10*time.Millisecond))
		}
		if err := r.sleep(ctx, sleep); ctx.Err() != nil {
			return nil, r.failed(ctx, obstacle())
		} else if err != nil {
			return nil, r.failed(ctx, err)
		}
	}
}

// sleep returns nil when it is time to ask again: after d, or when a hint says so.
// Otherwise it returns why not to ask any more.
func (r *request) sleep(ctx context.Context, d time.Duration) error {
	latest := time.Now().Add(d)
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case h := <-r.wake:
			if h == now {
				return nil
			}
			timer.Reset(min(time.Duration(h), time.Until(latest)))
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-r.l.calls.Closing.Done():
			return lock.ErrClosed
		}
	}
}
