//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openSafely are flags for files that other users may have created. With them, open follows
// no symbolic link and does not block on a named pipe.
const openSafely = unix.O_NOFOLLOW | unix.O_NONBLOCK

// isSpecial reports whether err says that open met a symbolic link, a socket or a device.
func isSpecial(err error) bool {
	return errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK) || // FreeBSD
		errors.Is(err, unix.ENXIO) || errors.Is(err, unix.EOPNOTSUPP) // macOS
}

// patiently calls act. On other systems, it repeats what fails.
func patiently(act func() error) error { return act() }

// kernelLock is a file that the kernel has locked, or a byte of it.
type kernelLock struct {
	file *os.File
	at   int64 // the byte, or wholeFile
}

// change locks or unlocks. The error is EWOULDBLOCK if somebody else has locked it.
func (k *kernelLock) change(how int) error {
	if k.at != wholeFile {
		return lockByte(int(k.file.Fd()), k.at, how)
	}
	return unix.Flock(int(k.file.Fd()), how)
}

// openLock locks a file, and creates it if it does not exist, or locks a byte of a file. It
// returns nil if somebody else has locked it.
func openLock(path string, at int64, mode fs.FileMode, kind lockKind) (*kernelLock, error) {
	how, flags := unix.LOCK_EX|unix.LOCK_NB, os.O_RDWR
	if kind == lockShared {
		how, flags = unix.LOCK_SH|unix.LOCK_NB, os.O_RDONLY
	}
	if at == wholeFile {
		flags = os.O_RDONLY | os.O_CREATE
	}
	file, err := os.OpenFile(path, flags|openSafely, mode)
	if err != nil {
		return nil, err
	}
	k := &kernelLock{file, at}
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = k.change(how)
	}
	if err == nil && kind == lockInherited {
		_, err = unix.FcntlInt(file.Fd(), unix.F_SETFD, 0)
	}
	if err != nil {
		file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	// The umask of this process must not lock out other users of a shared folder. A file with
	// another name may be one of elsewhere, which another user has linked.
	if info, err := file.Stat(); at == wholeFile && err == nil && info.Mode().Perm() != mode && info.Sys().(*syscall.Stat_t).Nlink == 1 {
		_ = file.Chmod(mode) // fails for a file of another user, who has done it
	}
	return k, nil
}

func (k *kernelLock) stat() (fs.FileInfo, error) { return k.file.Stat() }

// unlock unlocks the file, even if other processes have inherited the lock.
func (k *kernelLock) unlock() error {
	return errors.Join(k.change(unix.LOCK_UN), k.file.Close())
}
