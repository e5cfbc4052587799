package filelock

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
)

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
