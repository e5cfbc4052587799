package storelock

import (
	"context"
	"fmt"
	"time"

	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/store"
)

// Note returns the note of a lock and the time of the store, see [lock.Locker].
func (l *Locker) Note(ctx context.Context, name string) (engine.Note, error) {
	if err := l.begin(name); err != nil {
		return engine.Note{}, err
	}
	defer l.calls.Done()
	r, err := l.read(ctx, name)
	var now time.Time
	if err == nil {
		now, err = store.Now(ctx, l.store)
	}
	if err != nil {
		return engine.Note{}, fmt.Errorf("storelock: note of %q: %w", name, err)
	}
	return engine.Note{Text: r.Note, Now: now}, nil
}

// SetNote replaces the note in the record of the lock, where it stays.
func (k *keeper) SetNote(text string, _ time.Duration) error {
	_, err := k.update(k.ttl/3, func(r record) record {
		r.Note = text
		return r
	})
	return err
}
