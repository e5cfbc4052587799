package storelock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/lock/internal/holder"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

const (
	// reservation is how long a waiter lets the first in the queue take a lock
	// that is free.
	reservation = time.Second

	// maxQueue is how many waiters a record lists. Others wait as well, and enter
	// when there is room.
	maxQueue = 200

	// The pause between two looks of the first in the queue is a share of the time
	// for which the lock looks the same, between these two. Others pause longer by
	// as much as there are before them.
	minPause   = 5 * time.Millisecond
	maxPause   = 250 * time.Millisecond
	pauseShare = 20

	// maxSilence is how long ago the store's last answer may be for it to say that
	// the lock is held: a waiter looks at least every maxPause.
	maxSilence = time.Second

	// leaveTime is how long a call that gives up may take to leave the queue.
	leaveTime = 2 * time.Second
)

// attempt is one call of Acquire or TryAcquire.
type attempt struct {
	l       *Locker
	name    string
	options lock.AcquireOptions
	ttl     time.Duration
	owner   lock.Owner
	wait    bool
	began   time.Time

	answered time.Time // when the store answered last, zero before
	seen     sight     // what the lock looks like,
	since    time.Time // from the end of the first look that showed it
	last     record

	conflicts int // in a row
}

// Acquire takes the lock, waiting for it as long as ctx allows, see [lock.Locker].
func (l *Locker) Acquire(ctx context.Context, name string, o ...lock.AcquireOptions) (*lock.Lease, error) {
	return l.acquire(ctx, name, o, true)
}

// TryAcquire takes the lock if it is free, see [lock.Locker]. A lock whose
// holder has died on another host is not free before a waiter has taken it over.
func (l *Locker) TryAcquire(ctx context.Context, name string, o ...lock.AcquireOptions) (*lock.Lease, error) {
	return l.acquire(ctx, name, o, false)
}

func (l *Locker) acquire(ctx context.Context, name string, o []lock.AcquireOptions, wait bool) (*lock.Lease, error) {
	if err := l.begin(name); err != nil {
		return nil, err
	}
	defer l.calls.Done()
	a := &attempt{l: l, name: name, ttl: l.options.TTL, wait: wait, began: time.Now(), owner: lock.Owner{Process: l.options.Process, ID: objectid.New()}}
	if len(o) > 0 {
		a.options = o[0]
	}
	if a.options.TTL != 0 {
		a.ttl = a.options.TTL
	}
	if err := lock.CheckTTL(a.ttl); err != nil {
		return nil, fmt.Errorf("storelock: acquire %q: %w", name, err)
	}
	lease, err := a.run(ctx)
	if err != nil {
		l.calls.Go(a.leave)
		return nil, fmt.Errorf("storelock: acquire %q: %w", name, err)
	}
	return lease, nil
}

// run looks at the lock until it has it, ctx or the Locker ends, or an error comes
// that will not pass.
func (a *attempt) run(ctx context.Context) (*lock.Lease, error) {
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(a.l.calls.Closing, func() { stop(lock.ErrClosed) })()
	told := false
	for {
		lease, err := a.look(inner)
		switch {
		case lease != nil:
			a.l.tell(lock.Event{Kind: lock.Acquired, Name: a.name, Owner: a.owner, Fence: lease.Fence(), Took: time.Since(a.began)})
			return lease, nil
		case a.l.calls.Closing.Err() != nil:
			return nil, lock.ErrClosed
		case ctx.Err() != nil:
			return nil, a.obstacle(ctx, err)
		case errors.Is(err, store.ErrConflict): // somebody else wrote: look again
		case err != nil && (a.answered.IsZero() || !a.wait || errors.Is(err, store.ErrClosed)):
			return nil, err
		case err == nil && !a.wait:
			return nil, &lock.HeldError{Status: a.status()}
		case err == nil && !told:
			told = true
			a.l.tell(lock.Event{Kind: lock.Waiting, Name: a.name, Owner: a.owner, Took: time.Since(a.began)})
		}
		pause := a.pause(errors.Is(err, store.ErrConflict))
		select {
		case <-inner.Done():
		case <-time.After(pause/2 + rand.N(pause/2)):
		}
	}
}

// pause returns how long to wait before the next look. Conflicts come in numbers when
// many enter the queue at once: each lets the others pass for a while.
func (a *attempt) pause(conflict bool) time.Duration {
	if conflict {
		a.conflicts++
		return min(minPause<<min(a.conflicts, 6), maxPause)
	}
	a.conflicts = 0
	pause := max(time.Since(a.since)/pauseShare, minPause)
	if i := slices.Index(a.last.Queue, a.owner.String()); i > 0 {
		pause *= time.Duration(i + 1)
	}
	return min(pause, maxPause)
}

// obstacle returns the error of a call whose ctx ended: with what it waited for.
func (a *attempt) obstacle(ctx context.Context, err error) error {
	switch {
	case err != nil && !errors.Is(err, ctx.Err()) && !errors.Is(err, store.ErrConflict):
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	case !a.answered.IsZero() && time.Since(a.answered) < maxSilence:
		return fmt.Errorf("%w: %w", ctx.Err(), &lock.HeldError{Status: a.status()})
	}
	return fmt.Errorf("%w: the store did not answer", ctx.Err())
}

// status returns what was last seen of the lock. A free one is reserved for the first
// in the queue.
func (a *attempt) status() lock.Status {
	s := a.last.status()
	if !s.Held {
		s.Owner, _ = lock.ParseOwner(a.last.first())
	}
	return s
}

// look reads the lock and takes it if it may. Without an error and a lease the lock
// is another's.
func (a *attempt) look(ctx context.Context) (*lock.Lease, error) {
	began := time.Now()
	r, err := a.l.read(ctx, a.name)
	if err != nil {
		return nil, err
	}
	a.answered, a.last = time.Now(), r
	if now := r.sight(); now != a.seen || a.since.IsZero() {
		a.seen, a.since = now, time.Now()
	}
	me := a.owner.String()
	unchanged := began.Sub(a.since) // from the end of the first look to the start of this one
	switch {
	case r.OwnerRaw == me: // a write of this call whose answer did not come
		return a.take(ctx, r, r)
	case !a.mayTake(r, unchanged):
		return nil, a.join(ctx, r, me)
	}
	new := r
	if first := r.first(); first != me && !r.held() {
		new.Queue = r.without(first) // it did not come
	}
	return a.take(ctx, r, new)
}

// mayTake reports whether the lock is free for this call, after its record was
// unchanged for a time.
func (a *attempt) mayTake(r record, unchanged time.Duration) bool {
	first := r.first()
	turn := first == "" || first == a.owner.String()
	if !r.held() {
		return turn || unchanged >= reservation
	}
	over := unchanged - r.ttl()
	if over < 0 && holder.State(r.holder()) == lock.Ended {
		over = unchanged
	}
	return over >= 0 && (turn || over >= reservation)
}

// take writes the record of a lease in the place of old.
func (a *attempt) take(ctx context.Context, old, new record) (*lock.Lease, error) {
	held := old.OwnerRaw == a.owner.String()
	new = new.take(a.owner)
	if held {
		new.Fence = old.Fence
	}
	a.l.describe(&new, a.options, a.ttl)
	before := time.Now()
	limited, stop := context.WithTimeout(ctx, a.ttl)
	defer stop()
	stored, err := a.l.write(limited, old, new)
	if err != nil {
		return nil, err
	}
	k := &keeper{l: a.l, owner: a.owner, ttl: a.ttl, record: stored}
	deadline := k.deadline(before)
	if !time.Now().Before(deadline) { // the answer came too late
		return nil, store.ErrConflict
	}
	return lock.NewLease(ctx, a.name, a.owner, a.l.options.Events, engine.Grant{
		Fence: uint64(stored.Fence), Deadline: deadline, Every: a.ttl / 3, Retry: a.ttl / 6, Timers: &a.l.renewals, Keeper: k,
	}), nil
}

// join enters the queue of a lock.
func (a *attempt) join(ctx context.Context, r record, me string) error {
	if !a.wait || len(r.Queue) >= maxQueue || slices.Contains(r.Queue, me) {
		return nil
	}
	new := r
	new.Queue = append(slices.Clone(r.Queue), me)
	stored, err := a.l.write(ctx, r, new)
	if err == nil {
		a.last = stored
	}
	return err
}

// leave takes a call that has given up out of the record, if it is in it.
func (a *attempt) leave() {
	ctx, stop := context.WithTimeout(context.Background(), leaveTime)
	defer stop()
	me := a.owner.String()
	for !a.answered.IsZero() && ctx.Err() == nil {
		r, err := a.l.read(ctx, a.name)
		if err != nil {
			return
		}
		new := r
		new.Queue = r.without(me)
		switch {
		case r.OwnerRaw == me:
			new = new.free()
		case len(new.Queue) == len(r.Queue):
			return
		}
		if _, err := a.l.write(ctx, r, new); !errors.Is(err, store.ErrConflict) {
			return
		}
	}
}

func (l *Locker) tell(e lock.Event) {
	if l.options.Events != nil {
		l.options.Events(e)
	}
}
