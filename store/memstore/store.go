// Package memstore is an engine of package store that keeps documents in the memory of the
// process. The documents are lost when the store is closed or the process ends. It is meant for
// tests of programs that use package store, and for trials.
//
// Start with [New], which returns a [store.Store]. Two stores share no documents: to see the
// same documents, goroutines must share one store.
//
// Inserting a document takes time in proportion to the number of documents with a greater
// key. That is fast for new ObjectIds, which are nearly always the greatest keys.
package memstore

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// Store is a store in memory, created by [New]. It implements [store.Store]. Any number of
// goroutines may share it.
type Store struct {
	engine.Base // all methods of [store.Store] except Close
	db          *database
}

// database is the [engine.Database] of a Store.
type database struct {
	mu          sync.Mutex
	life        engine.Lifetime
	collections map[string]*collection
}

var _ store.Store = (*Store)(nil)

// collection holds the documents of a collection, sorted by key.
type collection struct{ rows []*row }

// row is a document. It is immutable: a write replaces the row.
type row struct {
	key store.Key
	doc bson.Raw
}

// batch is the number of keys that are looked up under one lock.
const batch = 1000

// New returns an empty store.
func New() *Store {
	s := &database{collections: map[string]*collection{}}
	return &Store{engine.NewBase(s, &s.life, batch), s}
}

// Close removes all documents from memory and closes the store. It always returns nil.
func (s *Store) Close() error {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	if s.db.life.End() {
		s.db.collections = nil
	}
	return nil
}

// in locks the store and calls work with a collection, which is empty if it does not exist. It
// returns an error and does not call work if the store is closed or ctx is done.
func (s *database) in(ctx context.Context, name string, work func(c *collection) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.life.Err(ctx); err != nil {
		return err
	}
	c := s.collections[name]
	if c == nil {
		c = new(collection)
	}
	return work(c)
}

// search returns the index of the row with a key. If there is none, i is the index at which
// such a row must be inserted.
func (c *collection) search(key store.Key) (i int, found bool) {
	return slices.BinarySearchFunc(c.rows, key, func(r *row, key store.Key) int { return r.key.Compare(key) })
}

// bounds returns the index of the first row in a range, and that of the first row after it. If
// open is true, the range does not contain its lower bound.
func (c *collection) bounds(r store.Range, open bool) (from, to int) {
	from, found := c.search(r.From)
	if open && found {
		from++
	}
	if to = len(c.rows); !r.To.IsZero() {
		to, _ = c.search(r.To)
	}
	return from, max(from, to)
}

// replace replaces the document at index i by a copy of doc.
func (c *collection) replace(i int, doc bson.Raw) {
	c.rows[i] = &row{c.rows[i].key, slices.Clone(doc)}
}

// Insert implements [engine.Database].
func (s *database) Insert(ctx context.Context, name string, b *engine.Batch) (refused []store.RefusedItem, err error) {
	rows := b.Rows()
	err = s.in(ctx, name, func(c *collection) error {
		for _, r := range rows {
			if i, found := c.search(r.Key); !found {
				c.rows = slices.Insert(c.rows, i, &row{r.Key, slices.Clone(r.Doc)})
				s.collections[name] = c
			} else if refused = append(refused, r.Duplicate()); b.Ordered() {
				break
			}
		}
		return nil
	})
	return refused, err
}

// Replace implements [engine.Database].
func (s *database) Replace(ctx context.Context, name string, key store.Key, doc bson.Raw) (found bool, err error) {
	err = s.in(ctx, name, func(c *collection) error {
		var i int
		if i, found = c.search(key); found {
			c.replace(i, doc)
		}
		return nil
	})
	return found, err
}

// Change implements [engine.Database].
func (s *database) Change(ctx context.Context, name string, changes []engine.Change) (refused []store.RefusedItem, err error) {
	err = s.in(ctx, name, func(c *collection) error {
		for _, change := range changes {
			switch i, found := c.search(change.Key); {
			case !found || !bytes.Equal(c.rows[i].doc, change.Old):
				refused = append(refused, change.Unchanged(found))
			case change.New == nil:
				c.rows = slices.Delete(c.rows, i, i+1)
			default:
				c.replace(i, change.New)
			}
		}
		return nil
	})
	return refused, err
}

// Lookup implements [engine.Database].
func (s *database) Lookup(ctx context.Context, name string, keys []store.Key, yield func(bson.Raw) error) error {
	return s.in(ctx, name, func(c *collection) error {
		for _, key := range keys {
			if i, found := c.search(key); found {
				if err := yield(slices.Clone(c.rows[i].doc)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Find implements [engine.Database].
func (s *database) Find(ctx context.Context, name string, q store.Query, yield func(bson.Raw) error) error {
	for n := 0; q.Limit <= 0 || n < q.Limit; n++ {
		var doc bson.Raw
		err := s.in(ctx, name, func(c *collection) error {
			i, end := c.bounds(engine.Bounds(q))
			if i == end {
				return nil
			}
			if q.Descending {
				i = end - 1
			}
			q.After, doc = c.rows[i].key, slices.Clone(c.rows[i].doc)
			return nil
		})
		if err != nil || doc == nil {
			return err
		}
		if err := yield(doc); err != nil {
			return err
		}
	}
	return nil
}

// Count implements [engine.Database].
func (s *database) Count(ctx context.Context, name string, r store.Range) (n int64, err error) {
	err = s.in(ctx, name, func(c *collection) error {
		from, to := c.bounds(r, false)
		n = int64(to - from)
		return nil
	})
	return n, err
}

// Delete implements [engine.Database].
func (s *database) Delete(ctx context.Context, name string, key store.Key) (found bool, err error) {
	err = s.in(ctx, name, func(c *collection) error {
		var i int
		if i, found = c.search(key); found {
			c.rows = slices.Delete(c.rows, i, i+1)
		}
		return nil
	})
	return found, err
}

// DeleteRange implements [engine.Database].
func (s *database) DeleteRange(ctx context.Context, name string, r store.Range) (n int64, err error) {
	err = s.in(ctx, name, func(c *collection) error {
		from, to := c.bounds(r, false)
		c.rows = slices.Delete(c.rows, from, to)
		n = int64(to - from)
		return nil
	})
	return n, err
}

// Collections implements [engine.Database].
func (s *database) Collections(ctx context.Context) (names []string, err error) {
	err = s.in(ctx, "", func(*collection) error {
		names = slices.Collect(maps.Keys(s.collections))
		return nil
	})
	return names, err
}
