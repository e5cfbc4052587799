package server

import (
	"cmp"
	"context"
	"encoding/binary"
	"hash/fnv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/oidkit/oid/internal/plot"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/page"
)

const (
	overviewLife = time.Second            // requests share an overview for so long
	overviewWait = 250 * time.Millisecond // a page does not wait longer for one
	countedOver  = 1000                   // so many ended processes are counted
	dayPoints    = 96                     // of the last day, a quarter of an hour apart
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
	return cmp.Or(o.latest.Load(), &page.Overview{Time: time.Now()})
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
	if reports := s.reports.all(); len(reports) > 0 {
		out.Census = &reports[0]
	}
	out.Time = time.Now()
	s.site.Prepare(out)
	return out
}

// life is the time from the start of a process until it was last known to be alive.
type life struct{ from, until time.Time }

// aliveOver returns how many of all were alive at each of the points of the day that
// ends now.
func aliveOver(all []life, now time.Time) []plot.Point {
	out := make([]plot.Point, dayPoints+1)
	for i := range out {
		out[i].Time = now.Add(-24 * time.Hour * time.Duration(dayPoints-i) / dayPoints)
		for _, l := range all {
			if !l.from.After(out[i].Time) && !l.until.Before(out[i].Time) {
				out[i].Value++
			}
		}
	}
	return out
}

// countProcesses counts those that are there now, and those that have ended since a day.
func countProcesses(ctx context.Context, r *registry.Registry) (n page.Counted, err error) {
	sum := fnv.New64a()
	living, err := r.Page(ctx, registry.Query{States: []registry.State{registry.Alive, registry.Late}, Limit: 1000})
	if err != nil {
		return n, err
	}
	now := time.Now()
	var lives []life
	for _, p := range living.Processes {
		l := life{p.GPID.Start(), now}
		if p.State == registry.Late {
			n.Late++
			l.until = p.Last.Time
		} else {
			n.Alive++
		}
		lives = append(lives, l)
		_, _ = sum.Write([]byte(p.GPID.String() + string(p.State)))
		_ = binary.Write(sum, binary.BigEndian, p.Last.Time.UnixNano())
	}
	if living.Next != "" {
		if n.Alive, err = r.CountLiving(ctx); err != nil {
			return n, err
		}
		n.Alive -= n.Late
	}
	over, err := r.Page(ctx, registry.Query{States: []registry.State{registry.Dead, registry.Ended}, Limit: countedOver})
	if err != nil {
		return n, err
	}
	for _, p := range over.Processes {
		if now.Sub(p.Until) < 24*time.Hour {
			n.Over++
			l := life{p.GPID.Start(), p.Last.Time}
			if p.State == registry.Ended {
				l.until = p.Until
			}
			lives = append(lives, l)
		}
		_, _ = sum.Write([]byte(p.GPID.String() + string(p.State)))
	}
	n.MoreOver = n.Over == countedOver
	if living.Next == "" && !n.MoreOver {
		n.Day = aliveOver(lives, now)
	}
	n.State = sum.Sum64()
	return n, nil
}
