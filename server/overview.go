package server

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"sync"
	"time"

	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

// overview is what goes on among the processes and locks.
type overview struct {
	Processes   *counted    // nil if the store does not answer
	Locks       []wire.Lock // those that are held
	hasLocks    bool        // the server shows locks
	LocksKnown  bool
	locks       uint64 // a hash: another one shows that a lock has changed
	refreshed   time.Time
	haveRefresh bool
}

// counted is how many processes there are.
type counted struct {
	Alive, Late, Over int64 // Over: ended or dead since a day
	MoreOver          bool
	hash              uint64 // another one shows that a process has changed
}

const (
	overviewLife = time.Second            // requests share an overview for so long
	overviewWait = 250 * time.Millisecond // a page does not wait longer for one
	countedOver  = 1000                   // so many ended processes are counted
)

// overviews keeps the latest overview.
type overviews struct {
	mu      sync.Mutex
	latest  overview
	refresh chan struct{} // is closed at the end of the refresh in progress; nil without one
}

// overview returns an overview that is at most a second old, or an older one if the
// store takes long to answer.
func (s *Server) overview(ctx context.Context) overview {
	o := &s.overviews
	o.mu.Lock()
	if o.latest.haveRefresh && time.Since(o.latest.refreshed) < overviewLife {
		defer o.mu.Unlock()
		return o.latest
	}
	if o.refresh == nil {
		done := make(chan struct{})
		o.refresh = done
		go func() {
			fresh := s.look()
			o.mu.Lock()
			defer o.mu.Unlock()
			o.latest, o.refresh = fresh, nil
			close(done)
		}()
	}
	done := o.refresh
	o.mu.Unlock()
	wait := time.NewTimer(overviewWait)
	defer wait.Stop()
	select {
	case <-done:
	case <-wait.C:
	case <-ctx.Done():
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.latest
}

// look asks the store and the locks.
func (s *Server) look() overview {
	out := overview{haveRefresh: true}
	ctx := context.Background() // it is shared; ask limits its time
	n, err := ask(ctx, s.backend, "overview", countProcesses)
	if err == nil {
		out.Processes = &n
	}
	if out.hasLocks = s.options.OpenLocks != nil; out.hasLocks {
		out.Locks, err = s.locks.list(ctx)
		out.LocksKnown = err == nil
		out.locks = hashOf(out.Locks)
	}
	out.refreshed = time.Now()
	return out
}

// countProcesses counts those that are there now, and those that have ended since a day.
func countProcesses(ctx context.Context, r *registry.Registry) (n counted, err error) {
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
		if time.Since(p.Until) < 24*time.Hour {
			n.Over++
		}
		_, _ = sum.Write([]byte(p.GPID.String() + string(p.State)))
	}
	n.MoreOver = n.Over == countedOver
	n.hash = sum.Sum64()
	return n, nil
}
