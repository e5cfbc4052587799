package storelock

import (
	"context"
	"fmt"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/store"
)

// Note returns the note of a lock and the time of the store, see [lock.Locker]. Only after
// the store has answered a call of the Locker it repeats attempts.
func (l *Locker) Note(ctx context.Context, name string) (engine.Note, error) {
	if err := l.calls.BeginFor(name); err != nil {
		return engine.Note{}, err
	}
	defer l.calls.Done()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(l.calls.Closing, func() { stop(lock.ErrClosed) })()
	var failed error // of the last attempt before ctx ended
	for {
		r, err := l.read(ctx, name)
		var now time.Time
		if err == nil {
			now, err = store.Now(ctx, l.store)
		}
		switch {
		case err == nil:
			return engine.Note{Text: r.Note, Now: now}, nil
		case l.calls.Closing.Err() != nil:
			return engine.Note{}, lock.ErrClosed
		case ctx.Err() != nil && failed != nil:
			return engine.Note{}, fmt.Errorf("storelock: note of %q: %w: %w", name, ctx.Err(), failed)
		case ctx.Err() != nil || !l.mayPass(err):
			return engine.Note{}, fmt.Errorf("storelock: note of %q: %w", name, err)
		}
		failed = err
		select {
		case <-time.After(jitter(maxPause)):
		case <-ctx.Done():
		}
	}
}

// SetNote replaces the note in the record of the lock, where it stays.
func (k *keeper) SetNote(text string, _ time.Duration) error {
	_, err := k.update(k.ttl/3, func(r record) record {
		r.Note = text
		return r
	})
	return err
}
