//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openSafely is a flag for files that others may have made: it opens no symbolic
// link and does not wait for the other end of a pipe.
const openSafely = unix.O_NOFOLLOW | unix.O_NONBLOCK

// isSymlink reports whether err says that openSafely refused a symbolic link.
func isSymlink(err error) bool {
	return errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK) // FreeBSD
}

// kernelLock is a file that the kernel has locked.
type kernelLock struct{ file *os.File }

// openLock locks a file, which it makes if it does not exist, or returns nil if
// somebody else has it locked.
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
	// The mask of this process does not decide about a folder that users share.
	if info, err := file.Stat(); err == nil && info.Mode().Perm() != mode {
		_ = file.Chmod(mode) // another user's file need not be mended
	}
	return &kernelLock{file}, nil
}

func (k *kernelLock) stat() (fs.FileInfo, error) { return k.file.Stat() }

// unlock frees the lock, for those too who have inherited it.
func (k *kernelLock) unlock() error {
	return errors.Join(unix.Flock(int(k.file.Fd()), unix.LOCK_UN), k.file.Close())
}
