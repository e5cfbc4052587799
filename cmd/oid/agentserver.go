package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/oidkit/oid/gpid"
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
func (t toServer) Register(ctx context.Context, g gpid.GPID, samples []objectid.ID, layout objectid.Layout, o *registry.RemoteOptions) (registry.MemberKey, error) {
	got, err := t.client.Register(ctx, wire.Registration{
		Key: o.Key, Address: g.Addr().String(), PID: uint32(g.PID()), Started: g.Start(), Name: o.Name, Version: o.Version, Host: o.Host,
		Samples: samples, Layout: layout.String(), IntervalSeconds: o.Interval.Seconds(), Kernel: towire.Kernel(o.Kernel), Executable: o.Executable, Clock: o.Clock,
		AgeSeconds: min(o.Age, oldest).Seconds(),
	})
	if err != nil {
		return "", serverError(err)
	}
	if len(got.Rivals) > 0 {
		err = fmt.Errorf("another live process is recorded with the same process value: %s", got.Rivals[0])
	}
	return registry.MemberKey(got.Member), err
}

// AddSamples is [agent.Sink.AddSamples].
func (t toServer) AddSamples(ctx context.Context, member registry.MemberKey, samples []objectid.ID, layout objectid.Layout) error {
	_, err := t.client.AddSamples(ctx, string(member), layout.String(), samples...)
	return serverError(err)
}

// Heartbeats is [agent.Sink.Heartbeats].
func (t toServer) Heartbeats(ctx context.Context, beats []registry.RemoteHeartbeat) []error {
	all := make([]wire.HeartbeatOf, len(beats))
	errs := make([]error, len(beats))
	for i, b := range beats {
		all[i] = wire.HeartbeatOf{Member: string(b.Member), Heartbeat: wire.Heartbeat{
			Load: towire.Load(b.Load), Clock: b.Clock,
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
