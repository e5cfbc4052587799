package server

import (
	"sync"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// traceCache keeps the traces of known processes for a moment: the ids of a log are
// often of one process and one second, for which the registry gives the same answer.
type traceCache struct {
	mu     sync.Mutex
	traces map[traceKey]cachedTrace
}

// traceKey is what a trace depends on: the seconds of an id and its process value.
type traceKey [9]byte

type cachedTrace struct {
	trace wire.Trace
	until time.Time
}

const (
	traceLife = time.Second
	maxTraces = 1000
)

// get returns the trace of an id, if it is kept.
func (c *traceCache) get(id objectid.ID, now time.Time) (wire.Trace, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.traces[traceKey(id[:9])]
	if !ok || now.After(t.until) {
		return wire.Trace{}, false
	}
	t.trace.ID = id
	return t.trace, true
}

// put keeps the trace of an id that was asked for at a time.
func (c *traceCache) put(id objectid.ID, t wire.Trace, asked time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.traces == nil || len(c.traces) >= maxTraces {
		c.traces = make(map[traceKey]cachedTrace)
	}
	c.traces[traceKey(id[:9])] = cachedTrace{t, asked.Add(traceLife)}
}

// forget drops all: the registry was changed.
func (c *traceCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.traces)
}
