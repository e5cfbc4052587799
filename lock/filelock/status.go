package filelock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oidkit/oid/internal/backoff"
	"github.com/oidkit/oid/internal/failure"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/lock/internal/holder"
)

func (l *Locker) status(_ context.Context, name string) (lock.Status, error) {
	return l.files(name).settled()
}

// note returns the note of a lock, and the time of this machine.
func (l *Locker) note(ctx context.Context, name string) (note engine.Note, err error) {
	mayPass := func(err error) bool { return failure.Of(err).Retry() }
	err = l.calls.Repeat(ctx, failedPause, mayPass, func(context.Context) error {
		r, err := l.files(name).read()
		note = engine.Note{Text: r.Note, Now: time.Now()}
		return err
	})
	return note, err
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
		if err != nil && !(l.user != "" && errors.Is(err, fs.ErrPermission)) {
			return nil, err
		}
		if strings.HasPrefix(path, l.files(r.Name).base+".") && !slices.Contains(known, r.Name) {
			known = append(known, r.Name)
		}
	}
	return calls.Held(ctx, known, l.status)
}

// settleTime is how long a file may be locked while its record names no holder. A holder
// writes the record at once, and a look at a lock takes microseconds. After settleTime the
// file is taken to be locked by a stranger: another program, such as flock(1), or a holder
// that was stopped before it wrote the record.
const settleTime = 100 * time.Millisecond

// settled returns the status of the lock. If a stranger keeps the file locked, the lock is
// held and has no owner.
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

// status returns the status of the lock by its record. It does not see strangers.
func (f files) status() (lock.Status, error) {
	free := lock.Status{Name: f.name}
	r, err := f.read()
	if err != nil || r.Owner.IsZero() {
		return free, err
	}
	// If the owner has died, nobody has locked the file.
	if locked, err := f.locked(); err != nil || !locked {
		return free, err
	}
	h := r.holder()
	h.State = holder.State(h)
	return lock.Status{Name: f.name, Held: true, Owner: r.Owner, Fence: r.Fence, Since: r.Since, Holder: h}, nil
}

// locked reports whether somebody has locked the file.
func (f files) locked() (bool, error) {
	probe, err := openLock(f.lock, f.at, f.mode, lockShared)
	if err != nil || probe == nil {
		return err == nil, err
	}
	return false, probe.unlock()
}

// breakLease returns an error: only the kernel can free a lock, when the processes that hold it
// have ended. The error says how to end them.
func (l *Locker) breakLease(_ context.Context, name string, owner lock.Owner, _ string) error {
	f := l.files(name)
	s, err := f.settled()
	if err == nil && (!s.Held || s.Owner != owner) {
		err = fmt.Errorf("%w: %q is free or has another holder", lock.ErrLost, name)
	}
	if err != nil {
		return err
	}
	how := "lslocks shows who has locked " + f.lock
	if alive, err := s.Holder.Process.Alive(); alive && err == nil {
		how = fmt.Sprintf("write: kill %d", s.Holder.Process.PID)
	}
	return fmt.Errorf("a lock in files ends only with the processes that hold it; to end them, %s", how)
}
