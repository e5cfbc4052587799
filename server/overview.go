package server

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/page"
)

const (
	overviewLife = time.Second            // requests share an overview for so long
	overviewWait = 250 * time.Millisecond // a page does not wait longer for one
)

// overviews keeps the latest overview.
type overviews struct {
	latest atomic.Pointer[page.Overview] // nil before the first
	looks  singleflight.Group            // requests share a look, too
}

// overview returns an overview that is at most a second old, or an older one if the
// store takes long to answer.
func (s *Server) overview(ctx context.Context) *page.Overview {
	o := &s.overviews
	if latest := o.latest.Load(); latest != nil && time.Since(latest.Time) < overviewLife {
		return latest
	}
	looked := o.looks.DoChan("", func() (any, error) {
		o.latest.Store(s.look())
		return nil, nil
	})
	select {
	case <-looked:
	case <-time.After(overviewWait):
	case <-ctx.Done():
	}
	latest := o.latest.Load()
	if latest == nil {
		latest = &page.Overview{Time: time.Now()}
		s.site.Prepare(latest)
	}
	return latest
}

// look asks the store and the locks.
func (s *Server) look() *page.Overview {
	out := &page.Overview{}
	ctx := context.Background() // it is shared; ask limits its time
	n, err := ask(ctx, s.backend, "overview", countProcesses)
	if err == nil {
		out.Processes, out.State = &n, n.State
	}
	if s.options.OpenLocks != nil {
		if out.Locks, err = s.locks.list(ctx); err == nil {
			out.LocksKnown = true
			out.State ^= hashOf(out.Locks)
		}
	}
	out.Time = time.Now()
	s.site.Prepare(out)
	return out
}

// countProcesses counts those that are alive or late.
func countProcesses(ctx context.Context, r *registry.Registry) (n page.Counted, err error) {
	sum := fnv.New64a()
	living, err := r.Page(ctx, registry.Query{States: []registry.State{registry.Alive, registry.Late}, Limit: 1000})
	if err != nil {
		return n, err
	}
	for _, p := range living.Processes {
		if p.State == registry.Late {
			n.Late++
		} else {
			n.Alive++
		}
		_, _ = sum.Write([]byte(p.GPID.String() + string(p.State)))
		_ = binary.Write(sum, binary.BigEndian, p.Last.Time.UnixNano())
	}
	if living.Next != "" {
		n.Alive, err = r.CountLiving(ctx)
		n.Alive -= n.Late
	}
	n.State = sum.Sum64()
	return n, err
}
