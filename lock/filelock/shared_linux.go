package filelock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// share returns the name of this user's records, if the folder has the sticky bit. Then each
// user may replace only his own files, and all users need a file that none of them can replace.
// The owner of the folder makes that file.
func share(dir string, folder fs.FileInfo) (user string, err error) {
	if folder.Mode()&fs.ModeSticky == 0 {
		return "", nil
	}
	path, owner := filepath.Join(dir, sharedFile), userOf(folder)
	if owner == os.Geteuid() {
		// O_EXCL, because the mode of a file that somebody else has put there must not change.
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			err = errors.Join(file.Chmod(0o666), file.Close()) // whatever the umask is
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w; all users share this folder, because it has the sticky bit: its owner, user %d, must use it first", err, owner)
	case userOf(info) != owner && userOf(info) != 0:
		return "", fmt.Errorf("%s does not belong to the owner of the folder, user %d, who must remove it", path, owner)
	}
	return strconv.Itoa(os.Geteuid()), nil
}

func userOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

// lockByte locks a byte of a file. As with flock, the lock belongs to the open file, and
// programs inherit it with that.
func lockByte(fd int, at int64, how int) error {
	kind := map[int]int16{unix.LOCK_SH: unix.F_RDLCK, unix.LOCK_EX: unix.F_WRLCK, unix.LOCK_UN: unix.F_UNLCK}[how&^unix.LOCK_NB]
	return unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Start: at, Len: 1})
}
