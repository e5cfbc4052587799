package objectid

import (
	"sync"
	"sync/atomic"
	"time"
)

// dated is the process value and the counter of NewAt, of which each id has another
// low word. Ids of one second increase until that overflows.
var dated struct {
	once  sync.Once
	block uint32
	low   atomic.Uint32
}

// NewAt returns a new ID of the second of t, or of the nearest one that fits in an ID, for
// documents whose creation time is known. It differs from all other ids of this process,
// up to 2^32 calls.
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
