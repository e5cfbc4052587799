package lock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oidkit/oid/internal/backoff"
)

// LeadOptions tune one [Lead].
type LeadOptions struct {
	// Pause is the longest pause after the first term. The longest pause doubles with each
	// further term, up to MaxPause. After a term that lasted longer than MaxPause, the longest
	// pause is Pause again. After an attempt to take the lock that failed, the longest pause is
	// always Pause, so that there is a leader soon after the fault has passed. Each actual pause
	// is random: half of the longest pause or more. Default: 1 s.
	Pause time.Duration
	// MaxPause is the upper limit of the pauses. Default: a minute, or Pause if Pause is
	// longer than a minute.
	MaxPause time.Duration
	// Acquire tunes the lease of each term.
	Acquire AcquireOptions
	// Events is called with EventAcquired at the start of each term, and with EventPaused after
	// each term and each failed attempt to take the lock. The Locker reports its own events as
	// well.
	Events func(Event)
}

// The defaults of [LeadOptions].
const (
	leadPause    = time.Second
	leadMaxPause = time.Minute
)

// Lead elects a leader among the processes that call Lead with the same name. It takes the
// lock, waiting as long as ctx allows, and calls f: this is one term. The context of f ends
// when ctx or the lease ends. f must return then, because another leader may begin. Lead
// releases the lock when f has returned. What Lead does next depends on how the term ended:
//
//   - If f returned nil and the lock was held to the end, Lead returns nil, or the error of
//     [Lease.Release].
//   - If f returned an error or the lock was lost, Lead reports the reason to
//     LeadOptions.Events, pauses, and takes the lock again. Once ctx has ended, Lead instead
//     returns an error that wraps the cause of ctx and the error of f.
//   - If f panics, the panic continues.
//
// If Acquire fails, Lead reports the error in the same way, pauses, and asks again. So Lead
// returns before ctx has ended only if f has succeeded, or if the error wraps [ErrInvalid] or
// [ErrClosed].
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
		event, sleep := Event{Context: ctx, Name: name}, backoff.Spread(min(options.Pause, options.MaxPause))
		if err == nil {
			began := time.Now()
			event = Event{Context: lease.values, Name: name, Owner: lease.owner, Fence: lease.grant.Fence}
			var work error
			err = doUnder(ctx, lease, func(ctx context.Context, lease *Lease) error {
				options.tell(event, EventAcquired, began.Sub(asked), nil)
				work = f(ctx, lease)
				return work
			})
			if work == nil && !errors.Is(err, ErrLost) && !errors.Is(err, ErrExpired) {
				return err
			}
			if time.Since(began) > options.MaxPause {
				pause.Reset()
			}
			sleep = pause.Next()
		} else if errors.Is(err, ErrInvalid) || errors.Is(err, ErrClosed) {
			return err
		}
		if ctx.Err() != nil {
			return leadEnded(ctx, name, err)
		}
		options.tell(event, EventPaused, sleep, err)
		if backoff.Sleep(ctx, sleep) != nil {
			return leadEnded(ctx, name, err)
		}
	}
}

// leadEnded returns the error of [Lead] when ctx has ended. last is the error of the last
// term or of Acquire.
func leadEnded(ctx context.Context, name string, last error) error {
	if cause := context.Cause(ctx); !errors.Is(last, cause) {
		last = fmt.Errorf("%w; last error: %w", cause, last)
	}
	return fmt.Errorf("lock: lead %q: %w", name, last)
}

func (o LeadOptions) tell(e Event, kind EventKind, took time.Duration, err error) {
	if o.Events != nil {
		e.Kind, e.Took, e.Err = kind, took, err
		o.Events(e)
	}
}
