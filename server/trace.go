package server

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/page"
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

// aroundTime is how long before and after its creation the page of an id shows the load
// of its process.
const aroundTime = 10 * time.Minute

// maxArounds is how many of them are kept.
const maxArounds = 100

// aroundKey is a member and a second.
type aroundKey struct {
	member string
	second int64
}

// addLoad adds the load of the process at the creation time, from the sample before it,
// or else the one after it.
func addLoad(in *page.Inspected) {
	t := in.Trace
	if t == nil || t.Before == nil && t.After == nil {
		return
	}
	sample := t.Before
	if sample == nil {
		sample = t.After
	}
	if t.Processors != nil {
		in.Load = append(in.Load, strconv.FormatFloat(*t.Processors, 'g', 2, 64)+" processors")
	}
	in.Load = append(in.Load, towire.LoadTexts(towire.FromLoad(sample.Load))...)
}

// lookAround adds what the page of a single id shows beside it: the load of its process
// around its creation, and queries for its second. Without an answer of the store it adds
// no load.
func (s *Server) lookAround(ctx context.Context, in *page.Inspected) {
	if _, err := objectid.Parse(in.ID); err != nil || in.Time == nil {
		return
	}
	second := in.Time.Truncate(time.Second)
	in.Queries = towire.Range(objectid.Between(second, second.Add(time.Second)), "_id", "").Queries
	if in.Trace == nil || len(in.Load) == 0 || len(in.Trace.Processes) != 1 {
		return
	}
	p := in.Trace.Processes[0]
	in.Interval = time.Duration(p.IntervalSeconds * float64(time.Second))
	key, asked := aroundKey{p.Member, second.Unix()}, time.Now()
	if around, ok := s.arounds.get(key, asked); ok {
		in.Around = around
		return
	}
	samples, err := ask(ctx, s.backend, "around", func(ctx context.Context, r *registry.Registry) (all []registry.Sample, err error) {
		for sample, err := range r.History(ctx, registry.MemberKey(p.Member), second.Add(-aroundTime), second.Add(aroundTime)) {
			if err != nil {
				return nil, err
			}
			all = append(all, sample)
		}
		return all, nil
	})
	if err == nil {
		in.Around = loadSeries(samples)
		s.arounds.put(key, in.Around, asked, maxArounds)
	}
}
