package mongostore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// This file is about documents of other programs whose _id is not a [store.Key].

// GetValue returns the document whose _id is id, a value of any type. The error wraps
// [store.ErrNotFound] if there is none.
func (s *Store) GetValue(ctx context.Context, collection string, id bson.RawValue) (bson.Raw, error) {
	if err := s.db.life.Check(ctx, collection); err != nil {
		return nil, err
	}
	doc, err := s.db.db.Collection(collection).FindOne(ctx, bson.D{{Key: "_id", Value: id}}).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, fmt.Errorf("%w: no document has the _id %v", store.ErrNotFound, id)
	}
	return doc, s.db.explain(ctx, err)
}

// DeleteValue deletes the document whose _id is id, a value of any type. The error wraps
// [store.ErrNotFound] if there is none.
func (s *Store) DeleteValue(ctx context.Context, collection string, id bson.RawValue) error {
	if err := s.db.life.Check(ctx, collection); err != nil {
		return err
	}
	result, err := s.db.db.Collection(collection).DeleteOne(ctx, bson.D{{Key: "_id", Value: id}})
	if err == nil && result.DeletedCount == 0 {
		return fmt.Errorf("%w: no document has the _id %v", store.ErrNotFound, id)
	}
	return s.db.explain(ctx, err)
}

// FindAfter is [store.Store.Find] with the zero Range, for the documents that come after id in the
// order of q. Both id and the _id of these documents may be values of any type.
func (s *Store) FindAfter(ctx context.Context, collection string, id bson.RawValue, q store.Query) iter.Seq2[bson.Raw, error] {
	return engine.Sequence(func(yield func(bson.Raw) error) error {
		if err := s.db.life.Check(ctx, collection); err != nil {
			return err
		}
		return s.db.find(ctx, collection, store.Query{Limit: q.Limit, Descending: q.Descending}, id, nil, yield)
	})
}

// CountOthers returns the number of documents whose _id is no ObjectId. It counts at most limit.
func (s *Store) CountOthers(ctx context.Context, collection string, limit int64) (int64, error) {
	if err := s.db.life.Check(ctx, collection); err != nil {
		return 0, err
	}
	others := slices.DeleteFunc(slices.Clone(types), func(t idType) bool { return t.name == "objectId" })
	n, err := s.db.db.Collection(collection).CountDocuments(ctx, bson.D{{Key: "$or", Value: ofTypes(others)}}, options.Count().SetLimit(limit))
	return n, s.db.explain(ctx, err)
}

// idType is a type of an _id: its name for the operator $type, and its bytes in BSON.
type idType struct {
	name  string
	bytes []bson.Type
}

// types are the types of an _id, in the order in which MongoDB sorts them.
var types = []idType{
	{"null", []bson.Type{bson.TypeNull}},
	{"number", []bson.Type{bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128}},
	{"string", []bson.Type{bson.TypeString}},
	{"object", []bson.Type{bson.TypeEmbeddedDocument}},
	{"binData", []bson.Type{bson.TypeBinary}},
	{"objectId", []bson.Type{bson.TypeObjectID}},
	{"bool", []bson.Type{bson.TypeBoolean}},
	{"date", []bson.Type{bson.TypeDateTime}},
	{"timestamp", []bson.Type{bson.TypeTimestamp}},
}

// ofTypes returns a condition for each type.
func ofTypes(types []idType) (any bson.A) {
	for _, t := range types {
		any = append(any, bson.D{{Key: "_id", Value: bson.D{{Key: "$type", Value: t.name}}}})
	}
	return any
}

// orderOf returns the index of the type of id in types, or -1.
func orderOf(id bson.RawValue) int {
	return slices.IndexFunc(types, func(t idType) bool { return slices.Contains(t.bytes, id.Type) })
}

// after returns a filter for the documents that come after the one whose _id is id.
func after(id bson.RawValue, isDescending bool) bson.D {
	operator, later := "$gt", types[orderOf(id)+1:]
	if isDescending {
		operator, later = "$lt", types[:max(orderOf(id), 0)]
	}
	return bson.D{{Key: "$or", Value: append(ofTypes(later), bson.D{{Key: "_id", Value: bson.D{{Key: operator, Value: id}}}})}}
}
