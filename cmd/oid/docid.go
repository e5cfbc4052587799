package main

import (
	"cmp"
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
	text  string // as it was typed
	value bson.RawValue
	key   store.Key // zero if the _id is of a type that only MongoDB stores
}

// parseDocID reads the _id of a document: the text form of a key, a value of Extended JSON, or one of
// the notations of shells and drivers.
func parseDocID(text string) (docID, error) {
	var value any
	var doc struct {
		ID bson.RawValue `bson:"_id"`
	}
	key, err := store.ParseKey(text)
	if id, ok := inspect.ParseObjectID(text); ok && err != nil { // a string of digits is a key
		key = store.IDKey(id)
	}
	if !key.IsZero() {
		value = key
	} else if bson.UnmarshalExtJSON([]byte(`{"_id":`+text+`}`), false, &doc) == nil && doc.ID.Type != bson.TypeArray && doc.ID.Type != 0 {
		value = doc.ID
	} else if id, bad := uuid.Parse(strings.Trim(strings.TrimPrefix(strings.TrimPrefix(text, "new "), "UUID("), `"')`)); bad == nil {
		value = bson.Binary{Subtype: bson.TypeBinaryUUID, Data: id[:]}
	} else if t, bad := timerange.Parse(text, time.Now()); bad == nil && strings.Contains(text, "Date(") {
		value = bson.NewDateTimeFromTime(t)
	} else {
		return docID{}, fmt.Errorf(`%w: %q, want 24 hexadecimal digits, a number, a string in quotes as in '"name"', or another value in Extended JSON`, store.ErrKey, text)
	}
	d := docID{text: text, key: key}
	d.value.Type, d.value.Value, err = bson.MarshalValue(value)
	return d, err
}

// String returns d as [parseDocID] reads it.
func (d docID) String() string { return cmp.Or(d.key.String(), d.text) }

// mongoDB returns s if only MongoDB stores an _id of the type of d, and nil if d is a key.
func (d docID) mongoDB(s store.Store) (*mongostore.Store, error) {
	m, ok := s.(*mongostore.Store)
	switch {
	case !d.key.IsZero():
		return nil, nil
	case !ok:
		return nil, fmt.Errorf("%w: %s: this store has only numbers, strings and ObjectIds", store.ErrKey, d)
	}
	return m, nil
}

// get returns the document with the _id d.
func (d docID) get(ctx context.Context, s store.Store, collection string) (bson.Raw, error) {
	m, err := d.mongoDB(s)
	switch {
	case err != nil:
		return nil, err
	case m != nil:
		return m.GetValue(ctx, collection, d.value)
	}
	return s.Get(ctx, collection, d.key)
}

// delete deletes the document with the _id d.
func (d docID) delete(ctx context.Context, s store.Store, collection string) error {
	m, err := d.mongoDB(s)
	switch {
	case err != nil:
		return err
	case m != nil:
		return m.DeleteValue(ctx, collection, d.value)
	}
	return s.Delete(ctx, collection, d.key)
}

// find returns the documents that q selects and that come after the one with the _id d, if d is not
// zero. In MongoDB, documents with an _id of any type come after it.
func (d docID) find(ctx context.Context, s store.Store, collection string, q store.Query) (iter.Seq2[bson.Raw, error], error) {
	if m, ok := s.(*mongostore.Store); ok && d.value.Type != 0 && q.Range == (store.Range{}) {
		return m.FindAfter(ctx, collection, d.value, q), nil
	}
	if q.After = d.key; d.value.Type != 0 && d.key.IsZero() {
		_, err := d.mongoDB(s)
		return nil, err
	}
	return s.Find(ctx, collection, q), nil
}

// explain adds to err, which says that no document of the collection has the _id d, whether a
// document has the same characters as a value of another type. That is so after an import that wrote ids
// as strings, for example.
func (d docID) explain(ctx context.Context, s store.Store, collection string, err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	var other docID
	var failed error
	if text, isString := d.key.Value().(string); isString {
		other, failed = parseDocID(text)
	} else {
		other.key, failed = store.StringKey(d.String())
	}
	if failed == nil {
		_, failed = other.get(ctx, s, collection)
	}
	if failed != nil {
		return err
	}
	return fmt.Errorf("%w, but a document has the _id %s, of another type; write %s", err, other, phrase.Argument(other.String()))
}
