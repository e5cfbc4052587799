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
	w := bsonwalk.New(raw)
	for w.Next() {
		if err := checkElement(&w, 1); err != nil {
			return places{}, invalid(err)
		}
		if err := at.note(&w); err != nil {
			return places{}, invalid(err)
		}
	}
	if err := w.Err(); err != nil {
		return places{}, invalid(err)
	}
	return at, nil
}

func invalid(err error) error { return fmt.Errorf("%w: %w", store.ErrDocument, err) }

// note keeps the element at w if the store itself uses the field.
func (at *places) note(w *bsonwalk.Walk) error {
	var place *element
	switch string(w.Name()) {
	case "_id":
		place = &at.id
	case store.Revision:
		place = &at.rev
	default:
		return nil
	}
	if place.typ != 0 {
		return fmt.Errorf("two fields %s", w.Name())
	}
	place.typ = w.Type()
	place.start, place.value, place.end = w.Offsets()
	return nil
}

// checkElement checks the element at w, which is so many levels deep.
func checkElement(w *bsonwalk.Walk, depth int) error {
	if !utf8.Valid(w.Name()) {
		return fmt.Errorf("field name %.100q is not UTF-8", w.Name())
	}
	if err := checkValue(bson.Type(w.Type()), w.Value(), depth); err != nil {
		return w.Wrap(err)
	}
	return nil
}

// checkNested checks a document inside another.
func checkNested(b []byte, depth int) error {
	if depth > store.MaxDepth {
		return fmt.Errorf("nested more than %d levels deep", store.MaxDepth)
	}
	w := bsonwalk.New(b)
	for w.Next() {
		if err := checkElement(&w, depth); err != nil {
			return err
		}
	}
	return w.Err()
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
		return checkNested(value, depth+1)
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
	return checkNested(value[4+code:], depth+1)
}
