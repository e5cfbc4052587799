package door

import (
	"context"
	"sync"
	"time"
)

// budget bounds the memory that all requests together take. A part of it is for small
// requests only, so that they are answered beside large ones.
type budget struct {
	large    int64  // bytes for requests of any size
	makeRoom func() // ends a request whose client keeps the server waiting

	mu    sync.Mutex
	total int64
	taken int64
	freed chan struct{} // closed when memory was given back; nil if nobody waits
}

// small is the size up to which a request is a small one.
const small = 512 << 10

func newBudget(total int64, makeRoom func()) *budget {
	return &budget{large: total - total/4, total: total, makeRoom: makeRoom}
}

// inUse returns the bytes that are taken.
func (b *budget) inUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken
}

// try takes n bytes, or returns a channel that is closed when it is worth another
// try.
func (b *budget) try(n int64, isSmall bool) (ok bool, freed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	bound := b.large
	if isSmall {
		bound = b.total
	}
	if b.taken+n > bound {
		if b.freed == nil {
			b.freed = make(chan struct{})
		}
		return false, b.freed
	}
	b.taken += n
	return true, nil
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken -= n
	if b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}

// allowance is the memory of one request. Its methods must not be called at the same
// time.
type allowance struct {
	budget *budget
	of     *connection // or nil
	bytes  int64
}

// grow takes n bytes more. It waits a moment for them, and returns ErrMemory if there
// are none.
func (a *allowance) grow(ctx context.Context, n int64, patience time.Duration) error {
	if n > a.budget.large {
		return ErrMemory
	}
	for end := time.After(patience); ; {
		ok, freed := a.budget.try(n, a.bytes+n <= small)
		if ok {
			break
		}
		a.budget.makeRoom()
		select {
		case <-freed:
		case <-time.After(stalled / 4):
		case <-end:
			return ErrMemory
		case <-ctx.Done():
			return ErrMemory
		}
	}
	a.bytes += n
	if a.of != nil {
		a.of.memory.Add(n)
	}
	return nil
}

// release gives all back.
func (a *allowance) release() {
	if a.bytes == 0 {
		return
	}
	a.budget.give(a.bytes)
	if a.of != nil {
		a.of.memory.Add(-a.bytes)
	}
	a.bytes = 0
}
