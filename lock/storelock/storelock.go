// Package storelock keeps locks in a store, for several machines that share a database.
// Package lock says what a lock promises and what it does not.
//
// Start with [New]. A lock needs only the conditional writes of the store, so every engine of
// package store can keep locks. The clocks of machines are never compared: a waiter takes over a
// lock only after it has seen the record of the lock unchanged for the holder's whole TTL.
//
// # The record
//
// Each lock is a document in the collection [DefaultCollection]. Its _id is the name of the
// lock. The document is never deleted, because it contains the last fencing token:
//
//	{_id: "nightly-report", fence: 1795166651598985, owner: "10.0.0.7:...", beat: ObjectId,
//	 ttl_seconds: 30, since: Date, queue: ["10.0.0.8:...", ...], ...}
//
// The holder renews the lock after each third of the TTL by writing a new beat. Every write
// is conditional: it fails if another process has written since the document was read.
//
// # Taking over
//
// A waiter takes over a lock if two reads show the same beat and the second read begins a
// whole TTL after the first one ended. By then the lease has ended: the holder counts its
// deadline from before it wrote that beat, and the deadline is a twentieth shorter than the
// TTL. This holds if the clocks of both machines run at the same speed to within 5 %. A
// waiter on the holder's host takes over earlier if the kernel reports that the holder and
// its process group have ended.
//
// # Waiting
//
// Waiters enter the queue of the record and poll the record. The first waiter pauses between
// two reads for a twentieth of the time since the record last changed: at least 5 ms and at
// most 250 ms. Later waiters pause longer, in proportion to their position in the queue, up to
// 250 ms. If the store sends signals, as PostgreSQL and SQLite do, a signal ends the pause, and
// without one a pause takes up to 2 s.
//
// A released lock is reserved for the first waiter. If it stays free for a second, the first
// waiter has died or is suspended. Another waiter then takes the lock and removes the first
// waiter from the queue.
package storelock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/failure"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// DefaultCollection is the collection of locks if Options.Collection is empty.
const DefaultCollection = "locks"

// Options tune a [Locker].
type Options struct {
	// TTL is how long a lock stays held after its last renewal, unless
	// [lock.AcquireOptions] say otherwise. Default: [lock.DefaultTTL].
	TTL time.Duration

	// Process is the gpid of this process, which everyone sees as the owner of its locks.
	// Default: gpid.Self("").
	Process gpid.GPID

	// Collection is the collection of the locks. Default: [DefaultCollection].
	Collection string

	// Events is called with every event of the Locker's locks, see [lock.Event]. It may be
	// nil.
	Events func(lock.Event)
}

// Locker is a [lock.Locker] in a store. Several Lockers and processes may use the same
// collection.
//
// If a holder dies on another host, its lock does not expire by itself: an Acquire that waits
// takes it after it has seen no renewal for the TTL. Before that, Status shows the dead holder
// and TryAcquire finds the lock held. After the Locker is closed, Release still works, as long as
// the store is open.
type Locker struct {
	lock.Locker // all methods

	store      store.Store
	collection string
	calls      *calls.Calls
}

var _ lock.Locker = (*Locker)(nil)

// New returns a Locker for the locks in a collection of s. Close the Locker before s. The
// error wraps [lock.ErrInvalid] if o.TTL is invalid; otherwise it says why this process
// cannot be identified.
func New(s store.Store, o *Options) (*Locker, error) {
	opts := *cmp.Or(o, &Options{})
	c, err := calls.New(calls.Settings{Engine: "storelock", TTL: opts.TTL, Process: opts.Process, Events: opts.Events})
	if err != nil {
		return nil, err
	}
	l := &Locker{store: store.Linearizable(s), collection: cmp.Or(opts.Collection, DefaultCollection), calls: c}
	l.Locker = calls.NewLocker(c, calls.Backend{Acquire: l.acquire, Status: l.status, List: l.list, Break: l.breakLease, Note: l.note})
	return l, nil
}

// read reads the record of a lock. If the lock was never used, only the name of the record is
// set.
func (l *Locker) read(ctx context.Context, name string) (record, error) {
	doc, err := l.store.Get(ctx, l.collection, key(name))
	if errors.Is(err, store.ErrNotFound) {
		return record{Name: name}, nil
	}
	if err != nil {
		return record{}, err
	}
	return parseRecord(doc)
}

// mayPass reports whether to retry after err.
func mayPass(err error) bool { return failure.Of(err).Kind != failure.Final && !isFinal(err) }

func isFinal(err error) bool {
	return slices.ContainsFunc(final, func(e error) bool { return errors.Is(err, e) })
}

// final are the errors of package store after which no retry succeeds.
var final = []error{
	store.ErrClosed, store.ErrMoved, store.ErrURL, store.ErrForeign, store.ErrCollection, store.ErrDocument, store.ErrKey, errRecord,
}

// write replaces the record old by next, and returns next as it is stored. The error wraps
// [store.ErrConflict] if somebody else has written since old was read.
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

// note returns the note of a lock, and the time of the store.
func (l *Locker) note(ctx context.Context, name string) (note engine.Note, err error) {
	err = l.calls.Repeat(ctx, maxPause, mayPass, func(ctx context.Context) error {
		r, err := l.read(ctx, name)
		if err == nil {
			note.Text = r.Note
			note.Now, err = store.Now(ctx, l.store)
		}
		return err
	})
	return note, err
}

// keeper is the [engine.Keeper] of one lease.
type keeper struct {
	l     *Locker
	owner lock.Owner
	ttl   time.Duration

	mu     sync.Mutex // one write at a time
	record record     // as last written or read
}

// Keep renews the lease by a new beat.
func (k *keeper) Keep() (time.Time, error) {
	if k.l.calls.Closing.Err() != nil {
		return time.Time{}, lock.ErrClosed
	}
	return k.update(k.ttl/3, func(r *record) { r.Beat = objectid.New() })
}

// SetGroup writes the process group into the record.
func (k *keeper) SetGroup(pgid int) error { return k.set(func(r *record) { r.Group = pgid }) }

// SetNote writes the note into the record, where it stays after the lease.
func (k *keeper) SetNote(text string, _ time.Duration) error {
	return k.set(func(r *record) { r.Note = text })
}

func (k *keeper) set(change func(*record)) error {
	_, err := k.update(k.ttl/3, change)
	return err
}

// Free releases the lock.
func (k *keeper) Free() error {
	_, err := k.update(min(k.ttl, 10*time.Second), (*record).free)
	return err
}

// update changes the record if the lease still has the lock, and returns the new deadline.
// Waiters write the record too, and the answer to an earlier write may have been lost: after
// a conflict, update reads the record and tries again. limit is the time for each single
// request, so that a slow store does not count as one that hangs.
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
			return time.Time{}, k.lost(now)
		}
		k.record = now
	}
}

// breakLease frees a lock if owner holds it.
func (l *Locker) breakLease(ctx context.Context, name string, owner lock.Owner, who string) error {
	r, err := l.read(ctx, name)
	if err != nil {
		return err
	}
	k := &keeper{l: l, owner: owner, ttl: r.ttl(), record: r}
	if !r.held() || r.Owner != owner {
		return k.lost(r)
	}
	_, err = k.update(createTime, func(r *record) {
		r.free()
		r.Broken = strconv.FormatInt(r.Fence, 10) + " " + who
	})
	return err
}

// lost returns the error of a lease that does not have the lock any more. The error says who
// broke the lock, if somebody did.
func (k *keeper) lost(now record) error {
	if who, broken := strings.CutPrefix(now.Broken, strconv.FormatInt(k.record.Fence, 10)+" "); broken {
		return fmt.Errorf("%w: %q: it was broken by %s", lock.ErrLost, k.record.Name, who)
	}
	return fmt.Errorf("%w: %q is free or has another holder in the store", lock.ErrLost, k.record.Name)
}
