package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/timerange"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/mongostore"
)

// docIDHelp is the paragraph of several commands about an ID.
const docIDHelp = `An ID is the _id of a document: the 24 hexadecimal digits of an ObjectId, a number, or a
string in double quotes, which the shell must not remove: '"alice"'. It may also be
ObjectId("...") or any value in Extended JSON. MongoDB also has documents whose _id is a
UUID, a date or a document: UUID("..."), ISODate("..."), '{"day":3,"user":"alice"}'. The
members of a document must be in the stored order.`

// docID is the _id of a document on a command line.
type docID struct {
	key   store.Key     // zero if the _id is of a type that only MongoDB stores
	value bson.RawValue // then the _id
}

// parseDocID reads the _id of a document: the text form of a key, a value of Extended JSON, or one of
// the notations of shells and drivers.
func parseDocID(text string) (docID, error) {
	key, err := store.ParseKey(text)
	if err == nil {
		return docID{key: key}, nil
	}
	if id, ok := inspect.ParseObjectID(text); ok {
		return docID{key: store.IDKey(id)}, nil
	}
	var doc struct {
		ID bson.RawValue `bson:"_id"`
	}
	if bson.UnmarshalExtJSON([]byte(`{"_id":`+text+`}`), false, &doc) == nil && doc.ID.Type != bson.TypeArray && doc.ID.Type != 0 {
		return docID{value: doc.ID}, nil
	}
	name, argument, isCall := strings.Cut(strings.TrimPrefix(text, "new "), "(")
	if !isCall && len(text) == len(uuid.UUID{}.String()) {
		name, argument = "UUID", text
	}
	switch name {
	case "UUID":
		if id, err := uuid.Parse(strings.Trim(argument, `"') `)); err == nil {
			return docIDOf(bson.Binary{Subtype: bson.TypeBinaryUUID, Data: id[:]})
		}
	case "ISODate", "Date":
		if t, err := timerange.Parse(text, time.Now()); err == nil {
			return docIDOf(bson.NewDateTimeFromTime(t))
		}
	}
	return docID{}, fmt.Errorf(`%w: %q, want 24 hexadecimal digits, a number, a string in quotes as in '"name"', or another value in Extended JSON`, store.ErrKey, text)
}

func docIDOf(value any) (docID, error) {
	typ, data, err := bson.MarshalValue(value)
	return docID{value: bson.RawValue{Type: typ, Value: data}}, err
}

// String returns d as [parseDocID] reads it.
func (d docID) String() string {
	if !d.key.IsZero() {
		return d.key.String()
	}
	doc, err := bson.MarshalExtJSON(bson.D{{Key: "", Value: d.value}}, false, false)
	if err != nil {
		return d.value.String()
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(doc), `{"":`), "}")
}

// inMongoDB returns s if it is in MongoDB: only there an _id may be of any type.
func (d docID) inMongoDB(s store.Store) (*mongostore.Store, error) {
	if m, ok := s.(*mongostore.Store); ok {
		return m, nil
	}
	return nil, fmt.Errorf("%w: %s: this store has only numbers, strings and ObjectIds", store.ErrKey, d)
}

// get returns the document with the _id d.
func (d docID) get(ctx context.Context, s store.Store, collection string) (bson.Raw, error) {
	if !d.key.IsZero() {
		return s.Get(ctx, collection, d.key)
	}
	m, err := d.inMongoDB(s)
	if err != nil {
		return nil, err
	}
	return m.GetValue(ctx, collection, d.value)
}

// delete deletes the document with the _id d.
func (d docID) delete(ctx context.Context, s store.Store, collection string) error {
	if !d.key.IsZero() {
		return s.Delete(ctx, collection, d.key)
	}
	m, err := d.inMongoDB(s)
	if err != nil {
		return err
	}
	return m.DeleteValue(ctx, collection, d.value)
}

// find returns the documents that q selects and that come after the one with the _id d, if d is not
// zero. In MongoDB, documents with an _id of any type come after it.
func (d docID) find(ctx context.Context, s store.Store, collection string, q store.Query) (iter.Seq2[bson.Raw, error], error) {
	q.After = d.key
	m, err := d.inMongoDB(s)
	if !d.key.IsZero() && err == nil && q.Range == (store.Range{}) {
		d, err = docIDOf(d.key)
	}
	switch {
	case d.value.Type == 0:
		return s.Find(ctx, collection, q), nil
	case err != nil:
		return nil, err
	}
	return m.FindAfter(ctx, collection, d.value, q), nil
}

// others returns values of other types that are written with the same characters.
func (d docID) others() (out []docID) {
	var text string
	switch value := d.key.Value().(type) {
	case string:
		if other, err := parseDocID(value); err == nil {
			out = append(out, other)
		}
		return out
	case nil:
		_, data, _ := d.value.BinaryOK()
		id, err := uuid.FromBytes(data)
		if err != nil {
			return nil
		}
		text = id.String()
	default:
		text = d.key.String()
	}
	key, _ := store.StringKey(text) // which is UTF-8
	return []docID{{key: key}}
}

// explain adds to err, which says that no document of the collection has the _id d, whether a
// document has the same characters as a value of another type. That is so after an import that wrote ids
// as strings, for example.
func (d docID) explain(ctx context.Context, s store.Store, collection string, err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	for _, other := range d.others() {
		if _, failed := other.get(ctx, s, collection); failed == nil {
			return fmt.Errorf("%w, but a document has the %s %s; write %s", err, other.kind(), other, phrase.Argument(other.String()))
		}
	}
	return err
}

// kind returns the type of d for people.
func (d docID) kind() string {
	switch d.key.Value().(type) {
	case string:
		return "string"
	case int64, float64:
		return "number"
	case nil:
		return "value"
	}
	return "ObjectId"
}
