// Package engine has what all engines of package store do before and after they
// talk to their database: they check names and documents, put the _id in front,
// give documents ids and revisions, and sort out what was refused.
package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/bsonwalk"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// Insertion returns the bytes to insert for doc, which is anything that
// [bson.Marshal] takes, and their key. The _id is put in front; a document
// without one gets an id from g, or from [objectid.New] if g is nil. A revision is
// renewed. The errors wrap [store.ErrDocument] or [store.ErrKey]. The bytes may
// be those of doc.
func Insertion(doc any, g *objectid.Generator) (store.Key, bson.Raw, error) {
	raw, at, err := marshal(doc)
	if err != nil {
		return store.Key{}, nil, err
	}
	if at.id.typ != 0 {
		return keyed(raw, at)
	}
	id := objectid.New
	if g != nil {
		id = g.New
	}
	made := id()
	raw = renewed(raw, at.rev)
	if raw, err = joined(idElement("_id", made), raw[4:]); err == nil {
		err = checkRoom(raw, at.rev)
	}
	return store.IDKey(made), raw, err
}

// Replacement is [Insertion] for a document that must have an _id; one without
// gives an error that wraps [store.ErrKey].
func Replacement(doc any) (store.Key, bson.Raw, error) {
	raw, at, err := marshal(doc)
	if err != nil {
		return store.Key{}, nil, err
	}
	return keyed(raw, at)
}

// keyed returns the key of a document that has one, and the document with its
// _id in front and its revision renewed.
func keyed(raw bson.Raw, at places) (store.Key, bson.Raw, error) {
	key, err := store.KeyOf(raw)
	if err == nil {
		err = checkRoom(raw, at.rev)
	}
	if err != nil {
		return store.Key{}, nil, err
	}
	raw = renewed(raw, at.rev)
	if e := at.id; e.start != 4 {
		if raw, err = joined(raw[e.start:e.end], raw[4:e.start], raw[e.end:]); err != nil {
			return store.Key{}, nil, err
		}
	}
	return key, raw, nil
}

// checkRoom returns an error if raw has no revision and no room for one.
func checkRoom(raw bson.Raw, rev element) error {
	if len(raw) > store.MaxSize-store.RevisionSize && !isRevision(rev) {
		return tooLarge(len(raw))
	}
	return nil
}

// isRevision reports whether e is a revision and not a field of the user's own
// that has the same name.
func isRevision(e element) bool { return bson.Type(e.typ) == bson.TypeObjectID }

// renewed returns a copy of raw with a new revision if it has one, and raw itself
// if not.
func renewed(raw bson.Raw, rev element) bson.Raw {
	if !isRevision(rev) {
		return raw
	}
	raw = slices.Clone(raw)
	id := objectid.New()
	copy(raw[rev.value:], id[:])
	return raw
}

// idElement returns an ObjectId as an element of a document.
func idElement(name string, id objectid.ID) []byte {
	e := append([]byte{byte(bson.TypeObjectID)}, name...)
	return append(append(e, 0), id[:]...)
}

// joined returns the document of these parts. Each part is some elements; the
// last ends with the document's zero byte.
func joined(parts ...[]byte) (bson.Raw, error) {
	size := 4
	for _, p := range parts {
		size += len(p)
	}
	if size > store.MaxSize {
		return nil, tooLarge(size)
	}
	raw := make([]byte, 4, size)
	for _, p := range parts {
		raw = append(raw, p...)
	}
	binary.LittleEndian.PutUint32(raw, uint32(size))
	return raw, nil
}

// marshal returns doc as checked BSON, and where its _id and its revision are.
func marshal(doc any) (bson.Raw, places, error) {
	raw, ok := doc.(bson.Raw)
	if !ok {
		var err error
		if raw, err = bson.Marshal(doc); err != nil {
			return nil, places{}, fmt.Errorf("%w: %w", store.ErrDocument, err)
		}
	}
	at, err := check(raw)
	return raw, at, err
}

func tooLarge(size int) error {
	return fmt.Errorf("%w: %d bytes, want %d at most, or %d (16 MiB) with a revision", store.ErrDocument, size, store.MaxSize-store.RevisionSize, store.MaxSize)
}

// element is where an element of a document is: its type byte at start, its value
// from value to end. A zero typ means that there is none.
type element struct {
	typ               byte
	start, value, end int
}

// places are the elements that the store itself uses.
type places struct{ id, rev element }

// check reports what is wrong with raw as a BSON document, and where its _id and
// its revision are. It does not trust raw: too many levels are refused before
// they use up the stack.
func check(raw []byte) (at places, err error) {
	if len(raw) > store.MaxSize {
		return places{}, tooLarge(len(raw))
	}
	if err := checkDocument(raw, 1, &at); err != nil {
		return places{}, fmt.Errorf("%w: %w", store.ErrDocument, err)
	}
	return at, nil
}

// checkDocument checks a document that is so many levels deep. It notes the elements
// that the store itself uses in at, unless that is nil.
func checkDocument(doc []byte, depth int, at *places) error {
	if depth > store.MaxDepth {
		return fmt.Errorf("nested more than %d levels deep", store.MaxDepth)
	}
	if err := bsonwalk.Check(doc); err != nil {
		return err
	}
	for start := bsonwalk.First; start < len(doc)-1; {
		value, end, err := bsonwalk.Element(doc, start)
		if err != nil {
			return err
		}
		name := doc[start+1 : value-1]
		if !utf8.Valid(name) {
			return fmt.Errorf("field name %.100q is not UTF-8", name)
		}
		if err := checkValue(bson.Type(doc[start]), doc[value:end], depth); err != nil {
			return bsonwalk.Wrap(name, err)
		}
		if place := at.of(string(name)); place != nil {
			if place.typ != 0 {
				return fmt.Errorf("two fields %s", name)
			}
			*place = element{doc[start], start, value, end}
		}
		start = end
	}
	return nil
}

// of returns the place of the element of a name, or nil if the store does not use it.
func (at *places) of(name string) *element {
	switch {
	case at == nil:
	case name == "_id":
		return &at.id
	case name == store.Revision:
		return &at.rev
	}
	return nil
}

// checkValue checks what the structure of a document leaves open.
func checkValue(t bson.Type, value []byte, depth int) error {
	switch t {
	case bson.TypeBoolean:
		if value[0] > 1 {
			return fmt.Errorf("boolean of byte %d, want 0 or 1", value[0])
		}
	case bson.TypeString, bson.TypeJavaScript, bson.TypeSymbol:
		return checkString(value)
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return checkDocument(value, depth+1, nil)
	case bson.TypeBinary:
		// The old subtype 2 has its length twice.
		if n := binary.LittleEndian.Uint32(value); value[4] == 2 && (n < 4 || binary.LittleEndian.Uint32(value[5:]) != n-4) {
			return errors.New("binary of subtype 2 with a wrong inner length")
		}
	case bson.TypeRegex:
		if !utf8.Valid(value) {
			return errors.New("regular expression that is not UTF-8")
		}
	case bson.TypeDBPointer:
		return checkString(value[:len(value)-12])
	case bson.TypeCodeWithScope:
		return checkCodeWithScope(value, depth)
	}
	return nil
}

func checkString(value []byte) error {
	text := value[4:]
	switch {
	case text[len(text)-1] != 0:
		return errors.New("string without a zero byte at its end")
	case !utf8.Valid(text):
		return errors.New("string that is not UTF-8")
	}
	return nil
}

func checkCodeWithScope(value []byte, depth int) error {
	code, err := bsonwalk.ValueSize(byte(bson.TypeString), value[4:])
	if err != nil {
		return err
	}
	if err := checkString(value[4 : 4+code]); err != nil {
		return err
	}
	return checkDocument(value[4+code:], depth+1, nil)
}
