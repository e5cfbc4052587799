package engine

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// Database is what an engine does with its documents. It is called with names that are
// valid, ranges that are not empty, but for those of Find, and keys that are not zero, unless
// ctx has ended or the store is closed. A collection that does not exist is empty.
type Database interface {
	// Insert stores documents in one step, and returns those that it refuses. It asks the
	// batch for one at least; what it has not asked for is in the next batch. In an ordered
	// batch it stops at the first refused one and returns that alone. An error means that
	// none is known to be stored.
	Insert(ctx context.Context, collection string, b *Batch) ([]store.RefusedItem, error)
	// Change does changes, see [SwapMany].
	Change(ctx context.Context, collection string, changes []Change) ([]store.RefusedItem, error)
	// Replace replaces the document with a key, and reports whether there is one.
	Replace(ctx context.Context, collection string, key store.Key, doc bson.Raw) (found bool, err error)
	// Lookup yields the documents that have one of the keys, in any order.
	Lookup(ctx context.Context, collection string, keys []store.Key, yield func(bson.Raw) error) error
	// Find yields the documents of a query, see [Sequence].
	Find(ctx context.Context, collection string, q store.Query, yield func(bson.Raw) error) error
	// Count returns how many documents have a key in r.
	Count(ctx context.Context, collection string, r store.Range) (int64, error)
	// Delete removes the document with a key, and reports whether there was one.
	Delete(ctx context.Context, collection string, key store.Key) (found bool, err error)
	// DeleteRange removes the documents with a key in r, and returns how many.
	DeleteRange(ctx context.Context, collection string, r store.Range) (int64, error)
	// Collections returns the names of the collections, in any order.
	Collections(ctx context.Context) ([]string, error)
}

// Base is a [store.Store] in a Database, but for Close.
type Base struct {
	db    Database
	life  *Lifetime
	batch int
}

// NewBase returns a Base that looks up so many keys at once.
func NewBase(db Database, life *Lifetime, batch int) Base { return Base{db, life, batch} }

// Insert stores one document, see [store.Store].
func (b Base) Insert(ctx context.Context, collection string, doc any) (store.Key, error) {
	return One(b.InsertMany(ctx, collection, []any{doc}, nil))
}

// InsertMany stores documents, see [store.Store].
func (b Base) InsertMany(ctx context.Context, collection string, docs []any, o *store.InsertOptions) ([]store.Key, error) {
	if err := b.life.Check(ctx, collection); err != nil {
		return make([]store.Key, len(docs)), err
	}
	return InsertMany(docs, o, func(batch *Batch) ([]store.RefusedItem, error) { return b.db.Insert(ctx, collection, batch) })
}

// Replace replaces a document, see [store.Store].
func (b Base) Replace(ctx context.Context, collection string, doc any) error {
	if err := b.life.Check(ctx, collection); err != nil {
		return err
	}
	key, raw, err := Replacement(doc)
	if err != nil {
		return err
	}
	found, err := b.db.Replace(ctx, collection, key, raw)
	return orNotFound(key, found, err)
}

// orNotFound returns the error of a call for the document with a key.
func orNotFound(key store.Key, found bool, err error) error {
	if err == nil && !found {
		return fmt.Errorf("%w: %s", store.ErrNotFound, key)
	}
	return err
}

// Swap replaces a document that has not changed, see [store.Store].
func (b Base) Swap(ctx context.Context, collection string, old bson.Raw, new any) (bson.Raw, error) {
	if new == nil { // SwapMany would delete
		_, _, err := marshal(new)
		return nil, err
	}
	return One(b.SwapMany(ctx, collection, []store.Swap{{Old: old, New: new}}))
}

// SwapMany does many swaps, see [store.Store].
func (b Base) SwapMany(ctx context.Context, collection string, swaps []store.Swap) ([]bson.Raw, error) {
	if err := b.life.Check(ctx, collection); err != nil {
		return make([]bson.Raw, len(swaps)), err
	}
	return SwapMany(swaps, func(changes []Change) ([]store.RefusedItem, error) { return b.db.Change(ctx, collection, changes) })
}

// Get returns a document, see [store.Store].
func (b Base) Get(ctx context.Context, collection string, key store.Key) (doc bson.Raw, err error) {
	if err := b.life.Check(ctx, collection); err != nil {
		return nil, err
	}
	if !key.IsZero() {
		err = b.db.Lookup(ctx, collection, []store.Key{key}, func(found bson.Raw) error {
			doc = found
			return nil
		})
	}
	return doc, orNotFound(key, doc != nil, err)
}

// GetMany returns many documents, see [store.Store]. It looks up each key once and in
// their order, so that neighbours are read from one page of the database.
func (b Base) GetMany(ctx context.Context, collection string, keys []store.Key) ([]bson.Raw, error) {
	if err := b.life.Check(ctx, collection); err != nil {
		return nil, err
	}
	docs := make([]bson.Raw, len(keys))
	places := make(map[store.Key][]int, len(keys))
	var rest []store.Key
	for i, key := range keys {
		if places[key] == nil && !key.IsZero() {
			rest = append(rest, key)
		}
		places[key] = append(places[key], i)
	}
	slices.SortFunc(rest, store.Key.Compare)
	for some := range slices.Chunk(rest, b.batch) {
		err := b.db.Lookup(ctx, collection, some, func(doc bson.Raw) error {
			key, err := store.KeyOf(doc)
			for n, i := range places[key] {
				if docs[i] = doc; n > 0 {
					docs[i] = slices.Clone(doc) // the caller owns each
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// Find returns the documents of a query, see [store.Store].
func (b Base) Find(ctx context.Context, collection string, q store.Query) iter.Seq2[bson.Raw, error] {
	return Sequence(func(yield func(bson.Raw) error) error {
		if err := b.life.Check(ctx, collection); err != nil {
			return err
		}
		return b.db.Find(ctx, collection, q, yield)
	})
}

// FindMany returns the documents of many ranges, see [store.Store]. Each has a query.
func (b Base) FindMany(ctx context.Context, collection string, ranges []store.Range, limit int) ([][]bson.Raw, error) {
	if err := b.life.Check(ctx, collection); err != nil {
		return nil, err
	}
	docs := make([][]bson.Raw, len(ranges))
	for i, r := range ranges {
		err := b.db.Find(ctx, collection, store.Query{Range: r, Limit: limit}, func(doc bson.Raw) error {
			docs[i] = append(docs[i], doc)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// Count counts documents, see [store.Store].
func (b Base) Count(ctx context.Context, collection string, r store.Range) (int64, error) {
	if err := b.life.Check(ctx, collection); err != nil || r.IsEmpty() {
		return 0, err
	}
	return b.db.Count(ctx, collection, r)
}

// Delete removes a document, see [store.Store].
func (b Base) Delete(ctx context.Context, collection string, key store.Key) (err error) {
	if err := b.life.Check(ctx, collection); err != nil {
		return err
	}
	found := false
	if !key.IsZero() {
		found, err = b.db.Delete(ctx, collection, key)
	}
	return orNotFound(key, found, err)
}

// DeleteRange removes the documents of a range, see [store.Store].
func (b Base) DeleteRange(ctx context.Context, collection string, r store.Range) (int64, error) {
	if err := b.life.Check(ctx, collection); err != nil || r.IsEmpty() {
		return 0, err
	}
	return b.db.DeleteRange(ctx, collection, r)
}

// Collections returns the names of the collections, see [store.Store].
func (b Base) Collections(ctx context.Context) ([]string, error) {
	if err := b.life.Err(ctx); err != nil {
		return nil, err
	}
	names, err := b.db.Collections(ctx)
	slices.Sort(names)
	return names, err
}

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
