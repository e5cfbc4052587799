package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/oidkit/oid/lock/internal/engine"
)

// Note returns the note of a lock and the time of this machine, see [lock.Locker].
func (l *Locker) Note(_ context.Context, name string) (engine.Note, error) {
	f, err := l.begin(name)
	if err != nil {
		return engine.Note{}, err
	}
	defer l.calls.Done()
	r, err := f.read()
	if err != nil {
		return engine.Note{}, fmt.Errorf("filelock: note of %q: %w", name, err)
	}
	return engine.Note{Text: r.Note, Now: time.Now()}, nil
}

// SetNote replaces the note in the record of the lock, where it stays.
func (k *keeper) SetNote(text string, _ time.Duration) error {
	if err := k.update(func(r *record) { r.Note = text }); err != nil {
		return err
	}
	// After a power failure the note should be there, or a run may begin again. Not
	// every system can do this.
	if folder, err := os.Open(filepath.Dir(k.files.record)); err == nil {
		_ = errors.Join(folder.Sync(), folder.Close())
	}
	return nil
}
