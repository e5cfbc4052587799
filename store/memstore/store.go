// Package memstore keeps documents in the memory of the process: they last as long as
// it does. It is for tests of programs that use package store, and for trials, which
// need no disk and no server.
//
// Start with [New], which returns a [store.Store]. Each store is on its own; goroutines that
// are to see the same documents share one.
//
// [Store.Watch] is woken by the writes themselves. A document whose key is not the greatest
// of its collection takes time in proportion to how many have a greater one; the keys of
// new ObjectIds are nearly always the greatest.
package memstore

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// Store is a [store.Store] in memory. [New] returns one.
type Store struct {
	mu          sync.Mutex
	life        engine.Lifetime
	collections map[string]*collection
	commits     int           // how many batches have been inserted
	news        chan struct{} // closed, and replaced, with each of them and by Close
}

var _ store.Store = (*Store)(nil)

// collection is the rows of one, in the order of their keys.
type collection struct{ rows []*row }

// row is a document. It does not change: a write puts another row in its place.
type row struct {
	key    store.Key
	doc    bson.Raw
	commit int // the number of the batch that inserted it
}

// New returns an empty store.
func New() *Store {
	return &Store{collections: map[string]*collection{}, news: make(chan struct{})}
}

// Close drops all documents and ends each Watch, see [store.Store].
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.End() {
		s.collections = nil
		close(s.news)
	}
	return nil
}

// in calls work with a collection while no other call uses the store, unless the store is
// closed, ctx has ended or the name is invalid. A collection that does not exist is empty.
func (s *Store) in(ctx context.Context, name string, work func(c *collection) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.life.Check(ctx, name); err != nil {
		return err
	}
	c := s.collections[name]
	if c == nil {
		c = new(collection)
	}
	return work(c)
}

// search returns the place of a key, or where it would be.
func (c *collection) search(key store.Key) (i int, found bool) {
	return slices.BinarySearchFunc(c.rows, key, func(r *row, key store.Key) int { return r.key.Compare(key) })
}

// get returns a copy of the document that has a key, or nil.
func (c *collection) get(key store.Key) bson.Raw {
	if i, found := c.search(key); found {
		return slices.Clone(c.rows[i].doc)
	}
	return nil
}

// bounds returns the places of the first row of a range, which leaves its lower bound out
// if open, and of the first after it.
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

// between returns the rows of a range.
func (c *collection) between(r store.Range) []*row {
	from, to := c.bounds(r, false)
	return c.rows[from:to]
}

// remove removes the rows from one place up to another.
func (c *collection) remove(from, to int) { c.rows = slices.Delete(c.rows, from, to) }

// replace puts a copy of a document in the place of another.
func (c *collection) replace(i int, doc bson.Raw) {
	c.rows[i] = &row{c.rows[i].key, slices.Clone(doc), c.rows[i].commit}
}

// Insert stores one document, see [store.Store].
func (s *Store) Insert(ctx context.Context, collection string, doc any) (store.Key, error) {
	return engine.Insert(ctx, s, collection, doc)
}

// InsertMany stores many documents, see [store.Store].
func (s *Store) InsertMany(ctx context.Context, name string, docs []any, o *store.InsertOptions) ([]store.Key, error) {
	if err := s.life.Check(ctx, name); err != nil {
		return make([]store.Key, len(docs)), err
	}
	return engine.InsertMany(docs, o, func(rows []engine.Row) (refused []store.Refusal, err error) {
		err = s.in(ctx, name, func(c *collection) error {
			s.commits++
			for _, r := range rows {
				if i, found := c.search(r.Key); !found {
					c.rows = slices.Insert(c.rows, i, &row{r.Key, slices.Clone(r.Doc), s.commits})
					s.collections[name] = c
				} else if refused = append(refused, store.Refusal{Index: r.Index, Err: engine.Duplicate(r.Key)}); o != nil && o.Ordered {
					break
				}
			}
			close(s.news)
			s.news = make(chan struct{})
			return nil
		})
		return refused, err
	})
}

// Replace replaces a document, see [store.Store].
func (s *Store) Replace(ctx context.Context, name string, doc any) error {
	key, raw, err := engine.Replacement(doc)
	return s.in(ctx, name, func(c *collection) error {
		i, found := c.search(key)
		switch {
		case err != nil:
			return err
		case !found:
			return engine.NotFound(key)
		}
		c.replace(i, raw)
		return nil
	})
}

// Swap replaces a document that has not changed, see [store.Store].
func (s *Store) Swap(ctx context.Context, collection string, old bson.Raw, new any) (bson.Raw, error) {
	return engine.Swap(ctx, s, collection, old, new)
}

// SwapMany does many swaps, see [store.Store].
func (s *Store) SwapMany(ctx context.Context, name string, swaps []store.Swap) ([]bson.Raw, error) {
	if err := s.life.Check(ctx, name); err != nil {
		return make([]bson.Raw, len(swaps)), err
	}
	return engine.SwapMany(swaps, func(changes []engine.Change) (refused []store.Refusal, err error) {
		err = s.in(ctx, name, func(c *collection) error {
			for _, change := range changes {
				switch i, found := c.search(change.Key); {
				case !found || !bytes.Equal(c.rows[i].doc, change.Old):
					refused = append(refused, store.Refusal{Index: change.Index, Err: engine.Unchanged(change.Key, found)})
				case change.New == nil:
					c.remove(i, i+1)
				default:
					c.replace(i, change.New)
				}
			}
			return nil
		})
		return refused, err
	})
}

// Get returns a document, see [store.Store].
func (s *Store) Get(ctx context.Context, name string, key store.Key) (doc bson.Raw, err error) {
	err = s.in(ctx, name, func(c *collection) error {
		if doc = c.get(key); doc == nil {
			return engine.NotFound(key)
		}
		return nil
	})
	return doc, err
}

// GetMany returns many documents, see [store.Store].
func (s *Store) GetMany(ctx context.Context, name string, keys []store.Key) (docs []bson.Raw, err error) {
	err = s.in(ctx, name, func(c *collection) error {
		for _, key := range keys {
			docs = append(docs, c.get(key))
		}
		return nil
	})
	return docs, err
}

// Find returns the documents of a query, see [store.Store].
func (s *Store) Find(ctx context.Context, name string, q store.Query) iter.Seq2[bson.Raw, error] {
	return engine.Sequence(func(yield func(bson.Raw) error) error {
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
	})
}

// FindMany returns the documents of many ranges, see [store.Store].
func (s *Store) FindMany(ctx context.Context, name string, ranges []store.Range, limit int) (docs [][]bson.Raw, err error) {
	err = s.in(ctx, name, func(c *collection) error {
		docs = make([][]bson.Raw, len(ranges))
		for i, r := range ranges {
			for n, row := range c.between(r) {
				if limit > 0 && n == limit {
					break
				}
				docs[i] = append(docs[i], slices.Clone(row.doc))
			}
		}
		return nil
	})
	return docs, err
}

// Count counts documents, see [store.Store].
func (s *Store) Count(ctx context.Context, name string, r store.Range) (n int64, err error) {
	err = s.in(ctx, name, func(c *collection) error {
		n = int64(len(c.between(r)))
		return nil
	})
	return n, err
}

// Delete removes a document, see [store.Store].
func (s *Store) Delete(ctx context.Context, name string, key store.Key) error {
	return s.in(ctx, name, func(c *collection) error {
		i, found := c.search(key)
		if !found {
			return engine.NotFound(key)
		}
		c.remove(i, i+1)
		return nil
	})
}

// DeleteRange removes the documents of a range, see [store.Store].
func (s *Store) DeleteRange(ctx context.Context, name string, r store.Range) (n int64, err error) {
	err = s.in(ctx, name, func(c *collection) error {
		from, to := c.bounds(r, false)
		c.remove(from, to)
		n = int64(to - from)
		return nil
	})
	return n, err
}

// Collections returns the names of the collections, see [store.Store].
func (s *Store) Collections(ctx context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.collections)), s.life.Err(ctx)
}

// Drop removes a collection, see [store.Store].
func (s *Store) Drop(ctx context.Context, name string) error {
	return s.in(ctx, name, func(*collection) error {
		if s.collections[name] == nil {
			return engine.NoCollection(name)
		}
		delete(s.collections, name)
		return nil
	})
}

// Watch follows a collection, see [store.Store].
func (s *Store) Watch(ctx context.Context, name string, r store.Range) iter.Seq2[bson.Raw, error] {
	return engine.Sequence(func(yield func(bson.Raw) error) error {
		for done := 0; ; {
			var found []*row
			var news <-chan struct{}
			err := s.in(ctx, name, func(c *collection) error {
				for _, row := range c.between(r) {
					if row.commit > done {
						found = append(found, row)
					}
				}
				done, news = s.commits, s.news
				return nil
			})
			if err != nil {
				return err
			}
			slices.SortStableFunc(found, func(a, b *row) int { return cmp.Compare(a.commit, b.commit) })
			for _, row := range found {
				if err := yield(slices.Clone(row.doc)); err != nil {
					return err
				}
			}
			select {
			case <-news:
			case <-ctx.Done():
			}
		}
	})
}
