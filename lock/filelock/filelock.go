// Package filelock keeps locks in a folder, for the processes of one machine. There is
// nothing to install. Package lock says what a lock promises and what it does not.
//
// Start with [New]. Each lock is a file in the folder. The kernel locks the file and unlocks
// it when the process that holds the lock ends, for any reason. So a lock has no TTL, a lease
// has no deadline, and a holder that is suspended keeps its lock. A second file records the
// holder and the last fencing token.
//
// With [lock.AcquireOptions.Group], programs that the holder starts while it holds the lock
// inherit the locked file, as with flock(1). If the holder is killed, the lock becomes free
// when the last of these programs has ended. [lock.Lease.Release] frees the lock at once, even
// if these programs still run.
//
// The folder must be on a local file system: a network file system may let two machines lock
// the same file. Anyone who can write to the folder can take and break its locks. [New]
// creates a folder for the current user only. If several users share a folder without the
// sticky bit, its files get the permissions of the folder.
//
// On Linux, users who do not trust each other can share a folder that has the sticky bit, such
// as one with the mode 1777 that belongs to root. The owner of the folder must use it first. A
// user can then hold a lock for ever and write false records, so that ticks of [lock.Once] run
// again or not at all. But no user can make two processes hold a lock of the folder.
//
// Waiters poll at least every 20 ms. They get the lock in no particular order.
package filelock

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
)

// Options tune a [Locker].
type Options struct {
	// Process is the gpid of this process, which everyone sees as the owner of its locks.
	// Default: gpid.Self("").
	Process gpid.GPID
	// Events is called with every event of the Locker's locks, see [lock.Event]. It may be
	// nil.
	Events func(lock.Event)
}

// Locker is a [lock.Locker] in a folder. Several Lockers and processes may use the same
// folder.
type Locker struct {
	lock.Locker // all methods

	dir   string
	mode  fs.FileMode // of the files
	user  string      // ends the names of records in a shared folder, otherwise empty
	calls *calls.Calls
}

// New returns a Locker for the locks in a folder, and creates the folder if it does not
// exist. The error is about the folder, or says why this process cannot be identified.
func New(dir string, o *Options) (*Locker, error) {
	opts := *cmp.Or(o, &Options{})
	c, err := calls.New(calls.Settings{Engine: "filelock", Process: opts.Process, Events: opts.Events})
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("filelock: create the folder of locks: %w", err)
	}
	l := &Locker{dir: dir, calls: c}
	info, err := os.Stat(dir)
	if err == nil {
		l.mode = info.Mode() & 0o666
		l.user, err = share(dir, info)
	}
	if err != nil {
		return nil, fmt.Errorf("filelock: %w", err)
	}
	if l.user != "" {
		l.mode = 0o644 // all users read the record, and only its user writes it
	}
	l.Locker = calls.NewLocker(c, calls.Backend{Acquire: l.acquire, Status: l.status, List: l.list, Break: l.breakLease, Note: l.note})
	return l, nil
}

// files are the files of one lock. Their names are hashes of the lock's name, because a
// lock's name may be longer than a file's, and two names may differ only in case.
type files struct {
	name   string // of the lock
	lock   string // path of the file that the kernel locks
	at     int64  // the byte of that file, or wholeFile
	base   string // begins the paths of all records of the lock
	record string // path of this user's record
	mode   fs.FileMode
}

// wholeFile is the at of a lock that has a file of its own.
const wholeFile = -1

// sharedFile is the file of a shared folder that the kernel locks, a byte for each lock. It
// belongs to the owner of the folder. So no other user can remove it while a lock is held.
const sharedFile = "all.lock"

const recordSuffix = ".json"

func (l *Locker) files(name string) files {
	sum := sha256.Sum256([]byte(name))
	base := filepath.Join(l.dir, hex.EncodeToString(sum[:16]))
	if l.user == "" {
		return files{name, base + ".lock", wholeFile, base, base + recordSuffix, l.mode}
	}
	at := int64(binary.BigEndian.Uint64(sum[16:]) >> 2)
	return files{name, filepath.Join(l.dir, sharedFile), at, base, base + "." + l.user + recordSuffix, l.mode}
}

// lockKind says how to lock a file.
type lockKind int

const (
	lockShared lockKind = iota
	lockExclusive
	lockInherited // exclusive, and inherited by programs that this process starts, if the system can do that
)

// take locks the file. It returns nil if somebody else has locked it. With inherit, programs
// that this process starts inherit the lock.
func (f files) take(inherit bool) (*kernelLock, error) {
	how := lockExclusive
	if inherit {
		how = lockInherited
	}
	locked, err := openLock(f.lock, f.at, f.mode, how)
	if err != nil || locked == nil {
		return nil, err
	}
	// Somebody may have removed the file before it was locked.
	if there, _ := f.same(locked); !there {
		return nil, locked.unlock()
	}
	return locked, nil
}

// same reports whether the path still leads to the file that is locked. The error says why it
// does not.
func (f files) same(locked *kernelLock) (bool, error) {
	there, err1 := os.Lstat(f.lock)
	here, err2 := locked.stat()
	return err1 == nil && err2 == nil && os.SameFile(there, here), errors.Join(err1, err2)
}
