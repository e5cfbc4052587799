package redislock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/oidkit/oid/internal/backoff"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
)

func (l *Locker) acquire(ctx context.Context, call calls.Call, wait bool) (lease *lock.Lease, err error) {
	r := l.newRequest(call)
	defer func() { // also when the function for events panics
		if _, refused := err.(*lock.HeldError); lease == nil && !refused {
			r.giveUp()
		}
	}()
	return r.wait(ctx, !wait)
}

// After temporary errors, the pause before the next request doubles from minPause to
// maxPause.
const (
	minPause = 20 * time.Millisecond
	maxPause = time.Second / 2
)

// tries is how often to send a request that does not wait for the lock.
const tries = 3

// wait asks for the lock until it is granted or ctx ends. With try it returns when it is
// refused: the error is then a [lock.HeldError] that nothing wraps.
func (r *request) wait(ctx context.Context, try bool) (*lock.Lease, error) {
	var obstacle error // the last HeldError or failure
	var other *request // of this process, which had the lock; EventWaiting was reported
	failed := func(err error) error {
		if obstacle == nil && other != nil {
			obstacle = other.refusal()
		}
		if end := over(ctx); end != nil && obstacle != nil && obstacle != end {
			err = fmt.Errorf("%w: %w", end, obstacle)
		} else if end != nil {
			err = end
		}
		return fmt.Errorf("redislock: acquire %q: %w", r.Name, err)
	}
	refused, silent := false, false // Redis has refused the lock; EventUnanswered was reported since the last answer
	answered := time.Now()          // when the last answer came
	if !try {
		var err error
		if other, err = r.waitLocally(ctx); err != nil {
			return nil, failed(err)
		}
	}
	// A waiter may queue only if it can get hints.
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
			s.Owner = a.value.owner // also if the lock is only reserved
			obstacle = &lock.HeldError{Status: s}
			r.l.queue.resign(r)
		} else if obstacle == nil && other == nil || over(ctx) == nil && !errors.Is(err, net.ErrClosed) {
			obstacle = err // otherwise err only says that ctx has ended, or that eval has closed the connection
		}
		var sleep time.Duration
		switch {
		case err == nil && try && n == 1 && a.value.abandoned():
			r.free(a.value)
			continue
		case err == nil && try:
			return nil, obstacle
		case over(ctx) != nil:
			return nil, failed(err)
		case err == nil:
			if !refused && other == nil {
				r.Tell(lock.EventWaiting, 0, nil)
			}
			refused, silent, answered = true, false, time.Now()
			pause.Reset()
			if !r.joined {
				if err := r.l.listen(ctx); err != nil {
					return nil, failed(err)
				}
				r.l.queue.join(r)
				continue
			}
			r.l.queue.see(r, a.value)
			// The pauses of waiters are random, so that they do not all ask at once. The pause
			// is a little longer than a.wait, which Redis rounds to milliseconds.
			sleep = min(r.ttl/6, time.Second)
			if r.l.queue.polls.Load() {
				sleep = pollTime / 2
			}
			sleep = backoff.Between(sleep, 2*sleep)
			if a.wait >= 0 { // the lock expires
				sleep = min(sleep, a.wait+backoff.Between(time.Millisecond, 11*time.Millisecond))
			}
		// Redis has accepted the request of a waiter before, so it may accept it again.
		case permanent(err) && (!refused || errors.Is(err, ErrClientClosed)), try && n == tries:
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

// sleep returns nil when it is time to ask again: after d or after a hint. Otherwise it
// returns why the call must end.
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
