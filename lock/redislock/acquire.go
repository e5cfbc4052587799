package redislock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/oidkit/oid/internal/backoff"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
)

func (l *Locker) acquire(ctx context.Context, call calls.Call, wait bool) (*lock.Lease, error) {
	r := l.newRequest(call)
	lease, err := r.wait(ctx, !wait)
	if _, refused := err.(*lock.HeldError); err != nil && !refused {
		r.giveUp()
	}
	return lease, err
}

// The pause after an error that may pass doubles from the first to the second.
const (
	minPause = 20 * time.Millisecond
	maxPause = time.Second
)

// tries is how often a request is sent that nobody waits for.
const tries = 3

// wait asks for the lock until it is granted or, with try, refused: then the error
// is a [lock.HeldError], which nothing wraps.
func (r *request) wait(ctx context.Context, try bool) (*lock.Lease, error) {
	var obstacle error // the last refusal or error
	failed := func(err error) error {
		if end := ctx.Err(); end != nil && obstacle != end {
			err = fmt.Errorf("%w: %w", end, obstacle)
		} else if end != nil {
			err = end
		}
		return fmt.Errorf("redislock: acquire %q: %w", r.Name, err)
	}
	refused, silent := false, false // was told as Waiting; as Unanswered, since the last answer
	answered := time.Now()          // when the last answer came
	// Only a waiter that can be told when its turn has come may queue.
	if !try && r.l.queue.listening() {
		r.l.queue.join(r)
	}
	pause := backoff.Backoff{First: minPause, Max: maxPause}
	for n := 1; ; n++ {
		a, err := r.ask(ctx)
		if err == nil && a.granted {
			return r.lease(ctx, a.grant), nil
		}
		if err == nil {
			s := a.value.status(r.Name, a.wait)
			s.Owner = a.value.owner // also if it is only reserved
			obstacle = &lock.HeldError{Status: s}
		} else if obstacle == nil || ctx.Err() == nil { // otherwise ctx has ended the request
			obstacle = err
		}
		var sleep time.Duration
		switch {
		case err == nil && try && n == 1 && a.value.abandoned():
			r.free(a.value)
			continue
		case err == nil && try:
			return nil, obstacle
		case ctx.Err() != nil:
			return nil, failed(err)
		case err == nil:
			if !refused {
				r.Tell(lock.EventWaiting, 0, nil)
			}
			refused, silent, answered = true, false, time.Now()
			pause.Reset()
			if r.wake == nil {
				if err := r.l.listen(ctx); err != nil {
					return nil, failed(err)
				}
				r.l.queue.join(r)
				continue
			}
			r.l.queue.see(r, a.value)
			// Waiters spread their polls. A lock expires by whole milliseconds, and
			// so does what is left of a reservation.
			sleep = min(r.ttl/6, time.Second)
			sleep = min(backoff.Between(sleep, 2*sleep), a.wait+backoff.Between(time.Millisecond, 11*time.Millisecond))
		// Redis may be full for a while: it refuses newcomers but no waiters.
		case permanent(err) && !(refused && code(err) == "OOM"), try && n == tries:
			return nil, failed(err)
		default:
			if !try && !silent && (time.Since(answered) >= calls.UnansweredAfter || !errors.Is(err, os.ErrDeadlineExceeded)) {
				silent = true
				r.Tell(lock.EventUnanswered, 0, err)
			}
			sleep = pause.Next()
		}
		if err := r.sleep(ctx, sleep); err != nil {
			return nil, failed(err)
		}
	}
}

// sleep returns nil when it is time to ask again: after d, or when a hint says so.
// Otherwise it returns why not to ask any more.
func (r *request) sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-r.wake:
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	case <-r.l.calls.Closing.Done():
		return lock.ErrClosed
	}
	return nil
}
