package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/oidkit/oid/internal/backoff"
	"github.com/oidkit/oid/internal/failure"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/lock/internal/holder"
)

// request is one call of Acquire or TryAcquire.
type request struct {
	calls.Call
	l     *Locker
	files files
}

func (l *Locker) acquire(ctx context.Context, call calls.Call, wait bool) (*lock.Lease, error) {
	r := &request{call, l, l.files(call.Name)}
	if wait {
		return r.wait(ctx)
	}
	return r.try(ctx)
}

// While a call waits, the pause between two tries doubles from minPause to maxPause. After an
// error that passes, such as that of a full disk, the pause is failedPause.
const (
	minPause    = time.Millisecond
	maxPause    = 20 * time.Millisecond
	failedPause = 500 * time.Millisecond
)

// wait tries to take the lock until it succeeds, ctx ends or the Locker is closed.
func (r *request) wait(ctx context.Context) (*lock.Lease, error) {
	var obstacle error              // the last HeldError or failure
	refused, failed := false, false // EventWaiting was reported; EventUnanswered was reported since the last answer
	pause := backoff.Backoff{First: minPause, Max: maxPause}
	for {
		lease, err := r.try(ctx)
		end, sleep := ctx.Err(), pause.Next()
		switch held, passes := errors.Is(err, lock.ErrHeld), failure.Of(err).Retry(); {
		case held && end == nil:
			if obstacle = err; !refused {
				r.Tell(lock.EventWaiting, 0, nil)
			}
			refused, failed = true, false
		case passes && end == nil:
			if obstacle = errors.Unwrap(err); !failed {
				r.Tell(lock.EventUnanswered, 0, obstacle)
			}
			failed, sleep = true, backoff.Spread(failedPause)
		case end != nil && (passes || errors.Is(err, end)) && !held && obstacle != nil: // the lock may just be being handed over
			return nil, fmt.Errorf("filelock: acquire %q: %w: %w", r.Name, end, obstacle)
		default:
			return lease, err
		}
		select {
		case <-time.After(sleep):
		case <-ctx.Done(): // the next try returns the error, with the holder
		case <-r.l.calls.Closing.Done():
			return nil, fmt.Errorf("filelock: acquire %q: %w", r.Name, lock.ErrClosed)
		}
	}
}

// try takes the lock if it is free.
func (r *request) try(ctx context.Context) (*lock.Lease, error) {
	fail := func(err error) (*lock.Lease, error) {
		return nil, fmt.Errorf("filelock: acquire %q: %w", r.Name, err)
	}
	for began := time.Now(); ; {
		if ctx.Err() == nil {
			locked, err := r.files.take(r.Options.Group)
			if err != nil {
				return fail(err)
			} else if locked != nil {
				return r.lease(ctx, locked)
			}
		}
		status, err := r.files.status()
		if err != nil {
			return fail(err)
		}
		unknown := !status.Held && time.Since(began) > settleTime
		status.Held = status.Held || unknown
		held := &lock.HeldError{Status: status}
		switch end := ctx.Err(); {
		case end != nil && status.Held:
			return fail(fmt.Errorf("%w: %w", end, held))
		case end != nil:
			return fail(end)
		case status.Held:
			return nil, held
		}
		time.Sleep(backoff.Between(0, minPause))
	}
}

// lease records this call as the holder of the file that it has locked, and begins the lease.
func (r *request) lease(ctx context.Context, locked *kernelLock) (*lock.Lease, error) {
	now := time.Now().UTC()
	before, err := r.files.read()
	h := holder.Self(r.Options)
	own := record{
		Version: recordVersion, Name: r.Name, Owner: r.Owner, Fence: max(before.Fence+1, uint64(now.UnixMicro())), Since: now,
		Host: h.Host, Command: h.Command, Group: h.Group, Process: h.Process, Note: before.Note,
	}
	if err == nil && !before.Owner.IsZero() { // the last holder died without a release
		r.files.removeParts()
	}
	if err == nil {
		err = r.files.write(own)
	}
	if err != nil {
		return nil, fmt.Errorf("filelock: acquire %q: %w", r.Name, errors.Join(err, locked.unlock()))
	}
	return r.Lease(ctx, engine.Grant{
		Fence: own.Fence, Keeper: &keeper{files: r.files, locked: locked, record: own},
		TTL: 3 * time.Second, // so Keep checks the file every second
	}), nil
}

// keeper is the [engine.Keeper] of one lease.
type keeper struct {
	files  files
	locked *kernelLock

	mu     sync.Mutex
	record record
	freed  bool
}

// check returns an error that wraps [lock.ErrLost] if the lock's file was removed or
// replaced.
func (k *keeper) check() error {
	if there, err := k.files.same(k.locked); failure.Of(err).Retry() {
		return err
	} else if !there {
		return fmt.Errorf("%w: %q: its file %s was removed", lock.ErrLost, k.files.name, k.files.lock)
	}
	return nil
}

// Keep checks that the file is still there. Nothing else is needed, because the kernel keeps
// the lock.
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

// SetNote writes the note into the record, where it stays after the lease.
func (k *keeper) SetNote(text string, _ time.Duration) error {
	if err := k.update(func(r *record) { r.Note = text }); err != nil {
		return err
	}
	// Make the new record survive a power failure: otherwise a tick may run again. Not every
	// system can sync a folder.
	if folder, err := os.Open(filepath.Dir(k.files.record)); err == nil {
		_ = errors.Join(folder.Sync(), folder.Close())
	}
	return nil
}

// update changes the record, unless the lease has lost or released the lock.
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

// Free unlocks the file. The record keeps only the fence and the note.
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
