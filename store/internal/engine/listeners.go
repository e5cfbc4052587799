package engine

import "sync"

// Listeners is a set of listeners, each for one topic. The zero value is an empty set. Any number
// of goroutines may share it.
type Listeners struct {
	mu  sync.Mutex
	all map[chan struct{}]string // the topic of each listener
}

// Add adds a listener for a topic until stop is called. The channel news receives a value when
// the topic is woken; its buffer holds one value.
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

// Wake wakes the listeners for a topic, or all listeners if topic is empty.
func (l *Listeners) Wake(topic string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c, listensFor := range l.all {
		if topic == "" || topic == listensFor {
			select {
			case c <- struct{}{}:
			default: // the listener has not yet received the previous value
			}
		}
	}
}
