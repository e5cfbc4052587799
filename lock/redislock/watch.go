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

// watch looks after the holders of one lock, for all waiters of this process.
type watch struct {
	waiters map[*request]struct{}
	end     context.CancelFunc
	text    string             // the lock's value, as last seen
	stop    context.CancelFunc // ends the watch of the holder in an earlier text
	changed chan struct{}      // gets something when text changes
}

func (w *watches) init() { w.names = make(map[string]*watch) }

// see takes the value of the lock that r waits for.
func (w *watches) see(r *request, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.names[r.name]
	if one == nil {
		ctx, end := context.WithCancel(r.l.calls.Closing)
		one = &watch{waiters: make(map[*request]struct{}), end: end, stop: func() {}, changed: make(chan struct{}, 1)}
		w.names[r.name] = one
		r.l.calls.Go(func() { r.l.look(ctx, r, one) })
	}
	one.waiters[r] = struct{}{}
	if text != one.text {
		one.text = text
		one.stop()
		select {
		case one.changed <- struct{}{}:
		default:
		}
	}
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
		one.end()
		delete(w.names, r.name)
	}
}

// settle is how long a holder has to keep a lock before it is watched: most locks
// go on sooner.
const settle = 15 * time.Millisecond

// look watches one holder after the other until ctx ends.
func (l *Locker) look(ctx context.Context, r *request, one *watch) {
	for {
		select {
		case <-one.changed:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(settle):
		case <-ctx.Done():
			return
		}
		this, stop := context.WithCancel(ctx)
		l.watches.mu.Lock()
		text := one.text
		one.stop = stop
		l.watches.mu.Unlock()
		v, err := parseValue(text)
		if err == nil && !v.reserved && v.holder.Process != holder.Self(lock.AcquireOptions{}).Process && holder.Watch(this, v.holder) == nil {
			dead := &request{l: l, name: r.name, keys: r.keys, ttl: r.ttl, ttlText: r.ttlText, text: v.owner.String()}
			_, _, _ = dead.release("")
		}
		stop()
	}
}
