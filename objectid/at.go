package objectid

import (
	"sync"
	"sync/atomic"
	"time"
)

// dated is the process value and the counter of NewAt, of which each id has another
// low word.
var dated struct {
	once  sync.Once
	block uint32
	low   atomic.Uint32
}

// NewAt returns a new ID of the second of t, for documents whose creation time is
// known, such as those imported from elsewhere. It differs from every ID that this
// process has created, as long as NewAt creates fewer than 2^32: its process value is
// not that of [New]. Ids of one second increase until the counter overflows. A t before
// 1970 or after 2106-02-07T06:28:15Z counts as the nearest second that fits in an ID.
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
