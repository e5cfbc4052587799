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

const theSink, theSocket, theState part = 0, 1, 2

// parts has the name of each part in the metrics, and what the log says when it begins to
// fail and when it works again.
var parts = [...]struct{ name, fails, works string }{
	theSink:   {"store", "processes cannot be recorded now; they are kept and recorded later", "processes are recorded again"},
	theSocket: {"socket", "programs cannot connect; the agent keeps trying to make its socket again", "programs can connect again"},
	theState:  {"state", "the state file is not complete; the agent keeps trying to write it", "the state file is complete again"},
}

// reasonTime is how long a failing part is silent before it logs that it fails for another
// reason: reasons may alternate.
const reasonTime = 30 * time.Second

// report says that a part fails with err or, if err is nil, that it works. It logs when a
// part begins to fail, when it fails for another reason, and when it works again.
func (a *agent) report(p part, err error) {
	said := &a.said[p]
	switch gauge := a.counts.failing.WithLabelValues(parts[p].name); {
	case err == nil && a.failing[p]:
		a.Log.Info(parts[p].works)
		gauge.Set(0)
	case err != nil && (!a.failing[p] || said.reason != err.Error() && time.Since(said.at) >= reasonTime):
		said.reason, said.at = err.Error(), time.Now()
		a.Log.Warn(parts[p].fails, "error", err)
		gauge.Set(1)
	}
	a.failing[p] = err != nil
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

// use makes l the socket of the agent, after it has accepted those who connected to the
// socket before.
func (a *agent) use(l *net.UnixListener) error {
	for a.socket != nil && readable(a.listener) {
		a.accept()
	}
	a.leave()
	raw, err := l.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { a.listener = int(fd) })
	}
	a.socket = l
	a.file, _ = os.Lstat(l.Addr().String())
	// With SO_PASSCRED the kernel tells which process wrote each part. Connections inherit it.
	return cmp.Or(err, unix.SetsockoptInt(a.listener, unix.SOL_SOCKET, unix.SO_PASSCRED, 1), a.watch(a.listener))
}

// leave closes the socket. It removes the file of the socket, but no file that has taken its
// path.
func (a *agent) leave() {
	if a.socket != nil && moved(a.socket.Addr().String(), a.file) != nil {
		a.socket.SetUnlinkOnClose(false)
	}
	a.socket.Close() // an error if it is nil
}

// mendSocket makes the socket again if its file was removed.
func (a *agent) mendSocket() {
	if a.file == nil {
		return
	}
	path := a.socket.Addr().String()
	wrong := moved(path, a.file)
	if wrong == nil {
		a.report(theSocket, nil)
		return
	}
	a.mend(theSocket, wrong, path, func() error {
		if a.Listen == nil {
			return fmt.Errorf("%w; systemd has passed the socket, so restart its unit, whose name ends in .socket", wrong)
		}
		l, err := a.Listen()
		if err == nil {
			err = a.use(l.(*net.UnixListener))
		}
		return err
	})
}

// repair replaces the state file if it is not complete, or not the one that was written.
func (a *agent) repair() {
	dir := filepath.Dir(a.State)
	info, err := a.state.file.Stat()
	written, _ := a.state.file.Seek(0, io.SeekCurrent)
	err = cmp.Or(err, moved(a.State, info), os.NewSyscallError("write to "+dir, unix.Access(dir, unix.W_OK))) // the file system may be read-only now
	if err == nil && written != info.Size() {
		err = fmt.Errorf("another program has changed %s", a.State)
	}
	if err != nil || a.failing[theState] {
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
		var f *os.File
		if f, err = os.OpenFile(dir, syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0); err == nil { // not if it is a link by now
			err = errors.Join(f.Chown(int(s.Uid), int(s.Gid)), f.Chmod(was.Mode()), f.Close())
		}
	}
	return err
}
