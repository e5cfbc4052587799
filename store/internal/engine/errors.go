package engine

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/oidkit/oid/internal/causes"
	"github.com/oidkit/oid/store"
)

// NotFound returns the error for a key that no document has.
func NotFound(key store.Key) error { return fmt.Errorf("%w: %s", store.ErrNotFound, key) }

// Duplicate returns the error for a key that is taken.
func Duplicate(key store.Key) error { return fmt.Errorf("%w: %s", store.ErrDuplicate, key) }

// Unchanged returns the error for a document that a swap did not change, by whether one
// has its key.
func Unchanged(key store.Key, found bool) error {
	if found {
		return fmt.Errorf("%w: %s was written by another since it was read", store.ErrConflict, key)
	}
	return NotFound(key)
}

// NoCollection returns the error for a collection that does not exist.
func NoCollection(name string) error {
	return fmt.Errorf("%w: no collection %q", store.ErrNotFound, name)
}

// Unreachable returns the error for a server that does not answer: its name and
// hosts, the causes of err, and what to do. It wraps err, whose own text it leaves out.
func Unreachable(server, hosts string, err error) error {
	return Reworded(err, "%s at %s does not answer (%s); see that it runs and that the URL names its host and port", server, hosts, causes.Of(err))
}

// Reworded returns an error that wraps err and has another text.
func Reworded(err error, format string, args ...any) error {
	return &reworded{fmt.Sprintf(format, args...), err}
}

type reworded struct {
	text string
	err  error
}

func (e *reworded) Error() string { return e.text }
func (e *reworded) Unwrap() error { return e.err }

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
