package mongostore

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// Insert stores doc and returns its key, see [store.Store].
func (s *Store) Insert(ctx context.Context, collection string, doc any) (store.Key, error) {
	return engine.Insert(ctx, s, collection, doc)
}

// InsertMany stores documents, see [store.Store].
func (s *Store) InsertMany(ctx context.Context, collection string, docs []any, o *store.InsertOptions) ([]store.Key, error) {
	c, err := s.collection(ctx, collection)
	if err != nil {
		return nil, err
	}
	ordered := o != nil && o.Ordered
	return engine.InsertMany(docs, o, func(rows []engine.Row) ([]store.Refusal, error) {
		raws := make([]any, len(rows))
		for i, r := range rows {
			raws[i] = r.Doc
		}
		_, err := c.InsertMany(ctx, raws, options.InsertMany().SetOrdered(ordered))
		bulk, ok := errors.AsType[mongo.BulkWriteException](err)
		if !ok || bulk.WriteConcernError != nil {
			return nil, s.explain(ctx, err)
		}
		var refused []store.Refusal
		for _, w := range bulk.WriteErrors {
			refused = append(refused, refusal(rows[w.Index], w))
		}
		return refused, nil
	})
}

func refusal(r engine.Row, w mongo.BulkWriteError) store.Refusal {
	if mongo.IsDuplicateKeyError(w) {
		return store.Refusal{Index: r.Index, Err: engine.Duplicate(r.Key)}
	}
	return store.Refusal{Index: r.Index, Err: w}
}

// Replace puts doc in the place of the one with the same _id, see [store.Store].
func (s *Store) Replace(ctx context.Context, collection string, doc any) error {
	c, err := s.collection(ctx, collection)
	if err != nil {
		return err
	}
	key, raw, err := engine.Replacement(doc)
	if err != nil {
		return err
	}
	result, err := c.ReplaceOne(ctx, bson.D{{Key: "_id", Value: key}}, raw)
	if err == nil && result.MatchedCount == 0 {
		return engine.NotFound(key)
	}
	return s.explain(ctx, err)
}

// Delete removes the document with the key, see [store.Store].
func (s *Store) Delete(ctx context.Context, collection string, key store.Key) error {
	c, err := s.collection(ctx, collection)
	if err != nil {
		return err
	}
	if key.IsZero() {
		return engine.NotFound(key)
	}
	result, err := c.DeleteOne(ctx, bson.D{{Key: "_id", Value: key}})
	if err == nil && result.DeletedCount == 0 {
		return engine.NotFound(key)
	}
	return s.explain(ctx, err)
}

// DeleteRange removes the documents with a key in r, see [store.Store].
func (s *Store) DeleteRange(ctx context.Context, collection string, r store.Range) (int64, error) {
	c, err := s.collection(ctx, collection)
	if err != nil || r.IsEmpty() {
		return 0, err
	}
	result, err := c.DeleteMany(ctx, filter(r, false))
	if result == nil {
		return 0, s.explain(ctx, err)
	}
	return result.DeletedCount, s.explain(ctx, err)
}

// Drop removes a collection, see [store.Store].
func (s *Store) Drop(ctx context.Context, collection string) error {
	c, err := s.collection(ctx, collection)
	if err != nil {
		return err
	}
	names, err := s.db.ListCollectionNames(ctx, bson.D{{Key: "name", Value: collection}})
	if err == nil && len(names) == 0 {
		return engine.NoCollection(collection)
	}
	if err == nil {
		err = c.Drop(ctx)
	}
	return s.explain(ctx, err)
}
