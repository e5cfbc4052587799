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

// batches is a store that does single writes together: those that come while another
// of their kind is under way wait for it, and are then one call. So the heartbeats of
// many processes are few transactions, and each write waits for two calls at most.
type batches struct {
	store.Store

	mu    sync.Mutex
	lines map[writeKind]*writeLine
}

// writeKind is the kind of a write: to which collection, and whether it inserts.
type writeKind struct {
	collection string
	insert     bool
}

// writeLine is the writes of one kind.
type writeLine struct {
	writeKind
	busy    bool
	waiting []*queuedWrite
}

// queuedWrite is one call of Insert, Swap or DeleteIf and its result.
type queuedWrite struct {
	ctx    context.Context
	insert any // or nil
	swap   store.Swap

	key    store.Key
	stored bson.Raw
	err    error
	done   chan struct{} // closed when the result is there
}

// maxBatch bounds how many writes are one call, so that none takes long.
const maxBatch = 2000

func newBatches(s store.Store) *batches { return &batches{Store: s, lines: map[writeKind]*writeLine{}} }

// Insert is [store.Store.Insert].
func (b *batches) Insert(ctx context.Context, collection string, doc any) (store.Key, error) {
	w := &queuedWrite{ctx: ctx, insert: doc}
	if err := b.write(writeKind{collection, true}, w); err != nil {
		return store.Key{}, err
	}
	return w.key, nil
}

// Swap is [store.Store.Swap].
func (b *batches) Swap(ctx context.Context, collection string, old bson.Raw, new any) (bson.Raw, error) {
	w := &queuedWrite{ctx: ctx, swap: store.Swap{Old: old, New: new}}
	if err := b.write(writeKind{collection, false}, w); err != nil {
		return nil, err
	}
	return w.stored, nil
}

// DeleteIf is [store.Store.DeleteIf].
func (b *batches) DeleteIf(ctx context.Context, collection string, old bson.Raw) error {
	return b.write(writeKind{collection, false}, &queuedWrite{ctx: ctx, swap: store.Swap{Old: old}})
}

// write does w, or waits until it is done. The result in w is the caller's only
// without an error: a write that its caller gave up may still be under way.
func (b *batches) write(kind writeKind, w *queuedWrite) error {
	b.mu.Lock()
	l := b.lines[kind]
	if l == nil {
		l = &writeLine{writeKind: kind}
		b.lines[kind] = l
	}
	if l.busy {
		w.done = make(chan struct{})
		l.waiting = append(l.waiting, w)
		b.mu.Unlock()
		select {
		case <-w.done:
			return w.err
		case <-w.ctx.Done(): // w may be done all the same
			return context.Cause(w.ctx)
		}
	}
	l.busy = true
	b.mu.Unlock()
	defer b.next(l)
	b.one(w.ctx, l, w)
	return w.err
}

// next starts the writes that wait.
func (b *batches) next(l *writeLine) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(l.waiting), maxBatch)
	if l.busy = n > 0; !l.busy {
		return
	}
	batch := l.waiting[:n:n]
	l.waiting = l.waiting[n:]
	go func() {
		defer b.next(l)
		b.all(l, batch)
		for _, w := range batch {
			close(w.done)
		}
	}()
}

// all does a batch, until the last of its callers has gone.
func (b *batches) all(l *writeLine, batch []*queuedWrite) {
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
	switch {
	case len(batch) == 1:
		b.one(ctx, l, batch[0])
	case l.insert:
		b.inserts(ctx, l.collection, batch)
	default:
		b.swaps(ctx, l.collection, batch)
	}
}

func (b *batches) one(ctx context.Context, l *writeLine, w *queuedWrite) {
	switch {
	case l.insert:
		w.key, w.err = b.Store.Insert(ctx, l.collection, w.insert)
	case w.swap.New == nil:
		w.err = b.Store.DeleteIf(ctx, l.collection, w.swap.Old)
	default:
		w.stored, w.err = b.Store.Swap(ctx, l.collection, w.swap.Old, w.swap.New)
	}
}

func (b *batches) inserts(ctx context.Context, collection string, batch []*queuedWrite) {
	docs := make([]any, len(batch))
	for i, w := range batch {
		docs[i] = w.insert
	}
	keys, err := b.InsertMany(ctx, collection, docs, nil)
	share(batch, err)
	for i, key := range keys {
		batch[i].key = key
	}
}

func (b *batches) swaps(ctx context.Context, collection string, batch []*queuedWrite) {
	swaps := make([]store.Swap, len(batch))
	for i, w := range batch {
		swaps[i] = w.swap
	}
	stored, err := b.SwapMany(ctx, collection, swaps)
	share(batch, err)
	for i, doc := range stored {
		batch[i].stored = doc
	}
}

// share gives each write its part of the error of all.
func share(batch []*queuedWrite, err error) {
	for i, err := range errorsOf(len(batch), err) {
		batch[i].err = err
	}
}

// errorsOf returns the errors of the n writes of a call that returned err.
func errorsOf(n int, err error) []error {
	refused, ok := errors.AsType[*store.RefusedError](err)
	if !ok {
		return slices.Repeat([]error{err}, n)
	}
	errs := make([]error, n)
	for _, r := range refused.Refused {
		errs[r.Index] = r.Err
	}
	return errs
}
