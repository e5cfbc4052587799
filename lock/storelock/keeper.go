package storelock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

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
