package store

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/singleflight"
)

// OpenLater returns a store that is opened by its first method call instead of at once, so
// that a program can start while its database is unreachable.
//
// Until the store is open, each method call tries to open it by calling open, and returns the
// error of open if that fails, for example because the URL is wrong. At most one call of open
// runs at a time; method calls that come meanwhile wait for it. If the context of a waiting
// method call ends, that call returns an error that wraps [context.Cause] of its context and
// the error of the last failed open. The running call of open goes on: the context that open
// is given ends only when the returned store is closed.
//
// open may also create what the store needs, such as the folder of a file.
func OpenLater(open func(context.Context) (Store, error)) Store {
	l := &opener{open: open}
	l.life, l.end = context.WithCancel(context.Background())
	return later{opener: l, as: func(s Store) Store { return s }}
}

// opener opens a store at most once, and remembers the last error until it has succeeded.
type opener struct {
	open  func(context.Context) (Store, error)
	life  context.Context // ends with Close
	end   context.CancelFunc
	calls singleflight.Group    // so that open runs once at a time
	store atomic.Pointer[Store] // nil until open has succeeded

	failure atomic.Pointer[error] // error of the last failed open; nil if none has failed
}

// get returns the store. If the store is not open yet, get opens it.
func (o *opener) get(ctx context.Context) (Store, error) {
	if s := o.store.Load(); s != nil && o.life.Err() == nil {
		return *s, nil
	}
	select {
	case result := <-o.calls.DoChan("", o.run):
		if result.Err != nil {
			return nil, result.Err
		}
		return *o.store.Load(), nil
	case <-ctx.Done():
		if last := o.failure.Load(); last != nil {
			return nil, fmt.Errorf("%w while opening the store again; the last attempt failed: %w", context.Cause(ctx), *last)
		}
		return nil, context.Cause(ctx)
	}
}

func (o *opener) run() (_ any, err error) {
	if o.store.Load() == nil && o.life.Err() == nil {
		var s Store
		if s, err = o.open(o.life); err == nil {
			o.store.Store(&s)
		} else {
			failure := err
			o.failure.Store(&failure)
		}
	}
	if o.life.Err() != nil {
		err = ErrClosed
	}
	return nil, err
}

// Close cancels a call of open that is running, and closes the store if it is open.
func (o *opener) Close() error {
	o.end()
	_, _, _ = o.calls.Do("", o.run) // waits for that open
	if s := o.store.Load(); s != nil {
		return (*s).Close()
	}
	return nil
}

// later is a [Store] that passes each call to the store of an opener, wrapped by as.
type later struct {
	*opener
	as func(Store) Store
}

// Linearizable implements [Linearizable] for a store that is not open yet.
func (l later) Linearizable() Store { return later{l.opener, Linearizable} }

// opened opens the store of l if necessary, and calls call with it.
func opened[T any](ctx context.Context, l later, call func(Store) (T, error)) (result T, err error) {
	s, err := l.get(ctx)
	if err != nil {
		return result, err
	}
	return call(l.as(s))
}

// do is opened for calls that return only an error.
func (l later) do(ctx context.Context, call func(Store) error) error {
	_, err := opened(ctx, l, func(s Store) (none struct{}, err error) { return none, call(s) })
	return err
}

// each is opened for calls that return a sequence.
func (l later) each(ctx context.Context, call func(Store) iter.Seq2[bson.Raw, error]) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		s, err := l.get(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		call(l.as(s))(yield)
	}
}

func (l later) Insert(ctx context.Context, collection string, doc any) (Key, error) {
	return opened(ctx, l, func(s Store) (Key, error) { return s.Insert(ctx, collection, doc) })
}

func (l later) InsertMany(ctx context.Context, collection string, docs []any, o *InsertOptions) ([]Key, error) {
	return opened(ctx, l, func(s Store) ([]Key, error) { return s.InsertMany(ctx, collection, docs, o) })
}

func (l later) Replace(ctx context.Context, collection string, doc any) error {
	return l.do(ctx, func(s Store) error { return s.Replace(ctx, collection, doc) })
}

func (l later) Swap(ctx context.Context, collection string, old bson.Raw, new any) (bson.Raw, error) {
	return opened(ctx, l, func(s Store) (bson.Raw, error) { return s.Swap(ctx, collection, old, new) })
}

func (l later) SwapMany(ctx context.Context, collection string, swaps []Swap) ([]bson.Raw, error) {
	return opened(ctx, l, func(s Store) ([]bson.Raw, error) { return s.SwapMany(ctx, collection, swaps) })
}

func (l later) Get(ctx context.Context, collection string, key Key) (bson.Raw, error) {
	return opened(ctx, l, func(s Store) (bson.Raw, error) { return s.Get(ctx, collection, key) })
}

func (l later) GetMany(ctx context.Context, collection string, keys []Key) ([]bson.Raw, error) {
	return opened(ctx, l, func(s Store) ([]bson.Raw, error) { return s.GetMany(ctx, collection, keys) })
}

func (l later) Find(ctx context.Context, collection string, q Query) iter.Seq2[bson.Raw, error] {
	return l.each(ctx, func(s Store) iter.Seq2[bson.Raw, error] { return s.Find(ctx, collection, q) })
}

func (l later) FindMany(ctx context.Context, collection string, ranges []Range, limit int) ([][]bson.Raw, error) {
	return opened(ctx, l, func(s Store) ([][]bson.Raw, error) { return s.FindMany(ctx, collection, ranges, limit) })
}

func (l later) Count(ctx context.Context, collection string, r Range) (int64, error) {
	return opened(ctx, l, func(s Store) (int64, error) { return s.Count(ctx, collection, r) })
}

func (l later) Delete(ctx context.Context, collection string, key Key) error {
	return l.do(ctx, func(s Store) error { return s.Delete(ctx, collection, key) })
}

func (l later) DeleteRange(ctx context.Context, collection string, r Range) (int64, error) {
	return opened(ctx, l, func(s Store) (int64, error) { return s.DeleteRange(ctx, collection, r) })
}

func (l later) Collections(ctx context.Context) ([]string, error) {
	return opened(ctx, l, func(s Store) ([]string, error) { return s.Collections(ctx) })
}
