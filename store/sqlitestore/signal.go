package sqlitestore

import (
	"sync"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

var _ store.Signaler = (*Store)(nil)

// listeners are those that listen for signals. A signal is a change of the time at
// which the file was modified, which the kernel reports to all of them, whatever their
// topics.
type listeners struct {
	all   engine.Listeners
	begin sync.Once  // of watch
	watch *fileWatch // nil where the kernel does not report; it stays until Close
}

// Signal wakes all that listen, see [store.Signaler].
func (s *Store) Signal(...string) { touch(s.db.path) }

// Listen makes a listener of signals, see [store.Signaler].
func (s *Store) Listen(topic string) (signals <-chan struct{}, works func() bool, stop func()) {
	l := &s.db.listeners
	l.begin.Do(func() { l.watch = watchFile(s.db.path, func() { l.all.Wake("") }) })
	signals, stop = l.all.Add(topic)
	return signals, func() bool { return l.watch != nil }, stop
}

// close ends the watch in the background: the kernel takes 10 ms and more for it.
func (l *listeners) close() {
	if l.begin.Do(func() {}); l.watch != nil {
		go l.watch.close()
	}
}
