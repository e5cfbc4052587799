package mongostore

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"

	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// Insert implements [engine.Database].
func (s *database) Insert(ctx context.Context, collection string, b *engine.Batch) (refused []store.RefusedItem, err error) {
	rows := b.Rows()
	if len(rows) == 0 {
		return nil, nil
	}
	raws := each.Of(rows, func(r engine.Row) any { return r.Doc })
	_, err = s.db.Collection(collection).InsertMany(ctx, raws, options.InsertMany().SetOrdered(b.Ordered()))
	bulk, ok := errors.AsType[mongo.BulkWriteException](err)
	if !ok || bulk.WriteConcernError != nil {
		return nil, s.explain(ctx, err)
	}
	for _, w := range bulk.WriteErrors {
		r := rows[w.Index].Duplicate()
		if !mongo.IsDuplicateKeyError(w) {
			r.Err = w
		}
		refused = append(refused, r)
	}
	return refused, nil
}

// Replace implements [engine.Database].
func (s *database) Replace(ctx context.Context, collection string, key store.Key, doc bson.Raw) (bool, error) {
	result, err := s.db.Collection(collection).ReplaceOne(ctx, bson.D{{Key: "_id", Value: key}}, doc)
	return err == nil && result.MatchedCount > 0, s.explain(ctx, err)
}

// Delete implements [engine.Database].
func (s *database) Delete(ctx context.Context, collection string, key store.Key) (bool, error) {
	result, err := s.db.Collection(collection).DeleteOne(ctx, bson.D{{Key: "_id", Value: key}})
	return err == nil && result.DeletedCount > 0, s.explain(ctx, err)
}

// DeleteRange implements [engine.Database].
func (s *database) DeleteRange(ctx context.Context, collection string, r store.Range) (n int64, err error) {
	result, err := s.db.Collection(collection).DeleteMany(ctx, filter(r, false))
	if result != nil {
		n = result.DeletedCount
	}
	return n, s.explain(ctx, err)
}

// parallel is the maximum number of ranges or swaps of one call that are sent at the same time.
const parallel = 16

// Change implements [engine.Database] with one message per change. A bulk write would not do: its
// answer contains only the number of documents that matched. Reading the documents
// afterwards cannot tell a refused swap from one that was done and then overwritten.
func (s *database) Change(ctx context.Context, collection string, changes []engine.Change) (refused []store.RefusedItem, err error) {
	c := s.linearizable.Collection(collection)
	refusals := make([]store.RefusedItem, len(changes))
	group, all := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, change := range changes {
		group.Go(func() (err error) {
			refusals[i], err = swap(all, c, change)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, s.explain(ctx, err)
	}
	return slices.DeleteFunc(refusals, func(r store.RefusedItem) bool { return r.Err == nil }), nil
}

// swap makes one change. It returns the refusal if the document is not the old one, and the zero
// RefusedItem if the change was made.
func swap(ctx context.Context, c *mongo.Collection, change engine.Change) (none store.RefusedItem, err error) {
	rev, ok := engine.RevisionOf(change.Old)
	if !ok {
		if rev, ok, err = stamp(ctx, c, change); err != nil {
			return none, err
		}
	}
	var n int64
	if ok {
		if n, err = replace(ctx, c, change, rev); err != nil || n == 1 {
			return none, err
		}
	}
	if n, err = c.CountDocuments(ctx, bson.D{{Key: "_id", Value: change.Key}}); err != nil {
		return none, err
	}
	return change.Unchanged(n > 0), nil
}

// stamp adds a revision to a document that has none, as its last field, because the server
// cannot compare whole documents. It returns the revision. same reports whether the rest of
// the document is change.Old. If it is not, stamp does not change the document, unless another
// program changed it after stamp had read it.
func stamp(ctx context.Context, c *mongo.Collection, change engine.Change) (rev objectid.ID, same bool, err error) {
	now, err := c.FindOne(ctx, bson.D{{Key: "_id", Value: change.Key}}).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return rev, false, nil
	}
	if err != nil || !bytes.Equal(now, change.Old) {
		// Another swap may have added the revision without having replaced the document yet.
		rev, same = engine.RevisionOf(now)
		return rev, same && bytes.Equal(now, engine.Stamped(change.Old, rev)), err
	}
	rev = objectid.New()
	before, err := c.FindOneAndUpdate(ctx,
		bson.D{{Key: "_id", Value: change.Key}, {Key: store.Revision, Value: bson.D{{Key: "$exists", Value: false}}}},
		bson.D{{Key: "$set", Value: bson.D{{Key: store.Revision, Value: rev}}}}).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) { // another call has added a revision or deleted the document
		return stamp(ctx, c, change)
	}
	return rev, bytes.Equal(before, change.Old), err
}

// replace makes a change if the document has the revision rev. It returns the number of changed
// documents, 0 or 1.
func replace(ctx context.Context, c *mongo.Collection, change engine.Change, rev objectid.ID) (int64, error) {
	current := bson.D{{Key: "_id", Value: change.Key}, {Key: store.Revision, Value: rev}}
	if change.New == nil {
		result, err := c.DeleteOne(ctx, current)
		if err != nil {
			return 0, err
		}
		return result.DeletedCount, nil
	}
	result, err := c.ReplaceOne(ctx, current, change.New)
	if err != nil {
		return 0, err
	}
	return result.MatchedCount, nil
}
