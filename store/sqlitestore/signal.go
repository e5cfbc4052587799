package sqlitestore

import (
	"sync"

	"github.com/oidkit/oid/store"
)

var _ store.Signaler = (*Store)(nil)

// listeners are those that listen for signals. A signal is a change of the time at
// which the file was modified, which the kernel reports to all of them, whatever their
// topics.
type listeners struct {
	mu    sync.Mutex
	all   map[chan struct{}]bool // nil until somebody listens
	watch *fileWatch             // nil where the kernel does not report; it stays until Close
}

// Signal wakes all that listen, see [store.Signaler].
func (s *Store) Signal(...string) { touch(s.path) }

// Listen makes a listener of signals, see [store.Signaler].
func (s *Store) Listen(string) (signals <-chan struct{}, works func() bool, stop func()) {
	l := &s.listeners
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil && !s.life.Ended() {
		l.all = make(map[chan struct{}]bool)
		l.watch = watchFile(s.path, l.wake)
	}
	c, watched := make(chan struct{}, 1), l.watch != nil
	if watched {
		l.all[c] = true
	}
	return c, func() bool { return watched }, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, c)
	}
}

// close ends the watch in the background: the kernel takes 10 ms and more for it.
func (l *listeners) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watch != nil {
		go l.watch.close()
	}
}

func (l *listeners) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.all {
		select {
		case c <- struct{}{}:
		default: // it will wake anyway
		}
	}
}
