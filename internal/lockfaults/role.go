package lockfaults

import (
	"context"
	"fmt"
)

// role is how a worker uses the lock. The zero role takes it again and again.
type role string

const (
	leads    role = "leads"     // calls Lead once
	runsOnce role = "runs once" // calls Once, once
)

// Runner is a [Client] that also elects leaders and runs jobs once.
type Runner interface {
	Client
	// Lead calls f for every term in which this process leads, until ctx ends.
	Lead(ctx context.Context, name string, f func(context.Context, Lease) error) error
	// Once calls f if no other process has run the job of the lock yet.
	Once(ctx context.Context, name string, f func(context.Context, Lease) error) error
}

// play uses the lock as the role says until stdin ends.
func (r role) play(ctx context.Context, client Client, o order, tell teller) error {
	if r == "" {
		return turns(ctx, client, o, tell)
	}
	runner, ok := client.(Runner)
	if !ok {
		return fmt.Errorf("%s has no role %q", o.Subject, r)
	}
	call := runner.Once
	if r == leads {
		call = runner.Lead
	}
	asked := clock()
	if err := tell.Encode(event{Kind: asking, From: asked}); err != nil {
		return err
	}
	err := call(ctx, o.Lock, func(_ context.Context, lease Lease) error {
		granted := clock()
		if err := tell.Encode(event{Kind: acquired, From: asked, To: granted, Fence: lease.Fence()}); err != nil {
			return err
		}
		known, lost, err := hold(ctx, lease, o.Hold, granted, tell)
		if err != nil {
			return err
		}
		asked = clock() // for the next term
		return tell.Encode(event{Kind: ended, From: granted, To: known, Fence: lease.Fence(), Lost: lost})
	})
	e := event{Kind: returned, From: asked, To: clock(), Early: ctx.Err() == nil}
	if err != nil {
		e.Error = err.Error()
	}
	return tell.Encode(e)
}
