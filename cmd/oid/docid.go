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
	name, argument, _ := strings.Cut(strings.TrimPrefix(text, "new "), "(")
	switch argument = strings.Trim(strings.TrimSuffix(argument, ")"), `"' `); name {
	case "UUID":
		if id, err := uuid.Parse(argument); err == nil {
			return docIDOf(bson.Binary{Subtype: bson.TypeBinaryUUID, Data: id[:]})
		}
	case "ISODate", "Date":
		if t, err := timerange.Parse(text, time.Now()); err == nil {
			return docIDOf(bson.NewDateTimeFromTime(t))
		}
	}
	if id, err := uuid.Parse(text); err == nil && len(text) == len(uuid.UUID{}.String()) {
		return docIDOf(bson.Binary{Subtype: bson.TypeBinaryUUID, Data: id[:]})
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

// do calls withKey or, if d is no key, withValue. Only MongoDB has documents whose _id is no key.
func (d docID) do(s store.Store, withKey func(store.Key) error, withValue func(*mongostore.Store, bson.RawValue) error) error {
	if !d.key.IsZero() {
		return withKey(d.key)
	}
	if m, ok := s.(*mongostore.Store); ok {
		return withValue(m, d.value)
	}
	return fmt.Errorf("%w: %s: this store has only numbers, strings and ObjectIds", store.ErrKey, d)
}

// get returns the document with the _id d.
func (d docID) get(ctx context.Context, s store.Store, collection string) (doc bson.Raw, err error) {
	err = d.do(s,
		func(key store.Key) error { doc, err = s.Get(ctx, collection, key); return err },
		func(m *mongostore.Store, id bson.RawValue) error {
			doc, err = m.GetValue(ctx, collection, id)
			return err
		})
	return doc, err
}

// delete deletes the document with the _id d.
func (d docID) delete(ctx context.Context, s store.Store, collection string) error {
	return d.do(s,
		func(key store.Key) error { return s.Delete(ctx, collection, key) },
		func(m *mongostore.Store, id bson.RawValue) error { return m.DeleteValue(ctx, collection, id) })
}

// find returns the documents that q selects and that come after the one with the _id d, if d is not
// zero. In MongoDB, documents with an _id of any type come after it.
func (d docID) find(ctx context.Context, s store.Store, collection string, q store.Query) (docs iter.Seq2[bson.Raw, error], err error) {
	m, isMongo := s.(*mongostore.Store)
	if d.key.IsZero() && d.value.Type == 0 || q.Range != (store.Range{}) || !isMongo && !d.key.IsZero() {
		q.After = d.key
		return s.Find(ctx, collection, q), nil
	}
	if isMongo && !d.key.IsZero() {
		d, err = docIDOf(d.key)
	}
	if err == nil {
		err = d.do(s, nil, func(*mongostore.Store, bson.RawValue) error {
			docs = m.FindAfter(ctx, collection, d.value, q)
			return nil
		})
	}
	return docs, err
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
