package sqlitestore

import (
	"os"

	"golang.org/x/sys/unix"
)

// touch sets the modification time of a file to now. It does not open the file: closing it again
// would release the locks that SQLite has on it.
func touch(path string) { _ = unix.UtimesNanoAt(unix.AT_FDCWD, path, nil, 0) }

// fileWatch is an inotify watch for the attributes of a file.
type fileWatch struct{ events *os.File }

// watchFile calls changed after each change of a file's attributes, until close is called. It
// returns nil if the kernel cannot watch the file, for example because the user has too many
// watches.
func watchFile(path string, changed func()) *fileWatch {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	w := &fileWatch{os.NewFile(uintptr(fd), "inotify")}
	if _, err := unix.InotifyAddWatch(fd, path, unix.IN_ATTRIB); err != nil {
		w.close()
		return nil
	}
	go func() {
		for events := make([]byte, 4096); ; changed() {
			if _, err := w.events.Read(events); err != nil {
				return
			}
		}
	}()
	return w
}

func (w *fileWatch) close() { _ = w.events.Close() }
