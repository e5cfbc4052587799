package store

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/singleflight"
)

// OpenLater returns a store that open opens when it is first called, so that a program can
// start while its store cannot be reached. Until open has succeeded each call opens, or
// waits for an open that is under way, and returns its error; from then on the store is
// that of open. A wrong URL is therefore an error of the calls as well. At most one open
// is under way; it goes on if the context of a call ends, whose error then wraps that of
// the last open that failed, too. Its own context ends with Close. open may create what is
// missing, such as the folder of a file.
func OpenLater(open func(context.Context) (Store, error)) Store {
	l := &opener{open: open}
	l.life, l.end = context.WithCancel(context.Background())
	return later{opener: l, as: func(s Store) Store { return s }}
}

// opener opens a store once.
type opener struct {
	open  func(context.Context) (Store, error)
	life  context.Context // ends with Close
	end   context.CancelFunc
	calls singleflight.Group    // of open
	store atomic.Pointer[Store] // nil until open has succeeded

	failure atomic.Pointer[error] // of the last open that failed, nil if none has
}

// get returns the store, which it opens if it is not open yet.
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
			return nil, fmt.Errorf("%w while the store is opened again after: %w", context.Cause(ctx), *last)
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

// Close ends an open that is under way, and closes the store if it is open.
func (o *opener) Close() error {
	o.end()
	_, _, _ = o.calls.Do("", o.run) // waits for that open
	if s := o.store.Load(); s != nil {
		return (*s).Close()
	}
	return nil
}

// later is the store of an opener, as it is seen through as.
type later struct {
	*opener
	as func(Store) Store
}

// Linearizable returns the store of l as [Linearizable] returns it.
func (l later) Linearizable() Store { return later{l.opener, Linearizable} }

// opened calls call with the open store.
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
