// Package engine is the common part of the engines of package store. A [Base] implements
// [store.Store] with a [Database], which is what an engine implements. The Base checks
// names and documents, moves the _id to the front, adds ids and revisions, splits large
// calls into batches, and collects the errors of refused documents.
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

// Insertion returns the key of doc and the bytes to insert for it. doc is any value that
// [bson.Marshal] accepts. The _id is moved to the front; a document without an _id gets an
// id from g, or from [objectid.New] if g is nil. If the document has a revision, the bytes
// have a new one. The error wraps [store.ErrDocument] or [store.ErrKey]. If doc is a
// bson.Raw that needs no change, the bytes are doc itself and not a copy.
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

// Replacement is like [Insertion], but doc must have an _id: if it has none, the error wraps
// [store.ErrKey].
func Replacement(doc any) (store.Key, bson.Raw, error) {
	raw, at, err := marshal(doc)
	if err != nil {
		return store.Key{}, nil, err
	}
	return keyed(raw, at)
}

// keyed returns the key of raw, and raw with its _id in front and a new revision if it
// has one. The error wraps [store.ErrKey] if raw has no valid _id.
func keyed(raw bson.Raw, at positions) (store.Key, bson.Raw, error) {
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

// checkRoom returns an error if raw has no revision and is too large to add one.
func checkRoom(raw bson.Raw, rev element) error {
	if len(raw) > store.MaxSize-store.RevisionSize && !isRevision(rev) {
		return tooLarge(len(raw))
	}
	return nil
}

// isRevision reports whether e, a field named _rev, is a revision. A field of that name with a
// value other than an ObjectId belongs to the user.
func isRevision(e element) bool { return bson.Type(e.typ) == bson.TypeObjectID }

// renewed returns a copy of raw with a new revision. If raw has no revision, it returns
// raw itself.
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

// joined returns the document that consists of parts. Each part is a sequence of elements;
// the last part must also contain the zero byte that ends the document.
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

// marshal returns doc as BSON, which it checks, and the positions of its _id and revision.
func marshal(doc any) (bson.Raw, positions, error) {
	raw, ok := doc.(bson.Raw)
	if !ok {
		var err error
		if raw, err = bson.Marshal(doc); err != nil {
			return nil, positions{}, fmt.Errorf("%w: %w", store.ErrDocument, err)
		}
	}
	at, err := check(raw)
	return raw, at, err
}

func tooLarge(size int) error {
	return fmt.Errorf("%w: it has %d bytes, want at most %d, or %d (16 MiB) with a revision", store.ErrDocument, size, store.MaxSize-store.RevisionSize, store.MaxSize)
}

// element is the position of an element in a document: its type byte is at start, and its
// value is at value up to end. If typ is 0, the document has no such element.
type element struct {
	typ               byte
	start, value, end int
}

// positions are the positions of the elements that the store itself uses: _id and _rev.
type positions struct{ id, rev element }

// check returns the positions of the _id and the revision of raw, or an error if raw is not
// a valid document. raw may be anything: a document with too many levels is refused before it
// exhausts the stack.
func check(raw []byte) (at positions, err error) {
	if len(raw) > store.MaxSize {
		return positions{}, tooLarge(len(raw))
	}
	if err := checkDocument(raw, 1, &at); err != nil {
		return positions{}, fmt.Errorf("%w: %w", store.ErrDocument, err)
	}
	return at, nil
}

// checkDocument checks a document at the nesting level depth, which is 1 for the outermost.
// Unless at is nil, checkDocument sets it to the positions of the elements that the store
// itself uses.
func checkDocument(doc []byte, depth int, at *positions) error {
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
		if e := at.of(string(name)); e != nil {
			if e.typ != 0 {
				return fmt.Errorf("it has two fields %s", name)
			}
			*e = element{doc[start], start, value, end}
		}
		start = end
	}
	return nil
}

// of returns a pointer to the position of the element with a name, or nil if the store does
// not use elements of that name.
func (at *positions) of(name string) *element {
	switch {
	case at == nil:
	case name == "_id":
		return &at.id
	case name == store.Revision:
		return &at.rev
	}
	return nil
}

// checkValue checks the content of a value. Its size is already checked.
func checkValue(t bson.Type, value []byte, depth int) error {
	switch t {
	case bson.TypeBoolean:
		if value[0] > 1 {
			return fmt.Errorf("invalid BSON boolean %d, want 0 or 1", value[0])
		}
	case bson.TypeString, bson.TypeJavaScript, bson.TypeSymbol:
		return checkString(value)
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return checkDocument(value, depth+1, nil)
	case bson.TypeBinary:
		// A binary of the old subtype 2 contains its length a second time.
		if n := binary.LittleEndian.Uint32(value); value[4] == 2 && (n < 4 || binary.LittleEndian.Uint32(value[5:]) != n-4) {
			return errors.New("binary of subtype 2 has a wrong inner length")
		}
	case bson.TypeRegex:
		if !utf8.Valid(value) {
			return errors.New("regular expression is not UTF-8")
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
		return errors.New("string has no zero byte at its end")
	case !utf8.Valid(text):
		return errors.New("string is not UTF-8")
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
