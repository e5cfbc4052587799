//go:build !linux

package filelock

import (
	"errors"
	"io/fs"
)

// share does nothing on this system, whose users cannot share a folder that has the sticky bit.
func share(string, fs.FileInfo) (user string, err error) { return "", nil }

func lockByte(int, int64, int) error { return errors.ErrUnsupported }
