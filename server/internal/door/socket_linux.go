package door

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// readable reports whether a connection has bytes that are not read yet, or a listener has
// connections that are not accepted yet.
func readable(socket any) bool {
	s, ok := socket.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	var events int16
	err = raw.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | unix.POLLRDHUP}}
		if n, err := unix.Poll(fds, 0); err == nil && n > 0 {
			events = fds[0].Revents
		}
	})
	return err == nil && events == unix.POLLIN // rather than the end of the connection or an error
}
