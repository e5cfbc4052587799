package server

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/internal/page"
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
	if t.Processors != nil {
		in.Load = append(in.Load, strconv.FormatFloat(*t.Processors, 'g', 2, 64)+" processors")
	}
	in.Load = append(in.Load, towire.LoadTexts(towire.FromLoad(cmp.Or(t.Before, t.After).Load))...)
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
		return readSamples(ctx, r, registry.MemberKey(p.Member), second.Add(-aroundTime), second.Add(aroundTime), maxSamples)
	})
	if err == nil {
		in.Around = loadSeries(found)
	}
}

// claimed keeps by which process values ids can be traced, while many ids are asked for that
// nobody has created: for each of them this takes the place of a trace. The zero value is
// ready for use.
type claimed struct {
	recent[struct{}, *registry.ClaimedValues]
	unknown atomic.Int64 // traces without a process since they were read
	worth   atomic.Int64 // how many traces take as long as to read them again: after so many that is done
}

const (
	// newest is how long after its creation an id is always traced, so that a process that
	// was registered a moment ago is found. It is more than the clocks of two hosts differ.
	newest = time.Minute

	maxClaimed     = 10_000 // claims are read up to so many, which takes about 20 ms
	claimedInTrace = 16     // so many at least are read in the time of a trace
	fewUnknown     = 16     // traces
)

// trace asks the registry for the trace of an id, unless it is known that nobody has
// claimed its process value.
func (s *Server) trace(ctx context.Context, id objectid.ID) (registry.Trace, error) {
	c := &s.claimed
	if id.Time().Before(s.options.Now().Add(-newest)) {
		values, _ := c.get(struct{}{}, time.Now())
		if t, ok := values.Trace(id); ok {
			return t, nil
		}
	}
	t, err := ask(ctx, s.backend, "trace", func(ctx context.Context, r *registry.Registry) (registry.Trace, error) {
		return r.Trace(ctx, id)
	})
	if err == nil && t.Verdict == registry.Unknown && c.unknown.Add(1) == max(c.worth.Load(), fewUnknown) {
		s.readClaimed(ctx)
	}
	return t, err
}

// readClaimed reads by which process values ids can be traced.
func (s *Server) readClaimed(ctx context.Context) {
	c, asked, worth := &s.claimed, time.Now(), 0
	values, err := ask(ctx, s.backend, "claimed", func(ctx context.Context, r *registry.Registry) (*registry.ClaimedValues, error) {
		return r.ClaimedValues(ctx, maxClaimed)
	})
	switch {
	case values != nil:
		c.put(struct{}{}, values, asked, 1)
		worth = values.Len() / claimedInTrace
	case err == nil: // they are too many, and will be for a while
		worth = maxClaimed
	}
	c.worth.Store(int64(worth))
	c.unknown.Store(0)
}

// recent keeps answers of the registry for a moment. What another server or program
// writes to the registry is seen when recentLife has passed, and what this server writes
// at once. The zero value is ready for use.
type recent[K comparable, V any] struct {
	mu      sync.Mutex
	kept    map[K]recentAnswer[V]
	changed time.Time // when forget was called last
}

type recentAnswer[V any] struct {
	value V
	until time.Time
}

const recentLife = time.Second

// get returns the answer to a question, if it is kept.
func (c *recent[K, V]) get(k K, now time.Time) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.kept[k]
	if !ok || now.After(a.until) {
		return v, false
	}
	return a.value, true
}

// put keeps the answer to a question that was asked at a time, with at most as many
// others, unless the registry has changed since.
func (c *recent[K, V]) put(k K, v V, asked time.Time, others int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !asked.After(c.changed) {
		return
	}
	if c.kept == nil || len(c.kept) >= others {
		c.kept = make(map[K]recentAnswer[V])
	}
	c.kept[k] = recentAnswer[V]{v, asked.Add(recentLife)}
}

// forget drops all: the registry was changed.
func (c *recent[K, V]) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.kept)
	c.changed = time.Now()
}
