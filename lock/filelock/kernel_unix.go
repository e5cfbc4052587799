//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openSafely are flags for files that other users may have created. With them, open follows
// no symbolic link and does not block on a named pipe.
const openSafely = unix.O_NOFOLLOW | unix.O_NONBLOCK

// isSymlink reports whether err says that open met a symbolic link.
func isSymlink(err error) bool {
	return errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK) // FreeBSD
}

// patiently calls act. On other systems, it repeats what fails.
func patiently(act func() error) error { return act() }

// kernelLock is a file that the kernel has locked.
type kernelLock struct{ file *os.File }

// openLock locks a file, and creates it if it does not exist. It returns nil if somebody else
// has locked it.
func openLock(path string, mode fs.FileMode, kind lockKind) (*kernelLock, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY|openSafely, mode)
	if err != nil {
		return nil, err
	}
	fd := int(file.Fd())
	how := unix.LOCK_EX
	if kind == lockShared {
		how = unix.LOCK_SH
	}
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Flock(fd, how|unix.LOCK_NB)
	}
	if err == nil && kind == lockInherited {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0)
	}
	if err != nil {
		file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	// The umask of this process must not lock out other users of a shared folder.
	if info, err := file.Stat(); err == nil && info.Mode().Perm() != mode {
		_ = file.Chmod(mode) // fails for a file of another user, who has done it
	}
	return &kernelLock{file}, nil
}

func (k *kernelLock) stat() (fs.FileInfo, error) { return k.file.Stat() }

// unlock unlocks the file, even if other processes have inherited the lock.
func (k *kernelLock) unlock() error {
	return errors.Join(unix.Flock(int(k.file.Fd()), unix.LOCK_UN), k.file.Close())
}
