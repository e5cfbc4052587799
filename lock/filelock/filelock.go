// Package filelock holds locks among the processes of one machine, with nothing
// to install. See package lock for what a lock promises and what it cannot.
//
// Start with [New]. A lock is a file of that folder, locked by the kernel, which
// frees it when the process that has it ends, in whatever way: so a lock has no
// TTL here and a lease no deadline, and a holder that stands still keeps it.
// Beside it lies a record of who has it and of the last fence.
//
// The folder must be on a file system of this machine. Those of a network may
// accept locks and not keep them from other machines.
//
// Waiters ask again and again, at most 20 ms apart, and get the lock in no
// particular order.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/objectid"
)

// Options tune a [Locker]. The zero value, like a nil pointer, is ready to use.
type Options struct {
	// Process is the identity of this process, which everybody sees as the
	// owner of its locks. Default: that of [gpid.Self] for a process that listens
	// on nothing.
	Process gpid.GPID
}

// Locker is a [lock.Locker] in a folder. Any number of goroutines may share one,
// and any number of Lockers and processes a folder.
type Locker struct {
	dir      string
	process  gpid.GPID
	renewals engine.Renewals

	closing context.Context
	close   context.CancelFunc
	mu      sync.Mutex // orders begin and Close
	calls   sync.WaitGroup
}

// New returns a Locker for the locks of a folder, which it makes if need be,
// for this user alone.
func New(dir string, o *Options) (*Locker, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	if opts.Process.IsZero() {
		self, err := gpid.Self("")
		if err != nil {
			return nil, fmt.Errorf("filelock: %w", err)
		}
		opts.Process = self
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("filelock: make the folder of locks: %w", err)
	}
	l := &Locker{dir: dir, process: opts.Process}
	l.closing, l.close = context.WithCancel(context.Background())
	return l, nil
}

// Close ends waiting calls with [lock.ErrClosed] and waits until they have
// returned. Leases stay as they are.
func (l *Locker) Close() error {
	l.mu.Lock()
	l.close()
	l.mu.Unlock()
	l.calls.Wait()
	return nil
}

// begin checks the name for a call that Close has to wait for. The caller calls
// l.calls.Done unless there is an error.
func (l *Locker) begin(name string) (files, error) {
	if err := lock.CheckName(name); err != nil {
		return files{}, fmt.Errorf("filelock: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing.Err() != nil {
		return files{}, lock.ErrClosed
	}
	l.calls.Add(1)
	return filesOf(l.dir, name), nil
}

// TryAcquire takes the lock if it is free, see [lock.Locker].
func (l *Locker) TryAcquire(ctx context.Context, name string, o ...lock.AcquireOptions) (*lock.Lease, error) {
	f, err := l.begin(name)
	if err != nil {
		return nil, err
	}
	defer l.calls.Done()
	return l.try(ctx, f)
}

// The pause between two looks at a lock doubles from the first to the second.
const (
	minPause = time.Millisecond
	maxPause = 20 * time.Millisecond
)

// Acquire takes the lock, waiting for it as long as ctx allows, see
// [lock.Locker].
func (l *Locker) Acquire(ctx context.Context, name string, o ...lock.AcquireOptions) (*lock.Lease, error) {
	f, err := l.begin(name)
	if err != nil {
		return nil, err
	}
	defer l.calls.Done()
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("filelock: acquire %q: %w", name, err)
		}
		lease, err := l.try(ctx, f)
		if !errors.Is(err, lock.ErrHeld) {
			return lease, err
		}
		select {
		case <-time.After(pause/2 + rand.N(pause/2)):
		case <-ctx.Done():
			return nil, fmt.Errorf("filelock: acquire %q: %w: %w", name, ctx.Err(), err)
		case <-l.closing.Done():
			return nil, fmt.Errorf("filelock: acquire %q: %w", name, lock.ErrClosed)
		}
	}
}

// try takes the lock if it is free.
func (l *Locker) try(ctx context.Context, f files) (*lock.Lease, error) {
	for began := time.Now(); ; {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("filelock: acquire %q: %w", f.name, err)
		}
		locked, err := f.take()
		if err != nil {
			return nil, fmt.Errorf("filelock: acquire %q: %w", f.name, err)
		}
		if locked != nil {
			return l.lease(ctx, f, locked)
		}
		status, err := f.status()
		if err != nil {
			return nil, fmt.Errorf("filelock: acquire %q: %w", f.name, err)
		}
		// Somebody else may just be taking it, giving it back or looking at it,
		// and then it soon is clear who has it. If not, that is a stranger, or one
		// that was stopped in the middle.
		if status.Held || time.Since(began) > time.Second {
			status.Held = true
			return nil, &lock.HeldError{Status: status}
		}
		time.Sleep(rand.N(minPause))
	}
}

// lease begins the lease of a lock whose file is locked.
func (l *Locker) lease(ctx context.Context, f files, locked *flock.Flock) (*lock.Lease, error) {
	before, err := f.read()
	if err != nil {
		_ = locked.Unlock()
		return nil, fmt.Errorf("filelock: acquire %q: %w", f.name, err)
	}
	now := time.Now().UTC()
	r := record{
		Name:  f.name,
		Owner: lock.Owner{Process: l.process, ID: objectid.New()},
		Fence: max(before.Fence+1, uint64(now.UnixMicro())),
		Since: now,
	}
	if err := f.write(r); err != nil {
		_ = locked.Unlock()
		return nil, fmt.Errorf("filelock: acquire %q: %w", f.name, err)
	}
	return lock.NewLease(ctx, f.name, r.Owner, nil, engine.Grant{
		Fence: r.Fence, Every: time.Second, Retry: time.Second, Renewals: &l.renewals, Keeper: &keeper{f, locked, r},
	}), nil
}

// Status tells who has the lock, see [lock.Locker].
func (l *Locker) Status(_ context.Context, name string) (lock.Status, error) {
	f, err := l.begin(name)
	if err != nil {
		return lock.Status{}, err
	}
	defer l.calls.Done()
	s, err := f.status()
	if err != nil {
		return lock.Status{}, fmt.Errorf("filelock: status of %q: %w", name, err)
	}
	return s, nil
}

// List returns the status of every lock that is held, see [lock.Locker].
func (l *Locker) List(ctx context.Context) ([]lock.Status, error) {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(l.dir), "*"+recordSuffix))
	if err != nil {
		return nil, fmt.Errorf("filelock: list: %w", err)
	}
	var held []lock.Status
	for _, path := range paths {
		r, err := readRecord(path)
		if err != nil {
			return nil, fmt.Errorf("filelock: list: %w", err)
		}
		if r.Owner.IsZero() || filesOf(l.dir, r.Name).record != path {
			continue
		}
		s, err := l.Status(ctx, r.Name)
		if err != nil {
			return nil, err
		}
		if s.Held {
			held = append(held, s)
		}
	}
	slices.SortFunc(held, func(a, b lock.Status) int { return strings.Compare(a.Name, b.Name) })
	return held, nil
}

// escapeGlob returns a pattern that matches path alone.
func escapeGlob(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}
