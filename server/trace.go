package server

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// trace returns the trace of an id, perhaps one of up to a second ago.
func (s *Server) trace(ctx context.Context, id objectid.ID) (registry.Trace, error) {
	if c := s.backend.connected.Load(); c != nil {
		if t, ok := c.tracer.Remembered(id); ok {
			return t, nil
		}
	}
	return askConnected(ctx, s.backend, "trace", func(ctx context.Context, c *connected) (registry.Trace, error) {
		return c.tracer.Trace(ctx, id)
	})
}

// aroundTime is for how long before and after the creation of an id the page shows the load
// of the process that created it.
const aroundTime = 10 * time.Minute

// addLoad adds the load of the process at the creation time: the sample before it or, if
// there is none, the sample after it.
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

// lookAround adds what the page shows for a single id: the load of its process around its
// creation. If the store does not answer, it adds nothing.
func (s *Server) lookAround(ctx context.Context, in *page.Inspected) {
	if in.Trace == nil || len(in.Load) == 0 || len(in.Trace.Processes) != 1 {
		return
	}
	second := in.Time.Truncate(time.Second)
	p := in.Trace.Processes[0]
	in.Interval = time.Duration(p.IntervalSeconds * float64(time.Second))
	found, err := ask(ctx, s.backend, "around", func(ctx context.Context, r *registry.Registry) ([]registry.Sample, error) {
		return readSamples(ctx, r, registry.MemberKey(p.Member), second.Add(-aroundTime), second.Add(aroundTime), maxSamples)
	})
	if err == nil {
		in.Around = loadSeries(found)
	}
}

// recent caches answers of the registry for recentLife. Changes that this server writes to
// the registry are seen at once, because it calls forget. Changes by others are seen when
// recentLife has passed. The zero value is ready to use.
type recent[K comparable, V any] struct {
	mu      sync.Mutex
	kept    map[K]recentAnswer[V]
	changed time.Time // when forget was last called
}

type recentAnswer[V any] struct {
	value V
	until time.Time
}

const recentLife = time.Second

// get returns the cached answer to k.
func (c *recent[K, V]) get(k K, now time.Time) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.kept[k]
	if !ok || now.After(a.until) {
		return v, false
	}
	return a.value, true
}

// put caches the answer v to k, which was asked at a time. If the registry has changed
// since, it does nothing. The cache has at most size answers; when it is full, put empties
// it first.
func (c *recent[K, V]) put(k K, v V, asked time.Time, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !asked.After(c.changed) {
		return
	}
	if c.kept == nil || len(c.kept) >= size {
		c.kept = make(map[K]recentAnswer[V])
	}
	c.kept[k] = recentAnswer[V]{v, asked.Add(recentLife)}
}

// forget empties the cache, because the registry has changed.
func (c *recent[K, V]) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.kept)
	c.changed = time.Now()
}
