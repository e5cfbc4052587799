package engine

import "sync"

// Listeners are those that listen for topics. The zero Listeners are none.
type Listeners struct {
	mu  sync.Mutex
	all map[chan struct{}]string // the topic of each
}

// Add returns a channel of one place that gets a value each time a topic is woken, until
// stop is called.
func (l *Listeners) Add(topic string) (news <-chan struct{}, stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := make(chan struct{}, 1)
	if l.all == nil {
		l.all = make(map[chan struct{}]string)
	}
	l.all[c] = topic
	return c, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, c)
	}
}

// Wake wakes those that listen for a topic, or all if it is empty.
func (l *Listeners) Wake(topic string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c, listensFor := range l.all {
		if topic == "" || topic == listensFor {
			select {
			case c <- struct{}{}:
			default: // it will wake anyway
			}
		}
	}
}
