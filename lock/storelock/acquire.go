package storelock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oidkit/oid/internal/backoff"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/lock/internal/holder"
	"github.com/oidkit/oid/store"
)

const (
	// reservation is how long a free lock is left to the first waiter before other waiters
	// may take it.
	reservation = time.Second

	// maxQueue is how many waiters a record lists. Further waiters wait outside the queue, and
	// enter it when there is room.
	maxQueue = 200

	// The first waiter pauses between two looks for a twentieth (pauseShare) of the time since
	// the record last changed, but between minPause and maxPause. Later waiters multiply that
	// by their position. After a signal, each waiter but the first looks minPause later than
	// the waiter before it.
	minPause   = 5 * time.Millisecond
	maxPause   = 250 * time.Millisecond
	pauseShare = 20

	// If the store sends signals, a pause is at most signalledPause and at most a quarter
	// (signalledShare) of the TTL. It is not longer because a waiter that sees a record late
	// also takes over late.
	signalledPause = 2 * time.Second
	signalledShare = 4

	// maxSilence is how long a look may take before the error says that the store does not
	// answer.
	maxSilence = time.Second

	// createTime is how long the first write of a lock may take even if the TTL is shorter:
	// that write may create the collection, and each new attempt would start over.
	createTime = 10 * time.Second

	// leaveTime is how long a call that gives up may take to leave the queue. After Close it
	// is maxSilence.
	leaveTime = 2 * time.Second
)

// attempt is one call of Acquire or TryAcquire. It looks at the record again and again. A
// look may take the lock only if it begins late enough after what was seen first:
//
//	the record says     the first waiter           all others
//	free                at once                    a reservation after since
//	held                a TTL after since          a TTL and a reservation after since
//	held by a process
//	that has ended      at once                    a reservation after ended
//
// Every change of the record by a holder sets since and ended anew. So a look takes over a
// lock only if its holder has written nothing for a TTL before the look began.
type attempt struct {
	calls.Call
	l    *Locker
	wait bool

	asked  time.Time // when the last look began
	failed error     // why the store did not answer the last look
	seen   sight     // what the last look saw
	since  time.Time // when the first look ended that saw it
	ended  time.Time // when a look first found that its holder had ended, or zero
	last   record    // as last read; its name is empty before the store has answered

	wakes     wakes
	conflicts int // in a row
}

func (l *Locker) acquire(ctx context.Context, call calls.Call, wait bool) (lease *lock.Lease, err error) {
	a := &attempt{Call: call, l: l, wait: wait}
	defer func() { // also when the function for events panics
		if lease == nil {
			l.calls.Go(a.leave)
		}
	}()
	if lease, err = a.run(ctx); err != nil {
		err = fmt.Errorf("storelock: acquire %q: %w", call.Name, err)
	}
	return lease, err
}

// run looks at the lock until it has taken it, ctx or the Locker ends, or a permanent error
// occurs.
func (a *attempt) run(ctx context.Context) (*lock.Lease, error) {
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(a.l.calls.Closing, func() { stop(lock.ErrClosed) })()
	defer a.wakes.stop()
	refused, silent := false, false // EventWaiting was reported; EventUnanswered was reported since the last answer
	for {
		a.asked = time.Now()
		answered := func() bool { return false }
		if a.wait && !silent {
			answered = a.Await()
		}
		granted, err := a.look(inner)
		told, tooLate := answered(), time.Since(a.asked) >= maxSilence
		conflict := errors.Is(err, store.ErrConflict)
		// Shortly before ctx ends, a driver refuses to send a request: nothing is known to fail.
		end, limited := ctx.Deadline()
		unsent := limited && !tooLate && time.Until(end) < maxSilence && errors.Is(err, context.DeadlineExceeded)
		switch {
		case err == nil, conflict:
			a.failed, silent = nil, false
		case unsent:
		case !errors.Is(err, ctx.Err()):
			a.failed = err
		case tooLate:
			a.failed = calls.NoAnswer(time.Since(a.asked))
		}
		switch {
		case granted != nil:
			return a.Lease(ctx, *granted), nil
		case a.l.calls.Closing.Err() != nil:
			return nil, lock.ErrClosed
		case ctx.Err() != nil:
			return nil, a.obstacle(ctx)
		case conflict, unsent: // look again
		case errors.Is(err, store.ErrClosed):
			return nil, fmt.Errorf("%w: %w", lock.ErrClosed, err)
		// The store has accepted the request of a waiter before, so it may accept it again.
		case err != nil && !(a.wait && (mayPass(err) || refused && !isFinal(err))):
			return nil, err
		case err == nil && !a.wait:
			return nil, &lock.HeldError{Status: a.status()}
		case err == nil && !refused:
			refused = true
			a.Tell(lock.EventWaiting, 0, nil)
		case err != nil && !silent:
			if silent = true; !told {
				a.Tell(lock.EventUnanswered, 0, err)
			}
		}
		a.sleep(inner, a.pause(conflict))
	}
}

// pause returns how long to wait before the next look. If many calls enter the queue at the
// same time, most of their writes conflict: each then waits for a while, so that others can
// write.
func (a *attempt) pause(conflict bool) time.Duration {
	if conflict {
		a.conflicts++
		return backoff.Spread(min(minPause<<min(a.conflicts, 6), maxPause))
	}
	a.conflicts = 0
	pause := backoff.Spread(min(max(time.Since(a.since)/pauseShare, minPause)*a.position(), maxPause))
	if a.wakes.works() {
		pause = backoff.Spread(min(signalledPause, max(a.last.ttl()/signalledShare, maxPause)))
	}
	if due := time.Until(a.due()); due > 0 {
		pause = min(pause, due)
	}
	return pause
}

// position returns the position of the call in the queue, from 1. It is 1 if the call is not
// in the queue.
func (a *attempt) position() time.Duration {
	return time.Duration(max(0, slices.Index(a.last.Queue, a.Owner.String())) + 1)
}

// sleep returns after the pause, when ctx ends, when the holder on this host has ended, or
// after a signal.
func (a *attempt) sleep(ctx context.Context, pause time.Duration) {
	for end := time.Now().Add(pause); ; {
		timer := time.NewTimer(time.Until(end))
		select {
		case <-a.wakes.signals:
			if soon := a.asked.Add(min((a.position()-1)*minPause, maxPause)); soon.Before(end) {
				end = soon
			}
			timer.Stop()
			continue
		case <-a.wakes.gone:
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		return
	}
}

// obstacle returns the error of a call whose ctx has ended: it says what the call was waiting
// for.
func (a *attempt) obstacle(ctx context.Context) error {
	obstacle := a.failed
	switch {
	case obstacle != nil:
	case a.last.Name != "":
		obstacle = &lock.HeldError{Status: a.status()}
	default:
		obstacle = calls.NoAnswer(time.Since(a.Began))
	}
	return fmt.Errorf("%w: %w", ctx.Err(), obstacle)
}

// status returns the status that was last seen. The owner of a free lock is its first waiter.
func (a *attempt) status() lock.Status {
	s := a.last.status()
	if !s.Held {
		s.Owner, _ = lock.ParseOwner(a.last.first())
	}
	return s
}

// look reads the lock and takes it if that is allowed. If it returns nil and no error,
// somebody else has the lock.
func (a *attempt) look(ctx context.Context) (*engine.Grant, error) {
	r, err := a.l.read(ctx, a.Name)
	if err != nil {
		return nil, err
	}
	a.last = r
	if now := r.sight(); now != a.seen || a.since.IsZero() {
		a.seen, a.since, a.ended = now, time.Now(), time.Time{}
		if first := r.first(); !r.held() && first != "" && first != a.Owner.String() {
			a.l.wake(first) // it may have missed its signal, and would look too late
		}
	}
	if r.held() && a.ended.IsZero() && holder.State(r.holder()) == lock.StateEnded {
		a.ended = time.Now()
	}
	me := a.Owner.String()
	switch {
	case r.OwnerRaw == me: // an earlier write of this call, whose answer was lost
		return a.take(ctx, r, r)
	case a.asked.Before(a.due()):
		return nil, a.join(ctx, r, me)
	}
	next := r
	if first := r.first(); first != me && !r.held() {
		next.Queue = r.without(first) // the first waiter has not taken the lock
	}
	return a.take(ctx, r, next)
}

// due returns when a look must begin to take the lock as it was last seen, see the table at
// [attempt]. The zero Time means at once.
func (a *attempt) due() time.Time {
	due := a.since
	if a.last.held() {
		due = a.ended
		if due.IsZero() {
			due = a.since.Add(a.last.ttl())
		}
	}
	switch first := a.last.first(); {
	case first != "" && first != a.Owner.String():
		return due.Add(reservation)
	case a.last.held() && a.ended.IsZero():
		return due
	}
	return time.Time{}
}

// take writes next, as the record of a lease of this call, in place of old.
func (a *attempt) take(ctx context.Context, old, next record) (*engine.Grant, error) {
	held := old.OwnerRaw == a.Owner.String()
	next = next.take(a.Owner, a.Options)
	if held {
		next.Fence = old.Fence
	}
	limit := a.Options.TTL
	if old.doc == nil {
		limit = max(limit, createTime)
	}
	before := time.Now()
	limited, stop := context.WithTimeout(ctx, limit)
	defer stop()
	stored, err := a.l.write(limited, old, next)
	if err != nil {
		return nil, err
	}
	k := &keeper{l: a.l, owner: a.Owner, ttl: a.Options.TTL, record: stored}
	deadline, took := engine.Deadline(before, a.Options.TTL), time.Since(before)
	// A new lease must have time left before its first renewal. If the answer came too late,
	// the next look writes again.
	if took >= deadline.Sub(before) || took > a.Options.TTL/3 && !held {
		return nil, store.ErrConflict
	}
	return &engine.Grant{Fence: uint64(stored.Fence), Deadline: deadline, TTL: a.Options.TTL, Keeper: k}, nil
}

// join enters the queue of a lock. Before that it begins to listen for signals.
func (a *attempt) join(ctx context.Context, r record, me string) error {
	if !a.wait {
		return nil
	}
	a.wakes.listen(a)
	if len(r.Queue) >= maxQueue || slices.Contains(r.Queue, me) {
		return nil
	}
	next := r
	next.Queue = append(slices.Clone(r.Queue), me)
	stored, err := a.l.write(ctx, r, next)
	if err == nil {
		a.last = stored
	}
	return err
}

// leave takes a call that has given up out of the record.
func (a *attempt) leave() {
	ctx, stop := context.WithTimeout(context.Background(), leaveTime)
	defer stop()
	defer context.AfterFunc(a.l.calls.Closing, func() { time.AfterFunc(maxSilence, stop) })()
	me := a.Owner.String()
	for a.last.Name != "" && ctx.Err() == nil { // a call that has never read the record is not in it
		r, err := a.l.read(ctx, a.Name)
		if err != nil {
			return
		}
		next := r
		next.Queue = r.without(me)
		switch {
		case r.OwnerRaw == me:
			next.free()
		case len(next.Queue) == len(r.Queue):
			return
		}
		if _, err := a.l.write(ctx, r, next); !errors.Is(err, store.ErrConflict) {
			return
		}
	}
}
