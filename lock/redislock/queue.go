package redislock

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oidkit/oid/internal/backoff"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
	"github.com/oidkit/oid/lock/internal/holder"
)

// queue is what one process knows of its own waiters, and the one subscription by
// which they get hints.
type queue struct {
	mu      sync.Mutex
	waiting map[string]*request // by owner
	watches map[string]*watch   // by the name of the lock
	started bool                // the subscription is, or is being made
	up      bool                // messages come in
	err     error               // why the last subscription ended
	changed chan struct{}       // closed when up or err changes
}

// join makes r a waiter that gets hints.
func (q *queue) join(r *request) {
	r.wake = make(chan struct{}, 1)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting[r.text] = r
}

// leave forgets r, and with the last waiter for a lock its watch.
func (q *queue) leave(r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.waiting, r.text)
	if r.later != nil {
		r.later.Stop()
	}
	w := q.watches[r.Name]
	if w == nil {
		return
	}
	if i, found := w.find(r); found {
		w.waiters = slices.Delete(w.waiters, i, i+1)
	}
	if len(w.waiters) == 0 {
		w.stop()
		delete(q.watches, r.Name)
	}
}

// listening reports whether messages come in.
func (q *queue) listening() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.up
}

// set records that the subscription was made or has ended.
func (q *queue) set(up bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.up, q.err = up, err
	close(q.changed)
	q.changed = make(chan struct{})
	if up { // what was published until now is lost
		for _, r := range q.waiting {
			r.hint()
		}
	}
}

// hint tells r to ask.
func (r *request) hint() {
	select {
	case r.wake <- struct{}{}:
	default: // it was told already
	}
}

// hintLater tells r to ask after d, instead of when it was told before. It is
// called with the queue's mu held.
func (r *request) hintLater(d time.Duration) {
	if r.later == nil {
		r.later = time.AfterFunc(d, r.hint)
	} else {
		r.later.Reset(d)
	}
}

// deliver gives a message to the waiters that it is for, see scripts/release.lua.
// Those that do not wait any more ignore it.
func (q *queue) deliver(message string) {
	kind, rest, _ := strings.Cut(message, " ")
	q.mu.Lock()
	defer q.mu.Unlock()
	switch kind {
	case "ask":
		if r := q.waiting[rest]; r != nil {
			r.hint()
		}
	case "later":
		owner, ms, _ := strings.Cut(rest, " ")
		n, err := strconv.ParseUint(ms, 10, 16)
		if r := q.waiting[owner]; r != nil && err == nil {
			// Not at the very end: the reservation expires by whole milliseconds.
			r.hintLater(time.Duration(n+5) * time.Millisecond)
		}
	case "all":
		for _, r := range q.waiting {
			if r.keys[0] == rest {
				r.hint()
			}
		}
	}
}

// listen returns when messages come in, or will as far as one can know: a Redis that does
// not answer within maxTry is not an error here. It starts the subscription.
func (l *Locker) listen(ctx context.Context) error {
	for late := time.After(maxTry); ; {
		l.queue.mu.Lock()
		up, err, changed := l.queue.up, l.queue.err, l.queue.changed
		if !l.queue.started {
			l.queue.started = true
			l.calls.Go(l.subscribe)
		}
		l.queue.mu.Unlock()
		switch {
		case up:
			return nil
		case err != nil && permanent(err):
			return err
		}
		select {
		case <-changed:
		case <-late:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-l.calls.Closing.Done():
			return lock.ErrClosed
		}
	}
}

// subscribe keeps the subscription alive until Close.
func (l *Locker) subscribe() {
	pause := backoff.Backoff{First: minPause, Max: maxPause}
	for l.calls.Closing.Err() == nil {
		err := l.driver.Subscribe(l.calls.Closing, l.channel, func() {
			pause.Reset()
			l.queue.set(true, nil)
		}, l.queue.deliver)
		l.queue.set(false, err)
		_ = backoff.Sleep(l.calls.Closing, pause.Next())
	}
}

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
	w := q.watches[r.Name]
	if w == nil {
		w = &watch{stop: func() {}}
		q.watches[r.Name] = w
	}
	if i, found := w.find(r); !found {
		w.waiters = slices.Insert(w.waiters, i, r)
	}
	if v == w.value {
		return
	}
	w.stop()
	w.value = v
	if v.reserved || v.holder.Process == holder.Self(lock.AcquireOptions{}).Process {
		return
	}
	ctx, stop := context.WithCancel(r.l.calls.Closing)
	w.stop = stop
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
	if w := q.watches[name]; w != nil {
		return w.waiters[0]
	}
	return nil
}

// settle is how long a holder has to keep a lock before it is watched: most locks
// are released sooner.
const settle = 15 * time.Millisecond

// watch releases the lock of r when its holder has ended, unless ctx ends before.
func (r *request) watch(ctx context.Context, v value) {
	if backoff.Sleep(ctx, settle) == nil && holder.Watch(ctx, v.holder) == nil {
		r.free(v)
	}
}

// abandoned reports whether the holder of a lock is known to have ended.
func (v value) abandoned() bool {
	return v.holder.Process != holder.Self(lock.AcquireOptions{}).Process && holder.State(v.holder) == lock.StateEnded
}

// free releases the lock of r for a holder that has ended.
func (r *request) free(v value) {
	dead := &request{Call: calls.Call{Name: r.Name, Owner: v.owner}, l: r.l, keys: r.keys, ms: r.ms, ttl: r.ttl, text: v.owner.String(), grant: grant{fence: v.fence}}
	_, _, _ = dead.release(r.l.calls.Closing)
}
