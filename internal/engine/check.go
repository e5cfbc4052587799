package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// element is where an element of a document lies: its type byte at start, its
// value from value to end. A zero typ means that there is none.
type element struct {
	typ               byte
	start, value, end int
}

// places are the elements that the store itself uses.
type places struct{ id, rev element }

// check reports what is wrong with raw as a BSON document, and where its _id and
// its revision are. The format is that of the BSON specification, version 1.1. It
// does not trust raw: a depth is refused before it costs stack.
func check(raw []byte) (at places, err error) {
	if len(raw) > store.MaxSize {
		return places{}, tooLarge(len(raw))
	}
	n, err := checkDocument(raw, 1, &at)
	if err == nil && n != len(raw) {
		err = fmt.Errorf("%d bytes after its end", len(raw)-n)
	}
	if err != nil {
		return places{}, fmt.Errorf("%w: %w", store.ErrDocument, err)
	}
	return at, nil
}

// note keeps e if the store itself uses the field.
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

var errShort = errors.New("it ends in the middle")

// checkDocument returns the length of the document that b begins with. If at is
// not nil, it notes the places of elements.
func checkDocument(b []byte, depth int, at *places) (int, error) {
	if depth > store.MaxDepth {
		return 0, fmt.Errorf("nested more than %d levels deep", store.MaxDepth)
	}
	size, err := length(b, 5)
	if err != nil {
		return 0, err
	}
	b = b[:size]
	if b[size-1] != 0 {
		return 0, errors.New("no zero byte at the end")
	}
	for pos := 4; pos < size-1; {
		e := element{typ: b[pos], start: pos}
		nameEnd := bytes.IndexByte(b[pos+1:size-1], 0)
		if nameEnd < 0 {
			return 0, errShort
		}
		name := b[pos+1 : pos+1+nameEnd]
		if !utf8.Valid(name) {
			return 0, fmt.Errorf("field name %q is not UTF-8", name)
		}
		e.value = pos + nameEnd + 2
		n, err := checkValue(bson.Type(e.typ), b[e.value:size-1], depth)
		if err != nil {
			return 0, fmt.Errorf("field %q: %w", name, err)
		}
		e.end = e.value + n
		if at != nil {
			if err := at.note(name, e); err != nil {
				return 0, err
			}
		}
		pos = e.end
	}
	return size, nil
}

// checkValue returns the length of the value of type t that b begins with.
func checkValue(t bson.Type, b []byte, depth int) (n int, err error) {
	switch t {
	case bson.TypeDouble, bson.TypeDateTime, bson.TypeTimestamp, bson.TypeInt64:
		n = 8
	case bson.TypeObjectID:
		n = 12
	case bson.TypeInt32:
		n = 4
	case bson.TypeDecimal128:
		n = 16
	case bson.TypeUndefined, bson.TypeNull, bson.TypeMinKey, bson.TypeMaxKey:
		n = 0
	case bson.TypeBoolean:
		if n = 1; len(b) > 0 && b[0] > 1 {
			return 0, fmt.Errorf("boolean of byte %d, want 0 or 1", b[0])
		}
	case bson.TypeString, bson.TypeJavaScript, bson.TypeSymbol:
		return checkString(b)
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return checkDocument(b, depth+1, nil)
	case bson.TypeBinary:
		return checkBinary(b)
	case bson.TypeRegex:
		return checkRegex(b)
	case bson.TypeDBPointer:
		n, err = checkString(b)
		n += 12
	case bson.TypeCodeWithScope:
		return checkCodeWithScope(b, depth)
	default:
		return 0, fmt.Errorf("0x%02X is no BSON type", byte(t))
	}
	if err == nil && n > len(b) {
		err = errShort
	}
	return n, err
}

// length reads the 32-bit length that b begins with and that counts itself.
func length(b []byte, least int) (int, error) {
	if len(b) < 4 {
		return 0, errShort
	}
	n := binary.LittleEndian.Uint32(b)
	switch {
	case int64(n) > int64(len(b)):
		return 0, fmt.Errorf("length of %d bytes where %d are left", n, len(b))
	case int64(n) < int64(least):
		return 0, fmt.Errorf("length of %d bytes, want %d at least", n, least)
	}
	return int(n), nil
}

func checkString(b []byte) (int, error) {
	if len(b) < 4 {
		return 0, errShort
	}
	n := binary.LittleEndian.Uint32(b)
	switch {
	case int64(n)+4 > int64(len(b)):
		return 0, fmt.Errorf("string of %d bytes where %d are left", n, len(b)-4)
	case n == 0 || b[3+n] != 0:
		return 0, errors.New("string without a zero byte at its end")
	case !utf8.Valid(b[4 : 3+n]):
		return 0, errors.New("string that is not UTF-8")
	}
	return 4 + int(n), nil
}

func checkBinary(b []byte) (int, error) {
	if len(b) < 5 {
		return 0, errShort
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n+5 > int64(len(b)) {
		return 0, fmt.Errorf("binary of %d bytes where %d are left", n, len(b)-5)
	}
	// The old subtype 2 has its length twice.
	if b[4] == 2 && (n < 4 || int64(binary.LittleEndian.Uint32(b[5:])) != n-4) {
		return 0, errors.New("binary of subtype 2 with a wrong inner length")
	}
	return int(n) + 5, nil
}

func checkRegex(b []byte) (int, error) {
	pattern := bytes.IndexByte(b, 0)
	if pattern < 0 {
		return 0, errShort
	}
	flags := bytes.IndexByte(b[pattern+1:], 0)
	if flags < 0 {
		return 0, errShort
	}
	n := pattern + flags + 2
	if !utf8.Valid(b[:n]) {
		return 0, errors.New("regular expression that is not UTF-8")
	}
	return n, nil
}

func checkCodeWithScope(b []byte, depth int) (int, error) {
	size, err := length(b, 14)
	if err != nil {
		return 0, err
	}
	code, err := checkString(b[4:size])
	if err != nil {
		return 0, err
	}
	scope, err := checkDocument(b[4+code:size], depth+1, nil)
	if err == nil && 4+code+scope != size {
		err = errors.New("code with scope of a wrong length")
	}
	return size, err
}
