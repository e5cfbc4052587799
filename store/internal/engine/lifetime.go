package engine

import (
	"context"
	"sync/atomic"

	"github.com/oidkit/oid/store"
)

// Lifetime is that of a store. The zero Lifetime has not ended.
type Lifetime struct{ ended atomic.Bool }

// End ends l, and reports whether this is the first call.
func (l *Lifetime) End() bool { return !l.ended.Swap(true) }

// Ended reports whether l has ended.
func (l *Lifetime) Ended() bool { return l.ended.Load() }

// Err returns the error of a call after the end of l or of ctx, or nil.
func (l *Lifetime) Err(ctx context.Context) error {
	if l.Ended() {
		return store.ErrClosed
	}
	return context.Cause(ctx)
}

// Check returns the error that every method with a collection returns before it asks
// the database, or nil.
func (l *Lifetime) Check(ctx context.Context, collection string) error {
	if err := l.Err(ctx); err != nil {
		return err
	}
	return store.CheckCollection(collection)
}
