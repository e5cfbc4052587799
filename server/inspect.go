package server

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/paste"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/page"
	"github.com/oidkit/oid/server/wire"
)

type inspectInput struct {
	ID     string     `path:"id" minLength:"1" maxLength:"200" example:"507f1f77bcf86cd799439011" doc:"An id: ObjectId, UUID, ULID, KSUID, xid, Snowflake, TypeID, CUID2, push id or gpid."`
	Layout layoutName `query:"layout" doc:"The layout of an ObjectId, if it is known."`
	Trace  bool       `query:"trace" default:"true" doc:"Whether to look up the process that created it."`
}

func (s *Server) inspectID(api huma.API, at route) {
	op := operation(at, tagIDs, "inspectID", "Inspect an id",
		"Returns the creation time of an id, its fields under every layout, and the process that created it.",
		http.StatusNotFound)
	handle(s, api, op, func(ctx context.Context, in *inspectInput) (wire.Inspection, error) {
		var o inspect.Options
		if in.Layout != "" {
			o.Layout = new(objectid.Layout)
			if err := o.Layout.UnmarshalText([]byte(in.Layout)); err != nil {
				return wire.Inspection{}, requestError{err}
			}
		}
		out, err := s.inspect(ctx, in.ID, &o, in.Trace)
		if errors.Is(err, inspect.ErrUnknown) { // the id may be wrapped, as in ObjectId("...")
			if found := slices.Collect(paste.ScanString(in.ID)); len(found) == 1 && found[0].Err == nil {
				out, err = s.inspect(ctx, found[0].Text, &o, in.Trace)
			}
		}
		return out, err
	})
}

// inspect reads an id and, if it is an ObjectId and traced is set, looks up the
// process that created it.
func (s *Server) inspect(ctx context.Context, id string, o *inspect.Options, traced bool) (wire.Inspection, error) {
	if s.options.ownClock {
		o.Now = s.options.Now
	}
	o.Hosts = s.hosts
	report, err := inspect.Inspect(id, o)
	if err != nil {
		return wire.Inspection{}, err
	}
	out := towire.Inspection(report)
	if !traced || s.options.Open == nil {
		return out, nil
	}
	oid, err := objectid.Parse(report.ID)
	if err != nil || oid.IsZero() {
		return out, nil // of another format, or no id
	}
	trace, err := s.wireTrace(ctx, oid)
	if err != nil {
		out.TraceError = err.Error()
		return out, nil
	}
	if trace.Classic != nil { // of a recorded host
		o.Hosts = []string{trace.Classic.Host}
		if report, err := inspect.Inspect(id, o); err == nil {
			out = towire.Inspection(report)
		}
	}
	out.Trace = &trace
	dropContradicted(&out)
	return out, nil
}

// dropContradicted removes the readings of an ObjectId that the registry contradicts: a
// process that owns the block of an id has created it in the modern layout.
func dropContradicted(in *wire.Inspection) {
	t := in.Trace
	if t == nil || t.Verdict != string(registry.Known) || len(t.Processes) != 1 || t.Processes[0].ProcessBlock == "" {
		return
	}
	modern := objectid.Modern.String()
	in.Readings = slices.DeleteFunc(in.Readings, func(r wire.Reading) bool { return r.Format == page.FormatObjectID && r.Variant != modern })
}
