package redislock

import (
	"context"
	"slices"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/lock/internal/holder"
)

// local is what this process does about one lock without asking Redis. While nobody waits for
// the lock in Redis, a newcomer waits behind the holder in its own process, and the release
// gives the lock to it. A release that finds a waiter in Redis serves that one instead.
type local struct {
	// active asks for the lock, or has it. It has no ticket: a request with a ticket knows that
	// others wait in Redis, where newcomers then queue too.
	active  *request
	held    bool       // active has the lock
	until   time.Time  // when the lease of active ends, if it has the lock
	waiting []*request // first come, first served
}

// localWait is the longest time that a newcomer waits before it asks Redis: the holder may have
// forgotten to release the lock, and waiters in other processes have tickets already.
const localWait = 10 * time.Millisecond

// waitLocally waits while another request of this process has the lock or asks for it. It
// returns the other request if that has the lock, and nil as error when r must ask.
func (r *request) waitLocally(ctx context.Context) (other *request, err error) {
	q := &r.l.queue
	q.mu.Lock()
	l := q.local[r.Name]
	if l != nil && l.held && !time.Now().Before(l.until) { // that lease is lost, and perhaps never released
		q.drop(l.active)
		l = nil
	}
	if l == nil {
		q.local[r.Name] = &local{active: r}
		q.mu.Unlock()
		return nil, nil
	}
	if l.held {
		other = l.active
	}
	r.wake = make(chan struct{}, 1)
	l.waiting = append(l.waiting, r)
	q.mu.Unlock()
	defer func() { // also when the function for events panics
		q.mu.Lock()
		defer q.mu.Unlock()
		l.waiting = slices.DeleteFunc(l.waiting, func(w *request) bool { return w == r })
	}()
	if other != nil {
		r.Tell(lock.EventWaiting, 0, nil)
	}
	return other, r.sleep(ctx, q.localWait)
}

// refusal returns the error for a request that waits for r, which has the lock.
func (r *request) refusal() error {
	v, _ := parseValue(r.value(r.grant, holder.Self(r.Options)))
	// It may have been renewed since, but then it has a third of the TTL left at least.
	left := max(time.Until(engine.Deadline(r.grant.sent, r.ttl)), r.ttl/3)
	return &lock.HeldError{Status: v.status(r.Name, left)}
}

// hold records that r has the lock, unless others may wait for it in Redis.
func (q *queue) hold(r *request) {
	if r.ticket == "" {
		q.mu.Lock()
		defer q.mu.Unlock()
		l := q.local[r.Name]
		if l == nil {
			l = new(local)
			q.local[r.Name] = l
		}
		l.active, l.held, l.until = r, true, engine.Deadline(r.sent, r.ttl)
	}
}

// kept records that the lease of r was renewed, or is lost.
func (q *queue) kept(r *request, until time.Time, lost bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.local[r.Name]; l != nil && l.active == r {
		l.until = until
	}
	if lost {
		q.drop(r)
	}
}

// resign makes local waiters ask Redis, if they wait for r. It returns a channel that closes when
// no release can give the lock to r any more, or nil.
func (q *queue) resign(r *request) (settled <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(r)
	return r.settled
}

// drop makes local waiters ask Redis, if they wait for r. It is called with mu held.
func (q *queue) drop(r *request) {
	if l := q.local[r.Name]; l != nil && l.active == r {
		for _, w := range l.waiting {
			w.hint()
		}
		delete(q.local, r.Name)
	}
}

// heir returns the first local waiter, to which r passes the lock, or nil. The release must
// close its channel settled.
func (q *queue) heir(r *request) *request {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.local[r.Name]
	if l == nil || l.active != r || len(l.waiting) == 0 {
		return nil
	}
	l.active, l.held = l.waiting[0], false
	l.waiting = l.waiting[1:]
	l.active.settled = make(chan struct{})
	return l.active
}
