package server

import (
	"sync"
	"time"
)

// recent keeps answers of the registry for a moment. What another server or program
// writes to the registry is seen when recentLife has passed, and what this server writes
// at once. The zero value is ready for use.
type recent[K comparable, V any] struct {
	mu      sync.Mutex
	kept    map[K]recentAnswer[V]
	changed time.Time // when forget was called last
}

type recentAnswer[V any] struct {
	value V
	until time.Time
}

const recentLife = time.Second

// get returns the answer to a question, if it is kept.
func (c *recent[K, V]) get(k K, now time.Time) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.kept[k]
	if !ok || now.After(a.until) {
		return v, false
	}
	return a.value, true
}

// put keeps the answer to a question that was asked at a time, with at most as many
// others, unless the registry has changed since.
func (c *recent[K, V]) put(k K, v V, asked time.Time, others int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !asked.After(c.changed) {
		return
	}
	if c.kept == nil || len(c.kept) >= others {
		c.kept = make(map[K]recentAnswer[V])
	}
	c.kept[k] = recentAnswer[V]{v, asked.Add(recentLife)}
}

// forget drops all: the registry was changed.
func (c *recent[K, V]) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.kept)
	c.changed = time.Now()
}
