package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// pipeSize is how many bytes an unprivileged process can ask the kernel to keep in a pipe by
// default, see /proc/sys/fs/pipe-max-size.
const pipeSize = 1 << 20

func init() { widen = widenPipe }

// widenPipe lets a pipe hold pipeSize bytes, unless it holds more. Where the kernel refuses,
// as for a user with many such pipes, and for what is no pipe, nothing changes.
func widenPipe(w io.Writer) {
	f, ok := w.(*os.File)
	if !ok {
		return
	}
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) {
		if size, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0); err == nil && size < pipeSize {
			_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize)
		}
	})
}
