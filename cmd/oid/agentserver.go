package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/registry/agent"
	"github.com/oidkit/oid/server/client"
	"github.com/oidkit/oid/server/wire"
)

// toServer is the sink of an agent that sends processes to a server.
type toServer struct{ client *client.Client }

// oldest is the highest age that a server takes.
const oldest = 7 * 24 * time.Hour

// Register is [agent.Sink.Register].
func (t toServer) Register(ctx context.Context, r agent.Registration, samples []objectid.ID, layout objectid.Layout) (registry.MemberKey, error) {
	got, err := t.client.Register(ctx, wire.Registration{
		Key: r.Key, Address: r.GPID.Addr().String(), PID: uint32(r.GPID.PID()), Started: r.GPID.Start(), Name: r.Name, Version: r.Version, Host: r.Host,
		Samples: samples, Layout: layout.String(), IntervalSeconds: r.Interval.Seconds(), Kernel: towire.Kernel(r.Kernel), Executable: r.Executable, Clock: time.Now(),
		AgeSeconds: min(max(0, time.Since(r.Since)), oldest).Seconds(),
	})
	if err != nil {
		return "", serverError(err)
	}
	if len(got.Rivals) > 0 {
		err = fmt.Errorf("another live process has the same process value: %s", got.Rivals[0])
	}
	return registry.MemberKey(got.Member), err
}

// AddSamples is [agent.Sink.AddSamples].
func (t toServer) AddSamples(ctx context.Context, member registry.MemberKey, samples []objectid.ID, layout objectid.Layout) error {
	_, err := t.client.AddSamples(ctx, string(member), layout.String(), samples...)
	return serverError(err)
}

// Heartbeats is [agent.Sink.Heartbeats].
func (t toServer) Heartbeats(ctx context.Context, beats []agent.Heartbeat) []error {
	all := make([]wire.HeartbeatOf, len(beats))
	errs := make([]error, len(beats))
	for i, b := range beats {
		all[i] = wire.HeartbeatOf{Member: string(b.Member), Heartbeat: wire.Heartbeat{
			Load: towire.Load(b.Load), Clock: time.Now().Add(-b.Age),
		}, AgeSeconds: min(b.Age, oldest).Seconds()}
	}
	got, err := t.client.Heartbeats(ctx, all)
	problems := map[string]error{}
	for _, p := range got.Problems {
		if len(p.Rivals) == 0 {
			problems[p.Member] = serverError(&client.Error{Status: p.Status, Detail: p.Detail})
		}
	}
	for i, b := range all {
		if errs[i] = problems[b.Member]; err != nil { // which says nothing of one of them
			errs[i] = err
		}
	}
	return errs
}

// End is [agent.Sink.End].
func (t toServer) End(ctx context.Context, member registry.MemberKey, reason string, age time.Duration) error {
	return serverError(t.client.EndAgo(ctx, string(member), reason, min(age, oldest)))
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
