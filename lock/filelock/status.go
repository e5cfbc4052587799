package filelock

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/oidkit/oid/internal/backoff"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/lock/internal/holder"
)

func (l *Locker) status(_ context.Context, name string) (lock.Status, error) {
	return l.files(name).settled()
}

// note returns the note of a lock and the time of this machine.
func (l *Locker) note(_ context.Context, name string) (engine.Note, error) {
	r, err := l.files(name).read()
	return engine.Note{Text: r.Note, Now: time.Now()}, err
}

func (l *Locker) list(ctx context.Context) ([]lock.Status, error) {
	names, err := fs.Glob(os.DirFS(l.dir), "*"+recordSuffix)
	if err != nil {
		return nil, err
	}
	var known []string // names of locks
	for _, name := range names {
		path := filepath.Join(l.dir, name)
		r, err := readRecord(path)
		if err != nil {
			return nil, err
		}
		if l.files(r.Name).record == path {
			known = append(known, r.Name)
		}
	}
	return calls.Held(ctx, known, l.status)
}

// settleTime is how long the file of a lock is locked without a record of who has it
// before that is a stranger, such as flock(1), or a holder that was stopped between the
// two. Holders write the record at once, and looking at a lock takes microseconds.
const settleTime = 100 * time.Millisecond

// settled returns who has the lock. A stranger that keeps its file locked has it too,
// without an owner.
func (f files) settled() (lock.Status, error) {
	for began := time.Now(); ; time.Sleep(backoff.Between(0, minPause)) {
		s, err := f.status()
		if err != nil || s.Held {
			return s, err
		}
		if _, err := os.Lstat(f.lock); errors.Is(err, fs.ErrNotExist) {
			return s, nil
		}
		if locked, err := f.locked(); err != nil || !locked {
			return s, err
		}
		if time.Since(began) > settleTime {
			s.Held = true
			return s, nil
		}
	}
}

// status returns who has the lock by its record, which a stranger does not write.
func (f files) status() (lock.Status, error) {
	free := lock.Status{Name: f.name}
	r, err := f.read()
	if err != nil || r.Owner.IsZero() {
		return free, err
	}
	// The owner may have died: then nobody has the file locked.
	if locked, err := f.locked(); err != nil || !locked {
		return free, err
	}
	h := r.holder()
	h.State = holder.State(h)
	return lock.Status{Name: f.name, Held: true, Owner: r.Owner, Fence: r.Fence, Since: r.Since, Holder: h}, nil
}

// locked reports whether somebody has the file of the lock locked.
func (f files) locked() (bool, error) {
	probe, err := openLock(f.lock, f.mode, lockShared)
	if err != nil || probe == nil {
		return err == nil, err
	}
	return false, probe.unlock()
}
