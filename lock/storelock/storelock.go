// Package storelock holds locks in a store, for programs whose machines share a
// database and no Redis. See package lock for what a lock promises and what it does
// not.
//
// Start with [New]. It needs only the conditional writes of the store, so it runs on
// every engine of package store. It does not compare clocks: a waiter takes a lock
// over only after it has itself seen the holder's record unchanged for the holder's
// whole TTL.
//
// # The record
//
// Each lock is a document of the collection [DefaultCollection], whose _id is the
// name. It is never deleted, because it contains the fence:
//
//	{_id: "nightly-report", fence: 1795166651598985, owner: "10.0.0.7:...", beat: ObjectId,
//	 ttl_seconds: 30, since: Date, queue: ["10.0.0.8:...", ...], ...}
//
// The holder writes a new beat with each renewal, at a third of the TTL. Every write
// is a swap: it succeeds only if no other process has written in between.
//
// # Taking over
//
// A waiter notes the time, by its monotonic clock, at the end of the first read that
// shows a beat. It takes over if a read that begins a whole TTL later shows the same
// beat. The holder counts its deadline, a twentieth less than the TTL, from before the
// write of that beat, which is earlier than any read of it. So its lease has ended
// before the waiter takes over, if their clocks run at the same speed to within 5 %. A
// waiter on the holder's host takes over earlier if the kernel reports that the holder
// and its group have ended.
//
// # Waiting
//
// Waiters enter the queue of the record and read the record again and again. The first
// in the queue waits between two reads for a twentieth of the time for which the record
// has not changed, 5 to 250 ms; each of the others waits longer, in proportion to its
// place, up to 250 ms. A lock that is released is reserved for the first in the queue. If
// another waiter sees it free for a second, the first has died or was
// stopped: the other takes the lock and removes the first from the queue.
package storelock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// DefaultCollection is the collection of the locks unless [Options] name another.
const DefaultCollection = "locks"

// Options tune a [Locker]. The zero value, like a nil pointer, is ready to use.
type Options struct {
	// TTL is how long a lease outlives its last renewal. Default:
	// [lock.DefaultTTL].
	TTL time.Duration

	// Process is the identity of this process, which everyone sees as the
	// owner of its locks. Default: that of [gpid.Self] for a process that does not
	// listen.
	Process gpid.GPID

	// Collection is the collection of the locks. Default: [DefaultCollection].
	Collection string

	// Events receives the events of the locks in this process, from several
	// goroutines. Nil disables it.
	Events func(lock.Event)
}

// Locker is a [lock.Locker] in a store. Any number of goroutines may share one, and
// any number of Lockers and processes the collection.
//
// Acquire and Note repeat attempts only after the store has answered a call of the Locker. As
// clocks are not compared, a holder that has died on another host has its lock, for Status
// and TryAcquire, until a waiter takes that over. Close does not release leases: those that
// are still held are not renewed any more and end at their deadlines. Until the store is
// closed, Release frees their locks.
type Locker struct {
	lock.Locker // all methods of [lock.Locker]

	store      store.Store
	collection string
	calls      *calls.Calls
	reached    atomic.Bool // the store has answered
}

var _ lock.Locker = (*Locker)(nil)

// New returns a Locker for the locks of a collection of s. The caller closes s, after
// the Locker. The error wraps [lock.ErrInvalid] if o.TTL is invalid, or is the reason
// why this process cannot be identified. A nil o stands for the zero Options.
func New(s store.Store, o *Options) (*Locker, error) {
	opts := *cmp.Or(o, &Options{})
	c, err := calls.New(calls.Settings{Engine: "storelock", TTL: opts.TTL, Process: opts.Process, Events: opts.Events})
	if err != nil {
		return nil, err
	}
	l := &Locker{store: store.Linearizable(s), collection: cmp.Or(opts.Collection, DefaultCollection), calls: c}
	l.Locker = calls.NewLocker(c, calls.Backend{Acquire: l.acquire, Status: l.status, List: l.list, Note: l.note})
	return l, nil
}

// read returns the record of a lock; that of a lock that nobody has used has only
// its name.
func (l *Locker) read(ctx context.Context, name string) (record, error) {
	doc, err := l.store.Get(ctx, l.collection, key(name))
	if err == nil || errors.Is(err, store.ErrNotFound) {
		l.reached.Store(true)
	}
	if errors.Is(err, store.ErrNotFound) {
		return record{Name: name}, nil
	}
	if err != nil {
		return record{}, err
	}
	return parseRecord(doc)
}

// mayPass reports whether a call repeats an attempt that has failed. Before the store has
// answered for the first time, it does not.
func (l *Locker) mayPass(err error) bool {
	return l.reached.Load() && !errors.Is(err, store.ErrClosed) && !errors.Is(err, store.ErrMoved) && !errors.Is(err, errRecord)
}

// write puts next in the place of old and returns it as it is stored. The error wraps
// [store.ErrConflict] if somebody has written in between.
func (l *Locker) write(ctx context.Context, old, next record) (record, error) {
	var err error
	if old.doc == nil {
		// The first swap gives it a revision.
		if _, err = l.store.Insert(ctx, l.collection, next); errors.Is(err, store.ErrDuplicate) {
			err = fmt.Errorf("%w: %w", store.ErrConflict, err)
		}
		if err == nil {
			next, err = l.read(ctx, next.Name)
		}
		return next, err
	}
	next.doc, err = l.store.Swap(ctx, l.collection, old.doc, next)
	if err == nil && (next.OwnerRaw != old.OwnerRaw || len(next.Queue) < len(old.Queue)) {
		l.signal(next)
	}
	return next, err
}

func (l *Locker) status(ctx context.Context, name string) (lock.Status, error) {
	r, err := l.read(ctx, name)
	return r.status(), err
}

func (l *Locker) list(ctx context.Context) (held []lock.Status, err error) {
	for doc, err := range l.store.Find(ctx, l.collection, store.Query{}) {
		var r record
		if err == nil {
			r, err = parseRecord(doc)
		}
		if err != nil {
			return nil, err
		}
		if r.held() {
			held = append(held, r.status())
		}
	}
	return held, nil
}

// note returns the note of a lock and the time of the store.
func (l *Locker) note(ctx context.Context, name string) (note engine.Note, err error) {
	err = l.calls.Repeat(ctx, maxPause, l.mayPass, func(ctx context.Context) error {
		r, err := l.read(ctx, name)
		if err == nil {
			note.Text = r.Note
			note.Now, err = store.Now(ctx, l.store)
		}
		return err
	})
	return note, err
}

// keeper renews and frees the lock of a lease.
type keeper struct {
	l     *Locker
	owner lock.Owner
	ttl   time.Duration

	mu     sync.Mutex // one write at a time
	record record     // as this lease wrote it last
}

// Keep renews the lease.
func (k *keeper) Keep() (time.Time, error) {
	if k.l.calls.Closing.Err() != nil {
		return time.Time{}, lock.ErrClosed
	}
	return k.update(k.ttl/3, func(r *record) { r.Beat = objectid.New() })
}

// SetGroup records the process group that the lock protects.
func (k *keeper) SetGroup(pgid int) error {
	_, err := k.update(k.ttl/3, func(r *record) { r.Group = pgid })
	return err
}

// SetNote replaces the note in the record of the lock, where it stays.
func (k *keeper) SetNote(text string, _ time.Duration) error {
	_, err := k.update(k.ttl/3, func(r *record) { r.Note = text })
	return err
}

// Free gives the lock back.
func (k *keeper) Free() error {
	_, err := k.update(min(k.ttl, 10*time.Second), (*record).free)
	return err
}

// update writes a change of the record if it is still this lease's, and returns the
// deadline that follows from the write. Waiters write into the record too, and the
// answer to an earlier write may have been lost: then it reads the record again. limit is
// that of each request: a store that answers slowly is not one that hangs.
func (k *keeper) update(limit time.Duration, change func(*record)) (time.Time, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		before, changed := time.Now(), k.record
		change(&changed)
		ctx, stop := context.WithTimeout(context.Background(), limit)
		stored, err := k.l.write(ctx, k.record, changed)
		stop()
		if err == nil {
			k.record = stored
			return engine.Deadline(before, k.ttl), nil
		}
		if !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound) {
			return time.Time{}, fmt.Errorf("storelock: %q: %w", k.record.Name, err)
		}
		ctx, stop = context.WithTimeout(context.Background(), limit)
		now, err := k.l.read(ctx, k.record.Name)
		stop()
		switch {
		case err != nil:
			return time.Time{}, fmt.Errorf("storelock: %q: %w", k.record.Name, err)
		case now.Owner != k.owner:
			return time.Time{}, fmt.Errorf("%w: %q is no longer this lease's", lock.ErrLost, k.record.Name)
		}
		k.record = now
	}
}
