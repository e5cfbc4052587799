package server

import (
	"context"
	"errors"
	"time"

	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

// traceCache keeps traces: the ids of a log are often of one process and one second, for
// which the registry gives the same answer.
type traceCache struct {
	known  recent[traceKey, wire.Trace]
	others recent[traceKey, wire.Trace] // apart: anyone can think of ids that are not known
}

// traceKey is what a trace depends on: the seconds of an id and its process value.
type traceKey [9]byte

// maxTraces bounds the known ones, and as many others.
const maxTraces = 1000

// get returns the trace of an id, if it is kept.
func (c *traceCache) get(id objectid.ID, now time.Time) (wire.Trace, bool) {
	t, ok := c.known.get(traceKey(id[:9]), now)
	if !ok {
		t, ok = c.others.get(traceKey(id[:9]), now)
	}
	t.ID = id
	return t, ok
}

// put keeps the trace of an id that was asked for at a time.
func (c *traceCache) put(id objectid.ID, t wire.Trace, asked time.Time) {
	to, from := &c.known, &c.others
	if t.Verdict != string(registry.Known) {
		to, from = from, to
	}
	if to.put(traceKey(id[:9]), t, asked, maxTraces) {
		from.drop(traceKey(id[:9]))
	}
}

// forget drops all: the registry was changed.
func (c *traceCache) forget() {
	c.known.forget()
	c.others.forget()
}

// wireTrace returns the trace of an id, at most recentLife old.
func (s *Server) wireTrace(ctx context.Context, id objectid.ID) (wire.Trace, error) {
	asked := time.Now()
	if t, ok := s.traces.get(id, asked); ok {
		return t, nil
	}
	found, err := s.trace(ctx, id)
	if err != nil {
		return wire.Trace{}, err
	}
	t := towire.Trace(found)
	s.traces.put(id, t, asked)
	return t, nil
}

func (s *Server) trace(ctx context.Context, id objectid.ID) (registry.Trace, error) {
	return ask(ctx, s.backend, "trace", func(ctx context.Context, r *registry.Registry) (registry.Trace, error) {
		return r.Trace(ctx, id)
	})
}

// pageTrace returns the trace of an ObjectId, and nil for other ids and without a
// registry. It remembers unknown process values in unknown.
func (s *Server) pageTrace(ctx context.Context, text string, unknown map[string]wire.Trace) (*wire.Trace, error) {
	id, err := objectid.Parse(text)
	if err != nil || id.IsZero() {
		return nil, nil // of another format, or no id
	}
	value := text[8:18]
	if t, ok := unknown[value]; ok {
		return &t, nil
	}
	t, err := s.wireTrace(ctx, id)
	if errors.Is(err, errNoStore) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if t.Verdict == string(registry.Unknown) && t.Classic == nil && len(unknown) < maxUnknown {
		unknown[value] = t
	}
	return &t, nil
}
