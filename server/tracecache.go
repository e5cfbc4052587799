package server

import (
	"sync"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

// traceCache keeps traces for a moment: the ids of a log are often of one process and one
// second, for which the registry gives the same answer. What another server or program
// writes to the registry is seen when traceLife has passed, and what this server writes
// at once.
type traceCache struct {
	mu      sync.Mutex
	known   map[traceKey]cachedTrace
	others  map[traceKey]cachedTrace // apart: anyone can think of ids that are not known
	changed time.Time                // when forget was called last
}

// traceKey is what a trace depends on: the seconds of an id and its process value.
type traceKey [9]byte

type cachedTrace struct {
	trace wire.Trace
	until time.Time
}

const (
	traceLife = time.Second
	maxTraces = 1000 // known ones, and as many others
)

// get returns the trace of an id, if it is kept.
func (c *traceCache) get(id objectid.ID, now time.Time) (wire.Trace, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.known[traceKey(id[:9])]
	if !ok {
		t, ok = c.others[traceKey(id[:9])]
	}
	if !ok || now.After(t.until) {
		return wire.Trace{}, false
	}
	t.trace.ID = id
	return t.trace, true
}

// put keeps the trace of an id that was asked for at a time, unless the registry has
// changed since.
func (c *traceCache) put(id objectid.ID, t wire.Trace, asked time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !asked.After(c.changed) {
		return
	}
	to, from := &c.known, &c.others
	if t.Verdict != string(registry.Known) {
		to, from = from, to
	}
	if *to == nil || len(*to) >= maxTraces {
		*to = make(map[traceKey]cachedTrace)
	}
	(*to)[traceKey(id[:9])] = cachedTrace{t, asked.Add(traceLife)}
	delete(*from, traceKey(id[:9]))
}

// forget drops all: the registry was changed.
func (c *traceCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.known)
	clear(c.others)
	c.changed = time.Now()
}
