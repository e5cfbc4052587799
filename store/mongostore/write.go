package mongostore

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/oidkit/oid/store"
)

// Insert stores doc and returns its key, see [store.Store].
func (s *Store) Insert(ctx context.Context, collection string, doc any) (store.Key, error) {
	c, err := s.collection(collection)
	if err != nil {
		return store.Key{}, err
	}
	key, raw, err := store.Prepare(doc, s.options.NewID)
	if err != nil {
		return store.Key{}, err
	}
	if _, err := c.InsertOne(ctx, raw); mongo.IsDuplicateKeyError(err) {
		return store.Key{}, fmt.Errorf("%w: %s", store.ErrDuplicate, key)
	} else if err != nil {
		return store.Key{}, s.explain(ctx, err)
	}
	return key, nil
}

// InsertMany stores documents, see [store.Store].
func (s *Store) InsertMany(ctx context.Context, collection string, docs []any, o *store.InsertOptions) ([]store.Key, error) {
	c, err := s.collection(collection)
	if err != nil {
		return nil, err
	}
	in := inserting{ordered: o != nil && o.Ordered, keys: make([]store.Key, len(docs))}
	in.prepare(docs, s)
	if len(in.raws) > 0 {
		_, err := c.InsertMany(ctx, in.raws, options.InsertMany().SetOrdered(in.ordered))
		if err := in.take(err); err != nil {
			clear(in.keys) // which of them are stored is not known
			return in.keys, s.explain(ctx, err)
		}
	}
	return in.keys, in.err()
}

// inserting is one call of InsertMany.
type inserting struct {
	ordered bool
	keys    []store.Key
	refused map[int]error

	raws   []any // what is sent
	places []int // where that was among the documents
}

// prepare turns the documents into what is sent, up to the first that cannot be
// stored if the call is ordered.
func (in *inserting) prepare(docs []any, s *Store) {
	in.refused = map[int]error{}
	for i, doc := range docs {
		key, raw, err := store.Prepare(doc, s.options.NewID)
		if err != nil {
			in.refused[i] = err
			if in.ordered {
				return
			}
			continue
		}
		in.keys[i] = key
		in.raws = append(in.raws, raw)
		in.places = append(in.places, i)
	}
}

// take sorts the server's answer: documents that it has refused are noted, and
// any other error is returned.
func (in *inserting) take(err error) error {
	var bulk mongo.BulkWriteException
	if !errors.As(err, &bulk) || bulk.WriteConcernError != nil {
		return err
	}
	if in.ordered { // the server has stopped before whatever prepare refused
		clear(in.refused)
	}
	for _, w := range bulk.WriteErrors {
		i := in.places[w.Index]
		if in.refused[i] = error(w); mongo.IsDuplicateKeyError(w) {
			in.refused[i] = fmt.Errorf("%w: %s", store.ErrDuplicate, in.keys[i])
		}
		if in.ordered {
			clear(in.keys[i:])
		}
		in.keys[i] = store.Key{}
	}
	return nil
}

func (in *inserting) err() error {
	e := new(store.InsertError)
	for i := range in.keys {
		if err := in.refused[i]; err != nil {
			e.Refused = append(e.Refused, store.Refusal{Index: i, Err: err})
		}
	}
	if e.Refused == nil {
		return nil
	}
	return e
}

// Replace puts doc in the place of the one with the same _id, see [store.Store].
func (s *Store) Replace(ctx context.Context, collection string, doc any) error {
	c, err := s.collection(collection)
	if err != nil {
		return err
	}
	key, raw, err := store.PrepareReplacement(doc)
	if err != nil {
		return err
	}
	result, err := c.ReplaceOne(ctx, bson.D{{Key: "_id", Value: key}}, raw)
	if err == nil && result.MatchedCount == 0 {
		return fmt.Errorf("%w: %s", store.ErrNotFound, key)
	}
	return s.explain(ctx, err)
}

// Delete removes the document with the key, see [store.Store].
func (s *Store) Delete(ctx context.Context, collection string, key store.Key) error {
	c, err := s.collection(collection)
	if err != nil {
		return err
	}
	if key.IsZero() {
		return fmt.Errorf("%w: %s", store.ErrNotFound, key)
	}
	result, err := c.DeleteOne(ctx, bson.D{{Key: "_id", Value: key}})
	if err == nil && result.DeletedCount == 0 {
		return fmt.Errorf("%w: %s", store.ErrNotFound, key)
	}
	return s.explain(ctx, err)
}

// DeleteRange removes the documents with a key in r, see [store.Store].
func (s *Store) DeleteRange(ctx context.Context, collection string, r store.Range) (int64, error) {
	c, err := s.collection(collection)
	if err != nil || r.IsEmpty() {
		return 0, err
	}
	result, err := c.DeleteMany(ctx, filter(r, false))
	if result == nil {
		return 0, s.explain(ctx, err)
	}
	return result.DeletedCount, s.explain(ctx, err)
}
