package redislock

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oidkit/oid/internal/backoff"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/holder"
)

// queue knows the waiters of one Locker, and passes on to them the hints that its one
// subscription receives.
type queue struct {
	mu      sync.Mutex
	waiting map[string]*request // by owner
	watches map[string]*watch   // by the name of the lock
	local   map[string]*local   // by the name of the lock
	started bool                // subscribe is running
	up      bool                // the subscription receives messages
	err     error               // why the last subscription ended
	refused sync.Once           // Warn was called because Redis refuses hints
	polls   atomic.Bool         // Redis refuses hints, so waiters ask often
	changed chan struct{}       // closed when up or err changes

	localWait time.Duration // the constant, except in tests
}

// join adds r to the waiters that get hints.
func (q *queue) join(r *request) {
	if r.joined = true; r.wake == nil {
		r.wake = make(chan struct{}, 1)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting[r.text] = r
}

// leave removes r from the waiters. It stops the watch of a lock with its last waiter.
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

// listening reports whether the subscription receives messages.
func (q *queue) listening() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.up
}

// set records that the subscription has begun or ended.
func (q *queue) set(up bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.up, q.err = up, err
	close(q.changed)
	q.changed = make(chan struct{})
	if up { // earlier hints may be lost
		for _, r := range q.waiting {
			r.hint()
		}
	}
}

// hint makes r ask.
func (r *request) hint() {
	select {
	case r.wake <- struct{}{}:
	default: // r has a hint already
	}
}

// hintLater makes r ask after d. It replaces an earlier hintLater. It is called with the
// queue's mu held.
func (r *request) hintLater(d time.Duration) {
	if r.later == nil {
		r.later = time.AfterFunc(d, r.hint)
	} else {
		r.later.Reset(d)
	}
}

// deliver passes a message on to the waiters that it is for, see scripts/release.lua.
// Messages for other owners are ignored.
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
			// A little later, because Redis counts the reservation in whole milliseconds.
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

// hintAll publishes, in the background, the hints that Redis did not let a script publish. They
// follow the reply of the script, which hintAll returns without them. If this process dies
// before they are published, the waiters wait for their next poll.
func (l *Locker) hintAll(reply string) string {
	reply, untold, found := strings.Cut(reply, "\n")
	if found {
		l.calls.Go(func() {
			for hint := range strings.Lines(untold) {
				channel, message, _ := strings.Cut(strings.TrimSuffix(hint, "\n"), " ")
				if err := publish(context.Background(), l.driver, channel, message); l.refuses(err) || err != nil {
					return
				}
			}
		})
	}
	return reply
}

// publish publishes a message on a channel.
func publish(ctx context.Context, d Driver, channel, message string) error {
	ctx, cancel := context.WithTimeout(ctx, maxTry)
	defer cancel()
	return d.Publish(ctx, channel, message)
}

// pollTime is the longest pause of waiters that get no hints. It is shorter than a reservation,
// so that they get the lock in their order all the same.
const pollTime = 100 * time.Millisecond

// refuses reports whether err says that Redis refuses to publish hints or to subscribe to them.
// Waiters then poll, and the first time Options.Warn is called.
func (l *Locker) refuses(err error) bool {
	if code(err) == "" || !permanent(err) {
		return false
	}
	l.queue.polls.Store(true)
	l.queue.refused.Do(func() {
		remedy := ""
		if code(err) == "NOPERM" {
			remedy = "; for the user of the URL, run: ACL SETUSER USER +publish +subscribe +unsubscribe &" + l.channel[:strings.LastIndexByte(l.channel, ':')] + ":*"
		}
		l.warn(fmt.Errorf("redislock: Redis refuses messages to waiters (%w): each waiter asks for the lock every %v to %v instead, and waiters of other programs may get it up to 2s late%s", err, pollTime/2, pollTime, remedy))
	})
	return true
}

// listen starts the subscription and waits until it receives messages. If Redis does not
// answer within maxTry, listen returns nil: the subscription is tried again and again.
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
		case up, l.refuses(err):
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

// tryHints publishes a message for nobody, to learn whether Redis refuses messages.
func (l *Locker) tryHints(ctx context.Context) {
	l.refuses(publish(ctx, l.driver, l.channel, ""))
}

// subscribe renews the subscription until Close.
func (l *Locker) subscribe() {
	l.tryHints(l.calls.Closing)
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

// watch releases a lock, for all waiters of this process, when the kernel reports that its
// holder on this host has ended.
type watch struct {
	waiters []*request // in the order of the queue in Redis
	value   value      // of the lock, as last seen
	stop    context.CancelFunc
}

// see learns the value of the lock for which r waits, and watches its holder.
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

// find returns the index of r among the waiters.
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

// settle is how long a holder must keep a lock before it is watched. Most locks are released
// sooner.
const settle = 15 * time.Millisecond

// watch releases the lock for which r waits when its holder has ended, unless ctx ends before
// that.
func (r *request) watch(ctx context.Context, v value) {
	if backoff.Sleep(ctx, settle) == nil && holder.Watch(ctx, v.holder) == nil {
		r.free(v)
	}
}

// abandoned reports whether the holder is known to have ended.
func (v value) abandoned() bool {
	return v.holder.Process != holder.Self(lock.AcquireOptions{}).Process && holder.State(v.holder) == lock.StateEnded
}

// free releases the lock for which r waits, in place of its holder, which has ended.
func (r *request) free(v value) {
	_, _, _ = r.l.standIn(r.Name, v.owner, v.fence, r.ttl).release(r.l.calls.Closing)
}
