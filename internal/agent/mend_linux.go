package agent

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// part is a part of the agent that can fail while the agent runs.
type part int

const (
	theSink part = iota
	theSocket
	theState
)

// parts has the name of each part in the metrics, and what the log says when it begins to
// fail and when it works again.
var parts = [...]struct{ name, fails, works string }{
	theSink:   {"store", "processes cannot be recorded now; they are kept and recorded later", "processes are recorded again"},
	theSocket: {"socket", "programs cannot connect; the agent keeps trying to make its socket again", "programs can connect again"},
	theState:  {"state", "the state file is not complete; the agent keeps trying to write it", "the state file is complete again"},
}

// fails reports whether a part fails.
func (a *agent) fails(p part) bool { return !a.failing[p].IsZero() }

// report says that a part fails with err or, if err is nil, that it works. It logs when a
// part begins to fail, and when it works again.
func (a *agent) report(p part, err error) {
	switch {
	case err == nil && a.fails(p):
		a.Log.Info(parts[p].works)
		a.failing[p] = time.Time{}
	case err != nil && !a.fails(p):
		a.Log.Warn(parts[p].fails, "error", err)
		a.failing[p] = time.Now()
	}
}

// mend makes a part work again, which needs the file at path and fails with wrong.
func (a *agent) mend(p part, wrong error, path string, again func() error) {
	err := a.folder(path)
	if err == nil {
		err = again()
	}
	a.report(p, cmp.Or(err, wrong))
	a.report(p, err)
}

// socket is the socket at which programs connect.
type socket struct {
	*net.UnixListener
	dup  *os.File    // its descriptor is agent.listener
	file os.FileInfo // nil if the agent sees no file; while the socket is open, no other file gets its inode
}

// use makes l the socket of the agent, after it has accepted those who connected to the
// socket before. If it fails, it closes l.
func (a *agent) use(l *net.UnixListener) error {
	f, err := l.File()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	// With SO_PASSCRED the kernel tells which process wrote each part. Connections inherit it.
	fd := int(f.Fd())
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1)
	if err = errors.Join(err, unix.SetNonblock(fd, true), a.watch(fd)); err != nil {
		return errors.Join(err, f.Close(), l.Close())
	}
	if a.socket.dup != nil {
		for readable(a.listener) {
			a.accept()
		}
		a.socket.close()
	}
	a.socket, a.listener = socket{l, f, nil}, fd
	a.socket.file, _ = os.Lstat(l.Addr().String())
	return nil
}

// close closes the socket and removes its file, but no file that has taken its path.
func (s *socket) close() {
	if moved(s.Addr().String(), s.file) != nil {
		s.SetUnlinkOnClose(false)
	}
	s.Close()
	s.dup.Close()
}

// mendSocket makes the socket again if its file was removed.
func (a *agent) mendSocket() {
	if a.socket.file == nil {
		return
	}
	path := a.socket.Addr().String()
	switch err := moved(path, a.socket.file); {
	case err == nil:
		a.report(theSocket, nil)
	case a.Listen == nil:
		a.report(theSocket, fmt.Errorf("%w; systemd has passed the socket, so restart its unit, whose name ends in .socket", err))
	default:
		a.mend(theSocket, err, path, func() error {
			l, err := a.Listen()
			if err == nil {
				err = a.use(l.(*net.UnixListener))
			}
			return err
		})
	}
}

// repair replaces the state file if it is not complete, or not the one that was written.
func (a *agent) repair() {
	if a.state.file == nil {
		return
	}
	dir := filepath.Dir(a.State)
	info, err := a.state.file.Stat()
	written, _ := a.state.file.Seek(0, io.SeekCurrent)
	if err == nil {
		err = cmp.Or(moved(a.State, info), os.NewSyscallError("write to "+dir, unix.Access(dir, unix.W_OK))) // the file system may be read-only now
	}
	if err == nil && written != info.Size() {
		err = fmt.Errorf("another program has changed %s", a.State)
	}
	if err != nil || a.fails(theState) {
		a.mend(theState, err, a.State, a.rewrite)
	}
}

// moved returns an error unless the file at path is that of info.
func moved(path string, info os.FileInfo) error {
	now, err := os.Lstat(path)
	if err == nil && !os.SameFile(now, info) {
		err = fmt.Errorf("%s was replaced", path)
	}
	return err
}

// folder makes the folder of path again if it was removed, with the permissions and the owner
// that it had when folder was called before.
func (a *agent) folder(path string) error {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	was := a.folders[dir]
	if err == nil || was == nil {
		a.folders[dir] = info
		return err
	}
	if err = os.Mkdir(dir, 0o700); err == nil {
		s := was.Sys().(*syscall.Stat_t)
		err = errors.Join(os.Lchown(dir, int(s.Uid), int(s.Gid)), os.Chmod(dir, was.Mode()))
	}
	return err
}
