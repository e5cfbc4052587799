package registry

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// batches is a store that joins single writes into larger calls. While a call for a kind of
// write is under way, further writes of that kind wait and then become one call. So
// heartbeats of many processes take few transactions, and each write waits for two calls at
// most.
type batches struct {
	store.Store

	mu      sync.Mutex
	waiting map[writeKind][]*queuedWrite // of the kinds of which writes are under way
}

// writeKind is the collection of a write and whether it is an insert or a swap.
type writeKind struct {
	collection string
	insert     bool
}

// queuedWrite is one call of Insert or Swap, and its result.
type queuedWrite struct {
	ctx    context.Context
	insert any // or nil
	swap   store.Swap

	key    store.Key
	stored bson.Raw
	err    error
	done   chan struct{} // closed when the result is there
}

// maxBatch bounds the number of writes in a call, so that no call takes long.
const maxBatch = 2000

func newBatches(s store.Store) *batches {
	return &batches{Store: s, waiting: map[writeKind][]*queuedWrite{}}
}

// Insert is [store.Store.Insert].
func (b *batches) Insert(ctx context.Context, collection string, doc any) (store.Key, error) {
	w := b.write(writeKind{collection, true}, &queuedWrite{ctx: ctx, insert: doc})
	return w.key, w.err
}

// Swap is [store.Store.Swap].
func (b *batches) Swap(ctx context.Context, collection string, old bson.Raw, new any) (bson.Raw, error) {
	w := b.write(writeKind{collection, false}, &queuedWrite{ctx: ctx, swap: store.Swap{Old: old, New: new}})
	return w.stored, w.err
}

// write does w and returns it. If the context of w ends first, write returns another
// queuedWrite with the error, and w may still be under way.
func (b *batches) write(kind writeKind, w *queuedWrite) *queuedWrite {
	w.done = make(chan struct{})
	b.mu.Lock()
	waiting, busy := b.waiting[kind]
	if busy {
		waiting = append(waiting, w)
	}
	b.waiting[kind] = waiting
	b.mu.Unlock()
	if !busy {
		defer b.next(kind) // also if the store panics
		b.do(w.ctx, kind, []*queuedWrite{w})
		return w
	}
	select {
	case <-w.done:
		return w
	case <-w.ctx.Done():
		return &queuedWrite{err: context.Cause(w.ctx)}
	}
}

// next starts the writes that wait. Their call is canceled when the contexts of all callers
// have ended.
func (b *batches) next(kind writeKind) {
	b.mu.Lock()
	defer b.mu.Unlock()
	batch := b.waiting[kind]
	if len(batch) == 0 {
		delete(b.waiting, kind)
		return
	}
	batch = batch[:min(len(batch), maxBatch)]
	b.waiting[kind] = b.waiting[kind][len(batch):]
	go func() {
		defer b.next(kind)
		ctx, cancel := context.WithCancel(context.WithoutCancel(batch[0].ctx))
		defer cancel()
		var callers atomic.Int64
		callers.Store(int64(len(batch)))
		for _, w := range batch {
			defer context.AfterFunc(w.ctx, func() {
				if callers.Add(-1) == 0 {
					cancel()
				}
			})()
		}
		b.do(ctx, kind, batch)
	}()
}

// do writes a batch with one call of the store.
func (b *batches) do(ctx context.Context, kind writeKind, batch []*queuedWrite) {
	inserts, swaps := make([]any, len(batch)), make([]store.Swap, len(batch))
	for i, w := range batch {
		inserts[i], swaps[i] = w.insert, w.swap
	}
	var keys []store.Key
	var stored []bson.Raw
	var err error
	if kind.insert {
		keys, err = b.InsertMany(ctx, kind.collection, inserts, nil)
	} else {
		stored, err = b.SwapMany(ctx, kind.collection, swaps)
	}
	for i, key := range keys {
		batch[i].key = key
	}
	for i, doc := range stored {
		batch[i].stored = doc
	}
	for i, err := range errorsOf(len(batch), err) {
		batch[i].err = err
		close(batch[i].done)
	}
}

// errorsOf returns the error of each of the n writes of a call that returned err.
func errorsOf(n int, err error) []error {
	refused, ok := errors.AsType[*store.BulkError](err)
	if !ok {
		return slices.Repeat([]error{err}, n)
	}
	errs := make([]error, n)
	for _, r := range refused.Refused {
		errs[r.Index] = r.Err
	}
	return errs
}
