package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// ToRegistry returns the sink that records processes in a registry.
func ToRegistry(r *registry.Registry) Sink { return toRegistry{r} }

// toRegistry has the method Heartbeats of the registry.
type toRegistry struct{ *registry.Registry }

// Register is [Sink.Register].
func (t toRegistry) Register(ctx context.Context, g gpid.GPID, samples []objectid.ID, layout objectid.Layout, o *registry.RemoteOptions) (member registry.MemberKey, err error) {
	p, err := t.AdoptRemote(ctx, g, samples, layout, o)
	if err == nil || errors.Is(err, registry.ErrCollision) {
		member = p.Key()
	}
	return member, err
}

// AddSamples is [Sink.AddSamples].
func (t toRegistry) AddSamples(ctx context.Context, member registry.MemberKey, samples []objectid.ID, layout objectid.Layout) error {
	_, err := t.Registry.AddSamples(ctx, member, samples, layout)
	return err
}

// End is [Sink.End].
func (t toRegistry) End(ctx context.Context, member registry.MemberKey, reason string, age time.Duration) error {
	_, err := t.EndAgo(ctx, member, reason, age)
	return err
}

// sinkError returns an error of the registry as [ErrRefused] or [ErrForgotten], if it is
// one of them, and nil for a collision: the call is recorded.
func sinkError(err error) error {
	switch {
	case errors.Is(err, registry.ErrCollision):
		return nil
	case errors.Is(err, registry.ErrSample), errors.Is(err, gpid.ErrInvalid), errors.Is(err, registry.ErrSelfManaged), errors.Is(err, registry.ErrKey):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	case errors.Is(err, store.ErrNotFound), errors.Is(err, registry.ErrEnded):
		return fmt.Errorf("%w: %w", ErrForgotten, err)
	}
	return err
}
