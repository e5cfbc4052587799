package lock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oidkit/oid/internal/backoff"
)

// LeadOptions tune one [Lead]. The zero value is ready to use.
type LeadOptions struct {
	// Pause is the longest pause after the first term. It doubles with each term up to
	// MaxPause, and begins again after a term that was longer than MaxPause. The time is
	// drawn from its second half. Default: 1 s.
	Pause time.Duration
	// MaxPause is the longest pause. Default: a minute, or Pause if that is longer.
	MaxPause time.Duration
	// Acquire tunes the leases.
	Acquire AcquireOptions
	// Events receives EventAcquired at the start of each term and EventPaused after it.
	// The function of the Locker receives its own events as well.
	Events func(Event)
}

// The defaults of [LeadOptions].
const (
	leadPause    = time.Second
	leadMaxPause = time.Minute
)

// Lead makes this process the leader among those that call Lead with the same name: it takes
// the lock, waiting as long as ctx allows, and calls f. When that term ends it pauses and
// begins again. The context that f gets ends with ctx and with the lease; f must return then,
// because another leader may begin. The lock is released as soon as f has returned.
//
//   - If f returns nil and the lock was held to the end, Lead returns nil, or the error of
//     [Lease.Release].
//   - If f returns an error or the lock was lost, Lead pauses and takes the lock again.
//     LeadOptions.Events gets the reason.
//   - If ctx ends, Lead returns an error that wraps the cause of ctx and the error of f.
//   - If f panics, the lock is released, and the panic goes on.
//   - If the lock cannot be taken because of an error that does not pass, see
//     [Locker.Acquire], Lead returns it.
func Lead(ctx context.Context, l Locker, name string, f func(ctx context.Context, lease *Lease) error, o *LeadOptions) error {
	options := *cmp.Or(o, &LeadOptions{})
	if options.Pause < 0 || options.MaxPause < 0 {
		return fmt.Errorf("%w pause: LeadOptions.Pause %v, MaxPause %v: want 0 or more", ErrInvalid, options.Pause, options.MaxPause)
	}
	options.Pause = cmp.Or(options.Pause, leadPause)
	options.MaxPause = cmp.Or(options.MaxPause, max(leadMaxPause, options.Pause))
	pause := backoff.Backoff{First: options.Pause, Max: options.MaxPause}
	for {
		asked := time.Now()
		lease, err := l.Acquire(ctx, name, &options.Acquire)
		if err != nil && ctx.Err() != nil {
			return leadEnded(ctx, name, err)
		} else if err != nil {
			return err
		}
		began := time.Now()
		options.tell(lease, EventAcquired, began.Sub(asked), nil)
		var work error
		err = doUnder(ctx, lease, func(ctx context.Context, lease *Lease) error {
			work = f(ctx, lease)
			return work
		})
		switch lost := errors.Is(err, ErrLost) || errors.Is(err, ErrExpired); {
		case work == nil && !lost:
			return err
		case ctx.Err() != nil:
			return leadEnded(ctx, name, err)
		case time.Since(began) > options.MaxPause:
			pause.Reset()
		}
		sleep := pause.Next()
		options.tell(lease, EventPaused, sleep, err)
		if backoff.Sleep(ctx, sleep) != nil {
			return leadEnded(ctx, name, err)
		}
	}
}

// leadEnded returns the error of [Lead] when ctx has ended. last is that of the last term or
// Acquire.
func leadEnded(ctx context.Context, name string, last error) error {
	if cause := context.Cause(ctx); !errors.Is(last, cause) {
		last = fmt.Errorf("%w; at last: %w", cause, last)
	}
	return fmt.Errorf("lock: lead %q: %w", name, last)
}

func (o LeadOptions) tell(lease *Lease, kind EventKind, took time.Duration, err error) {
	if o.Events != nil {
		o.Events(Event{Kind: kind, Name: lease.name, Owner: lease.owner, Fence: lease.grant.Fence, Took: took, Err: err})
	}
}
