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

// Database is the part of a store that each engine implements. A [Base] calls it with
// checked arguments only: names of collections are valid, keys are not zero, and ranges are
// not empty, except in the queries of Find. It is not called after ctx has ended or the
// store was closed. A collection that does not exist must behave like an empty one.
type Database interface {
	// Insert stores the documents of a batch in one transaction, and returns the refused
	// ones, whose keys are taken. It must take at least one document from the batch;
	// documents that it does not take are in the next batch. If the batch is ordered,
	// Insert stops at the first refused document and returns only that one. An error
	// means that no document of the batch is known to be stored.
	Insert(ctx context.Context, collection string, b *Batch) ([]store.RefusedItem, error)
	// Change makes each change whose stored document is still Old, and returns the refusals
	// of the others, in any order. The changes are sorted by key, and no key occurs
	// twice. An error means that none of the changes is known to be made.
	Change(ctx context.Context, collection string, changes []Change) ([]store.RefusedItem, error)
	// Replace replaces the document with the key. found is false if there is none.
	Replace(ctx context.Context, collection string, key store.Key, doc bson.Raw) (found bool, err error)
	// Lookup calls yield for each document that has one of the keys, in any order.
	Lookup(ctx context.Context, collection string, keys []store.Key, yield func(bson.Raw) error) error
	// Find calls yield for each document of a query, in order. If yield returns an error, Find
	// stops and returns an error.
	Find(ctx context.Context, collection string, q store.Query, yield func(bson.Raw) error) error
	// Count returns the number of documents with a key in r.
	Count(ctx context.Context, collection string, r store.Range) (int64, error)
	// Delete deletes the document with the key. found is false if there is none.
	Delete(ctx context.Context, collection string, key store.Key) (found bool, err error)
	// DeleteRange deletes the documents with a key in r and returns their number.
	DeleteRange(ctx context.Context, collection string, r store.Range) (int64, error)
	// Collections returns the names of the collections, in any order.
	Collections(ctx context.Context) ([]string, error)
}

// Base implements all methods of [store.Store] except Close, with a Database. NewBase returns
// one.
type Base struct {
	db    Database
	life  *Lifetime
	batch int
}

// NewBase returns a Base that uses db until life ends. batch is the maximum number of keys in one
// call of db.Lookup.
func NewBase(db Database, life *Lifetime, batch int) Base { return Base{db, life, batch} }

// Insert implements [store.Store].
func (b Base) Insert(ctx context.Context, collection string, doc any) (store.Key, error) {
	return One(b.InsertMany(ctx, collection, []any{doc}, nil))
}

// InsertMany implements [store.Store].
func (b Base) InsertMany(ctx context.Context, collection string, docs []any, o *store.InsertOptions) ([]store.Key, error) {
	if err := b.life.Check(ctx, collection); err != nil {
		return make([]store.Key, len(docs)), err
	}
	return InsertMany(docs, o, func(batch *Batch) ([]store.RefusedItem, error) { return b.db.Insert(ctx, collection, batch) })
}

// Replace implements [store.Store].
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

// orNotFound returns err. If err is nil and found is false, it returns an error that wraps
// [store.ErrNotFound].
func orNotFound(key store.Key, found bool, err error) error {
	if err == nil && !found {
		return fmt.Errorf("%w: no document has the _id %s", store.ErrNotFound, key)
	}
	return err
}

// Swap implements [store.Store].
func (b Base) Swap(ctx context.Context, collection string, old bson.Raw, new any) (bson.Raw, error) {
	if new == nil { // SwapMany would delete
		_, _, err := marshal(new)
		return nil, err
	}
	return One(b.SwapMany(ctx, collection, []store.Swap{{Old: old, New: new}}))
}

// SwapMany implements [store.Store].
func (b Base) SwapMany(ctx context.Context, collection string, swaps []store.Swap) ([]bson.Raw, error) {
	if err := b.life.Check(ctx, collection); err != nil {
		return make([]bson.Raw, len(swaps)), err
	}
	return SwapMany(swaps, func(changes []Change) ([]store.RefusedItem, error) { return b.db.Change(ctx, collection, changes) })
}

// Get implements [store.Store].
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

// GetMany implements [store.Store]. It looks up each key once, and sorts the keys, so
// that documents on the same page of the database are read together.
func (b Base) GetMany(ctx context.Context, collection string, keys []store.Key) ([]bson.Raw, error) {
	if err := b.life.Check(ctx, collection); err != nil {
		return nil, err
	}
	docs := make([]bson.Raw, len(keys))
	indexes := make(map[store.Key][]int, len(keys))
	var rest []store.Key
	for i, key := range keys {
		if indexes[key] == nil && !key.IsZero() {
			rest = append(rest, key)
		}
		indexes[key] = append(indexes[key], i)
	}
	slices.SortFunc(rest, store.Key.Compare)
	for some := range slices.Chunk(rest, b.batch) {
		err := b.db.Lookup(ctx, collection, some, func(doc bson.Raw) error {
			key, err := store.KeyOf(doc)
			for n, i := range indexes[key] {
				if docs[i] = doc; n > 0 {
					docs[i] = slices.Clone(doc) // the caller owns each document
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

// Find implements [store.Store].
func (b Base) Find(ctx context.Context, collection string, q store.Query) iter.Seq2[bson.Raw, error] {
	return Sequence(func(yield func(bson.Raw) error) error {
		if err := b.life.Check(ctx, collection); err != nil {
			return err
		}
		return b.db.Find(ctx, collection, q, yield)
	})
}

// FindMany implements [store.Store] with one query per range.
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

// Count implements [store.Store].
func (b Base) Count(ctx context.Context, collection string, r store.Range) (int64, error) {
	if err := b.life.Check(ctx, collection); err != nil || r.IsEmpty() {
		return 0, err
	}
	return b.db.Count(ctx, collection, r)
}

// Delete implements [store.Store].
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

// DeleteRange implements [store.Store].
func (b Base) DeleteRange(ctx context.Context, collection string, r store.Range) (int64, error) {
	if err := b.life.Check(ctx, collection); err != nil || r.IsEmpty() {
		return 0, err
	}
	return b.db.DeleteRange(ctx, collection, r)
}

// Collections implements [store.Store].
func (b Base) Collections(ctx context.Context) ([]string, error) {
	if err := b.life.Err(ctx); err != nil {
		return nil, err
	}
	names, err := b.db.Collections(ctx)
	slices.Sort(names)
	return names, err
}

// Lifetime records whether a store was closed. The zero Lifetime is that of an open store.
type Lifetime struct{ ended atomic.Bool }

// End records that the store is closed. It returns true at the first call and false later.
func (l *Lifetime) End() bool { return !l.ended.Swap(true) }

// Ended reports whether End was called.
func (l *Lifetime) Ended() bool { return l.ended.Load() }

// Err returns [store.ErrClosed] if the store is closed, the cause of ctx if ctx is done, and nil
// otherwise.
func (l *Lifetime) Err(ctx context.Context) error {
	if l.Ended() {
		return store.ErrClosed
	}
	return context.Cause(ctx)
}

// Check returns an error if the store is closed, ctx is done or the name of the collection is
// invalid. Every method with a collection calls it before it uses the database.
func (l *Lifetime) Check(ctx context.Context, collection string) error {
	if err := l.Err(ctx); err != nil {
		return err
	}
	return store.CheckCollection(collection)
}
