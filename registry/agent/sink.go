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

type toRegistry struct{ registry *registry.Registry }

// Register is [Sink.Register].
func (t toRegistry) Register(ctx context.Context, r Registration, samples []objectid.ID, layout objectid.Layout) (registry.MemberKey, error) {
	p, err := t.registry.AdoptRemote(ctx, r.GPID, samples, layout, &registry.RemoteOptions{
		Name: r.Name, Host: r.Host, Version: r.Version, Interval: r.Interval, Clock: time.Now(), Key: r.Key,
		Kernel: r.Kernel, Program: r.Program, Executable: r.Executable, Age: max(0, time.Since(r.Since)),
	})
	if err == nil || errors.Is(err, registry.ErrCollision) {
		return p.Key(), err
	}
	return "", sinkError(err)
}

// AddSamples is [Sink.AddSamples].
func (t toRegistry) AddSamples(ctx context.Context, member registry.MemberKey, samples []objectid.ID, layout objectid.Layout) error {
	_, err := t.registry.AddSamples(ctx, member, samples, layout)
	return sinkError(err)
}

// Heartbeats is [Sink.Heartbeats].
func (t toRegistry) Heartbeats(ctx context.Context, beats []Heartbeat) []error {
	all := make([]registry.RemoteHeartbeat, len(beats))
	for i, b := range beats {
		all[i] = registry.RemoteHeartbeat{Member: b.Member, Load: b.Load, Clock: time.Now().Add(-b.Age), Age: b.Age}
	}
	errs := t.registry.Heartbeats(ctx, all)
	for i, err := range errs {
		errs[i] = sinkError(err)
	}
	return errs
}

// End is [Sink.End].
func (t toRegistry) End(ctx context.Context, member registry.MemberKey, reason string, age time.Duration) error {
	_, err := t.registry.EndAgo(ctx, member, reason, age)
	return sinkError(err)
}

// sinkError returns an error of the registry as one of a sink.
func sinkError(err error) error {
	switch {
	case err == nil || errors.Is(err, registry.ErrCollision): // it is recorded
		return nil
	case errors.Is(err, registry.ErrSample), errors.Is(err, gpid.ErrInvalid), errors.Is(err, registry.ErrSelfManaged), errors.Is(err, registry.ErrKey):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	case errors.Is(err, store.ErrNotFound), errors.Is(err, registry.ErrEnded):
		return fmt.Errorf("%w: %w", ErrForgotten, err)
	}
	return err
}
