// Package filelock holds locks among the processes of one machine, with nothing
// to install. See package lock for what a lock promises and what it does not.
//
// Start with [New]. A lock is a file of the folder. The kernel locks it, and frees
// it when the process that holds it ends for any reason. So here a lock has no TTL
// and a lease has no deadline, and a holder that is stopped keeps its lock. Beside
// the file is a record of the holder and of the last fence.
//
// With [lock.AcquireOptions.Group] the programs that the holder starts while it
// has the lock inherit the locked file, as those of flock(1) do. If the holder is
// killed, the lock becomes free when the last of them has ended. Release frees it
// at once.
//
// The folder must be on a file system of this machine. Network file systems may
// accept a lock without excluding other machines. New creates a folder for this user
// alone. If several users share a folder, the files get its permissions. It must not have
// the sticky bit, as /tmp has. Anyone who can write to the folder can take and break its
// locks.
//
// Waiters try again after 20 ms at most and get the lock in no particular order.
package filelock

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
)

// Options tune a [Locker]. The zero value, like a nil pointer, is ready to use.
type Options struct {
	// Process is the identity of this process, which everyone sees as the
	// owner of its locks. Default: that of [gpid.Self] for a process that does not
	// listen.
	Process gpid.GPID
	// Events receives the events of the locks of this Locker, from any goroutine.
	// Nil disables it.
	Events func(lock.Event)
}

// Locker is a [lock.Locker] in a folder. Any number of goroutines may share one,
// and any number of Lockers and processes a folder. After Close leases stay as they are.
type Locker struct {
	lock.Locker // all methods of [lock.Locker]

	dir   string
	mode  fs.FileMode // of the files
	calls *calls.Calls
}

// New returns a Locker for the locks of a folder, and creates the folder if it does
// not exist.
func New(dir string, o *Options) (*Locker, error) {
	opts := *cmp.Or(o, &Options{})
	c, err := calls.New(calls.Settings{Engine: "filelock", Process: opts.Process, Events: opts.Events})
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("filelock: make the folder of locks: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("filelock: %w", err)
	}
	l := &Locker{dir: dir, mode: info.Mode() & 0o666, calls: c}
	l.Locker = calls.NewLocker(c, calls.Backend{Acquire: l.acquire, Status: l.status, List: l.list, Note: l.note})
	return l, nil
}

// files are those of one lock. Their names are hashes, because names of locks may
// be longer than those of files, and differ where those of files do not.
type files struct {
	name   string // of the lock
	lock   string // path of the file that the kernel locks
	record string // path of the record
	mode   fs.FileMode
}

const recordSuffix = ".json"

func (l *Locker) files(name string) files {
	sum := sha256.Sum256([]byte(name))
	base := filepath.Join(l.dir, hex.EncodeToString(sum[:16]))
	return files{name, base + ".lock", base + recordSuffix, l.mode}
}

// lockKind says how a file is locked.
type lockKind int

const (
	lockShared lockKind = iota
	lockExclusive
	lockInherited // exclusive, also for programs that this process starts, where they can
)

// take locks the file, or returns nil if somebody else has it locked. Programs
// that this process starts inherit the lock if inherit is set.
func (f files) take(inherit bool) (*kernelLock, error) {
	how := lockExclusive
	if inherit {
		how = lockInherited
	}
	locked, err := openLock(f.lock, f.mode, how)
	if err != nil || locked == nil {
		return nil, err
	}
	// Somebody may have removed the file before it was locked.
	if !f.same(locked) {
		return nil, locked.unlock()
	}
	return locked, nil
}

// same reports whether the file that is locked is still the one at its path.
func (f files) same(locked *kernelLock) bool {
	there, err1 := os.Lstat(f.lock)
	here, err2 := locked.stat()
	return err1 == nil && err2 == nil && os.SameFile(there, here)
}
