package mongostore

import (
	"bytes"
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"

	"github.com/oidkit/oid/objectid"
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

// Swap replaces old by new, see [store.Store].
func (s *Store) Swap(ctx context.Context, collection string, old bson.Raw, new any) (bson.Raw, error) {
	return engine.Swap(ctx, s, collection, old, new)
}

// swapsAtOnce is how many swaps of one call are under way at once.
const swapsAtOnce = 16

// SwapMany does many swaps, see [store.Store]. Each is a message of its own: the
// answer to a bulk write only says how many documents matched, and looking for
// those afterwards cannot tell a swap that was refused from one that was done and
// then overwritten.
func (s *Store) SwapMany(ctx context.Context, collection string, swaps []store.Swap) ([]bson.Raw, error) {
	if _, err := s.collection(ctx, collection); err != nil {
		return nil, err
	}
	c := s.consistent.Collection(collection)
	return engine.SwapMany(swaps, func(changes []engine.Change) ([]store.Refusal, error) {
		reasons := make([]error, len(changes))
		group, all := errgroup.WithContext(ctx)
		group.SetLimit(swapsAtOnce)
		for i, change := range changes {
			group.Go(func() (err error) {
				reasons[i], err = swap(all, c, change)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return nil, s.explain(ctx, err)
		}
		var refused []store.Refusal
		for i, reason := range reasons {
			if reason != nil {
				refused = append(refused, store.Refusal{Index: changes[i].Index, Err: reason})
			}
		}
		return refused, nil
	})
}

// swap does one change, or returns the reason why it is refused.
func swap(ctx context.Context, c *mongo.Collection, change engine.Change) (reason, err error) {
	rev, ok := engine.RevisionOf(change.Old)
	if !ok {
		if rev, ok, err = stamp(ctx, c, change); err != nil {
			return nil, err
		}
	}
	var n int64
	if ok {
		if n, err = replace(ctx, c, change, rev); err != nil || n == 1 {
			return nil, err
		}
	}
	if n, err = c.CountDocuments(ctx, bson.D{{Key: "_id", Value: change.Key}}); err != nil {
		return nil, err
	}
	return engine.Unchanged(change.Key, n > 0), nil
}

// stamp gives a document that has no revision its first one, at its end, since a
// server cannot compare whole documents. It returns the revision, and whether the
// document is the old one but for that. A document that is not is left as it is,
// unless it was changed while stamp looked at it.
func stamp(ctx context.Context, c *mongo.Collection, change engine.Change) (rev objectid.ID, same bool, err error) {
	now, err := c.FindOne(ctx, bson.D{{Key: "_id", Value: change.Key}}).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return rev, false, nil
	}
	if err != nil || !bytes.Equal(now, change.Old) {
		// Another swap may have come so far and no further yet.
		rev, same = engine.RevisionOf(now)
		return rev, same && bytes.Equal(now, engine.Stamped(change.Old, rev)), err
	}
	rev = objectid.New()
	before, err := c.FindOneAndUpdate(ctx,
		bson.D{{Key: "_id", Value: change.Key}, {Key: store.Revision, Value: bson.D{{Key: "$exists", Value: false}}}},
		bson.D{{Key: "$set", Value: bson.D{{Key: store.Revision, Value: rev}}}}).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) { // another was faster
		return stamp(ctx, c, change)
	}
	return rev, bytes.Equal(before, change.Old), err
}

// replace does a change of the document with the revision rev, and returns how
// many documents have it.
func replace(ctx context.Context, c *mongo.Collection, change engine.Change, rev objectid.ID) (int64, error) {
	filter := bson.D{{Key: "_id", Value: change.Key}, {Key: store.Revision, Value: rev}}
	if change.New == nil {
		result, err := c.DeleteOne(ctx, filter)
		if err != nil {
			return 0, err
		}
		return result.DeletedCount, nil
	}
	result, err := c.ReplaceOne(ctx, filter, change.New)
	if err != nil {
		return 0, err
	}
	return result.MatchedCount, nil
}
