package server

import (
	"context"
	"strconv"
	"time"

	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/page"
	"github.com/oidkit/oid/server/wire"
)

// traceKey is what a trace depends on: the seconds of an id and its process value. The ids
// of a log are often of one process and one second.
type traceKey [9]byte

// maxTraces bounds the traces of known ids that are kept, and as many others.
const maxTraces = 1000

// wireTrace returns the trace of an id, at most recentLife old. Those of known ids are kept
// apart: anyone can think of others.
func (s *Server) wireTrace(ctx context.Context, id objectid.ID) (wire.Trace, error) {
	asked, key := time.Now(), traceKey(id[:9])
	t, ok := s.known.get(key, asked)
	if !ok {
		t, ok = s.unknown.get(key, asked)
	}
	if ok {
		t.ID = id
		return t, nil
	}
	found, err := s.trace(ctx, id)
	if err != nil {
		return wire.Trace{}, err
	}
	kept := &s.known
	if found.Verdict != registry.Known {
		kept = &s.unknown
	}
	t = towire.Trace(found)
	kept.put(key, t, asked, maxTraces)
	return t, nil
}

// aroundTime is how long before and after its creation the page of an id shows the load
// of its process.
const aroundTime = 10 * time.Minute

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
	found, err := ask(ctx, s.backend, "around", func(ctx context.Context, r *registry.Registry) ([]registry.Sample, error) {
		return samples(ctx, r, registry.MemberKey(p.Member), second.Add(-aroundTime), second.Add(aroundTime), maxSamples)
	})
	if err == nil {
		in.Around = loadSeries(found)
	}
}
