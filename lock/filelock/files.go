package filelock

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/oidkit/oid/lock"
)

// files are those of one lock. Their names are hashes, since names of locks may
// be longer than those of files, and differ where those of files do not.
type files struct {
	name   string // of the lock
	lock   string // path of the file that the kernel locks
	record string // path of the record
}

const recordSuffix = ".json"

func filesOf(dir, name string) files {
	sum := sha256.Sum256([]byte(name))
	base := filepath.Join(dir, hex.EncodeToString(sum[:16]))
	return files{name, base + ".lock", base + recordSuffix}
}

// record is what the file beside a lock says. It has no owner while the lock is
// free, but may have one that has died without a word.
type record struct {
	Name  string     `json:"name"`
	Owner lock.Owner `json:"owner,omitzero"`
	Fence uint64     `json:"fence"`
	Since time.Time  `json:"since"`
}

// take locks the file, or returns nil if somebody else has it locked.
func (f files) take() (*flock.Flock, error) {
	locked := flock.New(f.lock)
	ok, err := locked.TryLock()
	if err != nil || !ok {
		return nil, err
	}
	// Somebody may have removed the file before it was locked.
	if !f.same(locked) {
		return nil, locked.Unlock()
	}
	return locked, nil
}

// same reports whether the file that is locked is still the one at its path.
func (f files) same(locked *flock.Flock) bool {
	there, err1 := os.Stat(f.lock)
	here, err2 := locked.Stat()
	return err1 == nil && err2 == nil && os.SameFile(there, here)
}

// status tells who has the lock.
func (f files) status() (lock.Status, error) {
	free := lock.Status{Name: f.name}
	r, err := f.read()
	if err != nil || r.Owner.IsZero() {
		return free, err
	}
	// The owner may have died: then nobody has the file locked.
	probe := flock.New(f.lock)
	ok, err := probe.TryRLock()
	if err != nil {
		return free, err
	}
	if ok {
		return free, probe.Unlock()
	}
	return lock.Status{Name: f.name, Held: true, Owner: r.Owner, Fence: r.Fence, Since: r.Since}, nil
}

// read returns the record, or a zero one if there is none.
func (f files) read() (record, error) {
	r, err := readRecord(f.record)
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, nil
	}
	return r, err
}

func readRecord(path string) (record, error) {
	var r record
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return record{}, fmt.Errorf("read record %s: %w", path, err)
	}
	return r, nil
}

// write replaces the record as a whole. Only who has the file locked may do so.
func (f files) write(r record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	part := f.record + ".part"
	if err := os.WriteFile(part, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(part, f.record)
}

// keeper is the [engine.Keeper] of a lease.
type keeper struct {
	files  files
	locked *flock.Flock
	record record
}

// Keep looks whether the file is still there; the kernel does the rest.
func (k *keeper) Keep() (time.Time, error) {
	if !k.files.same(k.locked) {
		return time.Time{}, fmt.Errorf("%w: %q: its file %s was removed", lock.ErrLost, k.files.name, k.files.lock)
	}
	return time.Time{}, nil
}

// Free clears the record, except for the fence, and unlocks the file.
func (k *keeper) Free() error {
	_, err := k.Keep()
	if err == nil {
		free := k.record
		free.Owner = lock.Owner{}
		err = k.files.write(free)
	}
	return errors.Join(err, k.locked.Unlock())
}

// SetGroup does nothing yet.
func (k *keeper) SetGroup(int) error { return nil }
