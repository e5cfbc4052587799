package mongostore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// Lookup implements [engine.Database]. For a single key it does not use $in, because FerretDB
// would then read the whole collection.
func (s *database) Lookup(ctx context.Context, collection string, keys []store.Key, yield func(bson.Raw) error) error {
	var of any = bson.D{{Key: "$in", Value: keys}}
	if len(keys) == 1 {
		of = keys[0]
	}
	cursor, err := s.db.Collection(collection).Find(ctx, bson.D{{Key: "_id", Value: of}})
	return s.each(ctx, cursor, err, yield)
}

// each calls yield for the documents of a cursor, and closes it. cursor and err are the
// results of a query.
func (s *database) each(ctx context.Context, cursor *mongo.Cursor, err error, yield func(bson.Raw) error) error {
	if err != nil {
		return s.explain(ctx, err)
	}
	defer cursor.Close(context.WithoutCancel(ctx))
	for cursor.Next(ctx) {
		if err := yield(slices.Clone(cursor.Current)); err != nil {
			return err
		}
	}
	return s.explain(ctx, cursor.Err())
}

// Count implements [engine.Database].
func (s *database) Count(ctx context.Context, collection string, r store.Range) (int64, error) {
	n, err := s.db.Collection(collection).CountDocuments(ctx, filter(r, false))
	return n, s.explain(ctx, err)
}

// Collections implements [engine.Database]. It leaves out views and the server's own
// collections.
func (s *database) Collections(ctx context.Context) (names []string, err error) {
	return s.list(ctx, false)
}

// Readable returns the names of all collections and views, sorted.
func (s *Store) Readable(ctx context.Context) ([]string, error) {
	if err := s.db.life.Err(ctx); err != nil {
		return nil, err
	}
	names, err := s.db.list(ctx, true)
	slices.Sort(names)
	return names, err
}

// Databases returns the names of the databases of the server that the user may see.
func (s *Store) Databases(ctx context.Context) ([]string, error) {
	if err := s.db.life.Err(ctx); err != nil {
		return nil, err
	}
	names, err := s.db.client.ListDatabaseNames(ctx, bson.D{})
	return names, s.db.explain(ctx, err)
}

func (s *database) list(ctx context.Context, views bool) (names []string, err error) {
	specs, err := s.db.ListCollectionSpecifications(ctx, bson.D{})
	for _, spec := range specs {
		if (views || spec.Type != "view") && store.CheckCollection(spec.Name) == nil {
			names = append(names, spec.Name)
		}
	}
	return names, s.explain(ctx, err)
}

// Find implements [engine.Database].
func (s *database) Find(ctx context.Context, collection string, q store.Query, yield func(bson.Raw) error) error {
	return s.find(ctx, collection, q, bson.RawValue{}, nil, yield)
}

// FindField is like [Store.Find], but the documents contain only their _id and one field. field
// may be the path of a nested field, such as customer.ref. If field is _id, the server reads only
// the index of _id and not the documents.
func (s *Store) FindField(ctx context.Context, collection, field string, q store.Query) iter.Seq2[bson.Raw, error] {
	fields := bson.D{{Key: field, Value: 1}}
	return engine.Sequence(func(yield func(bson.Raw) error) error {
		if err := s.db.life.Check(ctx, collection); err != nil {
			return err
		}
		return s.db.find(ctx, collection, q, bson.RawValue{}, fields, yield)
	})
}

// Estimate returns the approximate number of documents in a collection, without counting them,
// which is fast. If it fails, it returns -1.
func (s *Store) Estimate(ctx context.Context, collection string) int64 {
	if s.db.life.Check(ctx, collection) != nil {
		return -1
	}
	n, err := s.db.db.Collection(collection).EstimatedDocumentCount(ctx)
	if err != nil {
		return -1
	}
	return n
}

// FindMany implements [store.Store] with one query per range, because a MongoDB query cannot
// have a limit for each of several ranges.
func (s *Store) FindMany(ctx context.Context, collection string, ranges []store.Range, limit int) ([][]bson.Raw, error) {
	if err := s.db.life.Check(ctx, collection); err != nil {
		return nil, err
	}
	docs := make([][]bson.Raw, len(ranges))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for i, r := range ranges {
		g.Go(func() error {
			return s.db.find(ctx, collection, store.Query{Range: r, Limit: limit}, bson.RawValue{}, nil, func(doc bson.Raw) error {
				docs[i] = append(docs[i], doc)
				return nil
			})
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return docs, nil
}

// Maximum number of documents in one message from the server. A message has at most 16 MiB.
const (
	batch      = 1000   // of Find
	fieldBatch = 20_000 // of FindField
)

// find calls yield for the documents of q. If last is not zero, q selects all documents, and find
// begins after the one whose _id is last. fields is a projection, nil for all fields. The server
// drops a cursor that is not read for ten minutes; find then continues with a new cursor after the
// last document.
func (s *database) find(ctx context.Context, collection string, q store.Query, last bson.RawValue, fields any, yield func(bson.Raw) error) error {
	all := q.Range == (store.Range{}) && q.After.IsZero()
	for {
		next, n := q, 0 // what follows the documents yielded, and their number
		err := s.findOnce(ctx, collection, q, last, fields, func(doc bson.Raw) error {
			n++
			if id := doc.Lookup("_id"); all {
				last = bson.RawValue{Type: id.Type, Value: slices.Clone(id.Value)} // the caller may change doc
			} else {
				next.After, _ = store.KeyOf(doc) // a range contains only keys
			}
			return yield(doc)
		})
		if err == nil || n == 0 || !isLost(err) {
			return err
		}
		if all && orderOf(last) < 0 {
			return fmt.Errorf("continue reading collection %s after the _id %v: %w", collection, last, err)
		}
		if q = next; q.Limit > 0 {
			if q.Limit -= n; q.Limit == 0 {
				return nil
			}
		}
	}
}

// findOnce is find with a single cursor.
func (s *database) findOnce(ctx context.Context, collection string, q store.Query, last bson.RawValue, fields any, yield func(bson.Raw) error) error {
	r, open := engine.Bounds(q)
	if r.IsEmpty() {
		return nil
	}
	where := filter(r, open)
	if !last.IsZero() {
		where = after(last, q.Descending)
	}
	direction := 1
	if q.Descending {
		direction = -1
	}
	o := options.Find().SetSort(bson.D{{Key: "_id", Value: direction}}).SetBatchSize(batch).SetLimit(int64(max(q.Limit, 0)))
	if fields != nil {
		o.SetProjection(fields).SetBatchSize(fieldBatch)
	}
	cursor, err := s.db.Collection(collection).Find(ctx, where, o)
	return s.each(ctx, cursor, err, yield)
}

// isLost reports whether err means that the server has dropped a cursor: its code is
// CursorNotFound or CursorKilled.
func isLost(err error) bool {
	e, ok := errors.AsType[mongo.ServerError](err)
	return ok && (e.HasErrorCode(43) || e.HasErrorCode(237))
}

// Now returns the current time by the clock of the server. [store.Now] calls it.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if err := s.db.life.Err(ctx); err != nil {
		return time.Time{}, err
	}
	var hello struct {
		Time time.Time `bson:"localTime"`
	}
	err := s.db.db.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello)
	return hello.Time, s.db.explain(ctx, err)
}

// brackets are the smallest number, string and ObjectId. MongoDB compares a bound only with
// values of its own type, so a range that contains several types needs a condition for each.
var brackets = func() []store.Key {
	number, err1 := store.FloatKey(math.Inf(-1))
	text, err2 := store.StringKey("")
	if err := errors.Join(err1, err2); err != nil {
		panic(err)
	}
	return []store.Key{number, text, store.IDKey(objectid.ID{})}
}()

// filter returns the MongoDB filter for r. If open is true, r does not contain its lower
// bound. The zero Range matches every document, even if its _id cannot be a key; other ranges
// match only documents whose _id is a key.
func filter(r store.Range, open bool) bson.D {
	if r == (store.Range{}) {
		return bson.D{}
	}
	var parts bson.A
	for i, from := range brackets {
		last := i == len(brackets)-1
		if !last && r.From.Compare(brackets[i+1]) >= 0 {
			continue
		}
		operator := "$gte"
		if r.From.Compare(from) >= 0 {
			if from = r.From; open {
				operator = "$gt"
			}
		}
		bounds := bson.D{{Key: operator, Value: from}}
		if last = last || !r.To.IsZero() && r.To.Compare(brackets[i+1]) < 0; last && !r.To.IsZero() {
			bounds = append(bounds, bson.E{Key: "$lt", Value: r.To})
		}
		parts = append(parts, bson.D{{Key: "_id", Value: bounds}})
		if last {
			break
		}
	}
	if len(parts) == 1 {
		return parts[0].(bson.D)
	}
	return bson.D{{Key: "$or", Value: parts}}
}
