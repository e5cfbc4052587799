package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry/agent"
	"github.com/oidkit/oid/server/client"
	"github.com/oidkit/oid/server/wire"
)

// toServer is the sink of an agent that sends processes to a server.
type toServer struct{ client *client.Client }

// Register is [agent.Sink.Register].
func (t toServer) Register(ctx context.Context, r agent.Registration, samples []objectid.ID, layout objectid.Layout) (string, error) {
	got, err := t.client.Register(ctx, wire.Registration{
		Address: r.GPID.Addr().String(), PID: uint32(r.GPID.PID()), Started: r.GPID.Start(), Name: r.Name, Version: r.Version, Host: r.Host,
		Samples: samples, Layout: layout.String(), IntervalSeconds: r.Interval.Seconds(),
	})
	if err != nil {
		return "", serverError(err)
	}
	if len(got.Rivals) > 0 {
		err = fmt.Errorf("another live process has the same process value: %s", got.Rivals[0])
	}
	return got.GPID, err
}

// AddSamples is [agent.Sink.AddSamples].
func (t toServer) AddSamples(ctx context.Context, member string, samples []objectid.ID, layout objectid.Layout) error {
	_, err := t.client.AddSamples(ctx, member, layout.String(), samples...)
	return serverError(err)
}

// Heartbeats is [agent.Sink.Heartbeats].
func (t toServer) Heartbeats(ctx context.Context, beats []agent.Heartbeat) []error {
	errs := make([]error, len(beats))
	for i, b := range beats {
		_, err := t.client.Heartbeat(ctx, b.Member, towire.Load(b.Load))
		errs[i] = serverError(err)
	}
	return errs
}

// End is [agent.Sink.End].
func (t toServer) End(ctx context.Context, member, reason string, age time.Duration) error {
	return serverError(t.client.End(ctx, member, reason))
}

// serverError returns an error of the server as one of a sink.
func serverError(err error) error {
	problem, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	switch problem.Status {
	case http.StatusNotFound, http.StatusConflict:
		return fmt.Errorf("%w: %w", agent.ErrForgotten, err)
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %w", agent.ErrRefused, err)
	}
	return err
}
