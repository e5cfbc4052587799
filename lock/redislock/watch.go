package redislock

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/holder"
)

// watch looks after the holder of one lock, for all waiters of this process: when the
// kernel says that a holder on this host has ended, it releases the lock.
type watch struct {
	waiters []*request // in the order of the queue
	value   value      // as last seen
	stop    context.CancelFunc
}

// see takes the value of the lock that r waits for.
func (q *queue) see(r *request, v value) {
	q.mu.Lock()
	defer q.mu.Unlock()
	one := q.watches[r.name]
	if one == nil {
		one = &watch{stop: func() {}}
		q.watches[r.name] = one
	}
	if i, found := one.find(r); !found {
		one.waiters = slices.Insert(one.waiters, i, r)
	}
	if v == one.value {
		return
	}
	one.stop()
	one.value = v
	if v.reserved || v.holder.Process == holder.Self(lock.AcquireOptions{}).Process {
		return
	}
	ctx, stop := context.WithCancel(r.l.calls.Closing)
	one.stop = stop
	r.l.calls.Go(func() { r.watch(ctx, v) })
}

// find returns the place of r among the waiters.
func (w *watch) find(r *request) (int, bool) {
	return slices.BinarySearchFunc(w.waiters, r, func(a, b *request) int {
		return cmp.Or(strings.Compare(a.ticket, b.ticket), strings.Compare(a.text, b.text))
	})
}

// first returns the first waiter of this process for a lock, or nil.
func (q *queue) first(name string) *request {
	q.mu.Lock()
	defer q.mu.Unlock()
	if one := q.watches[name]; one != nil {
		return one.waiters[0]
	}
	return nil
}

// settle is how long a holder has to keep a lock before it is watched: most locks
// are released sooner.
const settle = 15 * time.Millisecond

// watch releases the lock of r when its holder has ended, unless ctx ends before.
func (r *request) watch(ctx context.Context, v value) {
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return
	}
	if holder.Watch(ctx, v.holder) == nil {
		r.free(v)
	}
}

// abandoned reports whether the holder of a lock is known to have ended.
func (v value) abandoned() bool {
	return v.holder.Process != holder.Self(lock.AcquireOptions{}).Process && holder.State(v.holder) == lock.Ended
}

// free releases the lock of r for a holder that has ended.
func (r *request) free(v value) {
	dead := &request{l: r.l, name: r.name, keys: r.keys, ms: r.ms, ttl: r.ttl, owner: v.owner, text: v.owner.String(), grant: grant{fence: v.fence}}
	_, _, _ = dead.release(r.l.calls.Closing)
}
