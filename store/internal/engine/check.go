package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/bsonwalk"
	"github.com/oidkit/oid/store"
)

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
		if !ascii(name) && !utf8.Valid(name) {
			return fmt.Errorf("field name %.100q is not UTF-8", name)
		}
		if err := checkValue(bson.Type(doc[start]), doc[value:end], depth); err != nil {
			return bsonwalk.Wrap(name, err)
		}
		if at != nil {
			if err := at.note(name, element{doc[start], start, value, end}); err != nil {
				return err
			}
		}
		start = end
	}
	return nil
}

// ascii is faster than [utf8.Valid] for the name of a field, which is short.
func ascii(name []byte) bool {
	for _, c := range name {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// note keeps e if the store itself uses the field of that name.
func (at *places) note(name []byte, e element) error {
	var place *element
	switch string(name) {
	case "_id":
		place = &at.id
	case store.Revision:
		place = &at.rev
	default:
		return nil
	}
	if place.typ != 0 {
		return fmt.Errorf("two fields %s", name)
	}
	*place = e
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
