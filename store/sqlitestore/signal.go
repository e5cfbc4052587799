package sqlitestore

import (
	"sync"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

var _ store.Signaler = (*Store)(nil)

// listeners are the listeners for signals in this process. To send a signal, a process sets
// the modification time of the file. The kernel reports that to all processes that
// watch the file, so a signal wakes all listeners, whatever their topics.
type listeners struct {
	all   engine.Listeners
	begin sync.Once  // starts watch
	watch *fileWatch // until Close; nil if the kernel does not report changes
}

// Signal implements [store.Signaler]. It wakes all listeners, whatever their topics.
func (s *Store) Signal(...string) { touch(s.db.path) }

// Listen implements [store.Signaler]. Signals arrive only on Linux.
func (s *Store) Listen(topic string) (signals <-chan struct{}, works func() bool, stop func()) {
	l := &s.db.listeners
	l.begin.Do(func() { l.watch = watchFile(s.db.path, func() { l.all.Wake("") }) })
	signals, stop = l.all.Add(topic)
	return signals, func() bool { return l.watch != nil }, stop
}

// close ends the watch in the background, because the kernel takes 10 ms and more for that.
func (l *listeners) close() {
	if l.begin.Do(func() {}); l.watch != nil {
		go l.watch.close()
	}
}
