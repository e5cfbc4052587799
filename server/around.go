package server

import (
	"context"
	"strconv"
	"time"

	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/page"
)

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
