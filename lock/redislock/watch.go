package redislock

import (
	"context"
	"sync"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/holder"
)

// watches look after the holders of the locks that this process waits for: when
// the kernel says that a holder on this host has ended, they release its lock.
type watches struct {
	mu    sync.Mutex
	names map[string]*watch // of locks
}

// watch looks after the holder of one lock, for all waiters of this process.
type watch struct {
	waiters map[*request]struct{}
	value   value // as last seen
	stop    context.CancelFunc
}

// see takes the value of the lock that r waits for.
func (w *watches) see(r *request, v value) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.names[r.name]
	if one == nil {
		one = &watch{waiters: make(map[*request]struct{}), stop: func() {}}
		w.names[r.name] = one
	}
	one.waiters[r] = struct{}{}
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

// leave ends the watch of the lock of r with its last waiter.
func (w *watches) leave(r *request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.names[r.name]
	if one == nil {
		return
	}
	delete(one.waiters, r)
	if len(one.waiters) == 0 {
		one.stop()
		delete(w.names, r.name)
	}
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
	dead := &request{l: r.l, name: r.name, keys: r.keys, ms: r.ms, ttl: r.ttl, owner: v.owner, text: v.owner.String(), fence: v.fence}
	_, _, _ = dead.release()
}
