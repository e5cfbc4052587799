package storelock

import (
	"context"
	"fmt"
	"time"

	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/store"
)

// Note returns the note of a lock and the time of the store, see [lock.Locker]. Only after
// the store has answered a call of the Locker it repeats attempts.
func (l *Locker) Note(ctx context.Context, name string) (note engine.Note, err error) {
	if err := l.calls.BeginFor(name); err != nil {
		return engine.Note{}, err
	}
	defer l.calls.Done()
	err = l.calls.Repeat(ctx, maxPause, l.mayPass, func(ctx context.Context) error {
		r, err := l.read(ctx, name)
		if err == nil {
			note.Text = r.Note
			note.Now, err = store.Now(ctx, l.store)
		}
		return err
	})
	if err != nil {
		return engine.Note{}, fmt.Errorf("storelock: note of %q: %w", name, err)
	}
	return note, nil
}

// SetNote replaces the note in the record of the lock, where it stays.
func (k *keeper) SetNote(text string, _ time.Duration) error {
	_, err := k.update(k.ttl/3, func(r *record) { r.Note = text })
	return err
}
