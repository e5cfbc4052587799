//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filelock

import (
	"errors"
	"io/fs"
	"time"

	"github.com/gofrs/flock"
)

// openSafely has no flags on this system.
const openSafely = 0

func isSpecial(error) bool { return false }

// patience is how long patiently repeats what fails.
const patience = 5 * time.Second

// patiently repeats act for a while if it fails: Windows replaces no file that somebody reads, and
// opens none that somebody replaces.
func patiently(act func() error) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if err := act(); err == nil || errors.Is(err, fs.ErrNotExist) || time.Now().After(deadline) {
			return err
		}
	}
}

// kernelLock is a file that the kernel has locked.
type kernelLock struct{ flock *flock.Flock }

// openLock locks a file, and creates it if it does not exist. It returns nil if somebody else
// has locked it. Programs do not inherit locks on this system.
func openLock(path string, _ int64, mode fs.FileMode, kind lockKind) (*kernelLock, error) {
	f := flock.New(path, flock.SetPermissions(mode))
	try := f.TryLock
	if kind == lockShared {
		try = f.TryRLock
	}
	if ok, err := try(); err != nil || !ok {
		return nil, err
	}
	return &kernelLock{f}, nil
}

func (k *kernelLock) stat() (fs.FileInfo, error) { return k.flock.Stat() }

func (k *kernelLock) unlock() error { return k.flock.Unlock() }
