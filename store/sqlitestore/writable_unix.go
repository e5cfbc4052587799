//go:build unix

package sqlitestore

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// checkWritable returns an error if this process may not write to the file. It does not open the
// file: closing it again would release the locks that SQLite has on it.
func checkWritable(path string) error {
	if err := unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}
