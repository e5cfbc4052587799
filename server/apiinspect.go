package server

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

type inspectInput struct {
	ID     string `path:"id" minLength:"1" maxLength:"200" example:"507f1f77bcf86cd799439011" doc:"An id: ObjectId, UUID, ULID, KSUID, xid or Snowflake."`
	Layout string `query:"layout" enum:"modern,classic,java" doc:"The layout that the maker of an ObjectId is known to use."`
	Trace  bool   `query:"trace" default:"true" doc:"Whether to ask the registry who made it."`
}

func (s *Server) addInspect(api huma.API) {
	op := operation(http.MethodGet, "/v1/ids/{id}", "inspectID", "Inspect an id",
		"Tells when an id was made, what its other bytes say under every layout, and which process made it.",
		http.StatusNotFound)
	huma.Register(api, op, func(ctx context.Context, in *inspectInput) (*answer[wire.Inspection], error) {
		var o inspect.Options
		if in.Layout != "" {
			o.Layout = new(objectid.Layout)
			if err := o.Layout.UnmarshalText([]byte(in.Layout)); err != nil {
				return nil, s.problem(ctx, requestError{err})
			}
		}
		out, err := s.inspect(ctx, in.ID, &o, in.Trace)
		if errors.Is(err, inspect.ErrUnknown) { // there may be something around it, as in ObjectId("...")
			if found := slices.Collect(inspect.ScanString(in.ID)); len(found) == 1 && found[0].Err == nil {
				out, err = s.inspect(ctx, found[0].Text, &o, in.Trace)
			}
		}
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return &answer[wire.Inspection]{out}, nil
	})
}

// inspect tells what an id says and, if it is an ObjectId and traced is set, who
// made it.
func (s *Server) inspect(ctx context.Context, id string, o *inspect.Options, traced bool) (wire.Inspection, error) {
	if s.options.ownClock {
		o.Now = s.options.Now
	}
	report, err := inspect.Inspect(id, o)
	out := wire.Inspection{Report: report}
	if err != nil || !traced || s.options.Open == nil {
		return out, err
	}
	oid, err := objectid.Parse(report.ID)
	if err != nil {
		return out, nil // an id of another format
	}
	trace, err := s.trace(ctx, oid)
	if err != nil {
		out.TraceError = err.Error()
	} else {
		out.Trace = &trace
	}
	return out, nil
}

func (s *Server) trace(ctx context.Context, id objectid.ID) (registry.Trace, error) {
	return ask(ctx, s.backend, "trace", func(ctx context.Context, r *registry.Registry) (registry.Trace, error) {
		return r.Trace(ctx, id)
	})
}
