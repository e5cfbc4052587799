package objectid

import (
	"sync"
	"sync/atomic"
	"time"
)

// dated holds the process value and the counter of NewAt. Each call increments low, so ids of
// one second increase until low overflows.
var dated struct {
	once  sync.Once
	block uint32
	low   atomic.Uint32
}

// NewAt returns a new ID for a document that was created at t. The ID has the second of t, or
// the nearest second that an ID can hold. The first 2^32 results differ from each other and
// from the ids of New.
func NewAt(t time.Time) ID {
	dated.once.Do(func() {
		stdOnce.Do(initStd)
		// The Modern layout does not depend on the host: there is no error.
		for dated.block == 0 || dated.block == uint32(std.value.Load()) {
			block, low, _, _ := Modern.words()
			dated.block = block
			dated.low.Store(low)
		}
	})
	var id ID
	putWords(&id, second(t)<<32|uint64(dated.block), dated.low.Add(1))
	return id
}
