package filelock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/oidkit/oid/lock"
)

// keeper is the [engine.Keeper] of a lease.
type keeper struct {
	files  files
	locked *kernelLock

	mu     sync.Mutex
	record record
	freed  bool
}

// check returns an error if the lock's file is no longer there.
func (k *keeper) check() error {
	if !k.files.same(k.locked) {
		return fmt.Errorf("%w: %q: its file %s was removed", lock.ErrLost, k.files.name, k.files.lock)
	}
	return nil
}

// Keep looks whether the file is still there; the kernel does the rest.
func (k *keeper) Keep() (time.Time, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.freed {
		return time.Time{}, nil
	}
	return time.Time{}, k.check()
}

// SetGroup writes the group into the record.
func (k *keeper) SetGroup(pgid int) error { return k.update(func(r *record) { r.Group = pgid }) }

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

// update changes the record while the lease has the lock.
func (k *keeper) update(change func(*record)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.freed {
		return lock.ErrReleased
	}
	if err := k.check(); err != nil {
		return err
	}
	change(&k.record)
	return k.files.write(k.record)
}

// Free clears the record, except for the fence and the note, and unlocks the file.
func (k *keeper) Free() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.freed = true
	err := k.check()
	if err == nil {
		err = k.files.write(record{Version: k.record.Version, Name: k.record.Name, Fence: k.record.Fence, Since: k.record.Since, Note: k.record.Note})
	}
	return errors.Join(err, k.locked.unlock())
}
