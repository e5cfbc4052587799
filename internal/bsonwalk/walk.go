// Package bsonwalk reads the elements of a BSON document (version 1.1 of the specification)
// without decoding their values or allocating memory. The document need not be trusted.
//
//	err := bsonwalk.Check(doc)
//	for start, end := bsonwalk.First, 0; err == nil && start < len(doc)-1; start = end {
//		var value int
//		if value, end, err = bsonwalk.Element(doc, start); err == nil {
//			fmt.Printf("%s %x\n", doc[start+1:value-1], doc[value:end])
//		}
//	}
//
// Only the structure of the document is checked. The caller must check the values: whether a
// string is UTF-8, or a nested document is valid.
package bsonwalk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// errShort means that a document ends too early.
var errShort = errors.New("the data ends before the document does")

// First is the offset of the first element of a document.
const First = 4

// Check checks the length at the beginning and the zero byte at the end of doc, which is one
// whole document. nil means that both are right.
func Check(doc []byte) error {
	switch {
	case len(doc) < 5:
		return errShort
	case uint64(binary.LittleEndian.Uint32(doc)) != uint64(len(doc)):
		return fmt.Errorf("its length is %d bytes, but it says %d", len(doc), binary.LittleEndian.Uint32(doc))
	case doc[len(doc)-1] != 0:
		return errors.New("no zero byte at its end")
	}
	return nil
}

// Element returns the offsets at which the value of an element
// begins and ends. start is the offset of the element: [First] or the end of another element,
// and less than len(doc)-1. The caller must call [Check] before the first call.
func Element(doc []byte, start int) (value, end int, err error) {
	last := len(doc) - 1
	value = start + 1
	for doc[value] != 0 { // names are short, so this is faster than IndexByte; the last byte is 0
		value++
	}
	if value == last {
		return 0, 0, errShort
	}
	value++
	size := int(sizes[doc[start]])
	if size < 0 || size > last-value {
		if size, err = ValueSize(doc[start], doc[value:last]); err != nil {
			return 0, 0, Wrap(doc[start+1:value-1], err)
		}
	}
	return value, value + size, nil
}

// Wrap returns an error that names the element and wraps err. A name of more than 100
// characters is cut.
func Wrap(name []byte, err error) error { return fmt.Errorf("field %.100q: %w", name, err) }

// sizes has the length of the values of each type. It is -1 for types that do not exist and
// for types whose values differ in length.
var sizes = func() (sizes [256]int8) {
	for i := range sizes {
		sizes[i] = -1
	}
	for size, types := range map[int8][]byte{
		0:  {0x06, 0x0A, 0x7F, 0xFF}, // undefined, null, maxKey, minKey
		1:  {0x08},                   // boolean
		4:  {0x10},                   // int32
		8:  {0x01, 0x09, 0x11, 0x12}, // double, date, timestamp, int64
		12: {0x07},                   // ObjectId
		16: {0x13},                   // decimal128
	} {
		for _, typ := range types {
			sizes[typ] = size
		}
	}
	return sizes
}()

// ValueSize returns the length in bytes of the value of type typ at the beginning of b. It is an
// error if there is no such type, or if b is too short for the value.
func ValueSize(typ byte, b []byte) (size int, err error) {
	if size = int(sizes[typ]); size < 0 {
		size, err = variableSize(typ, b)
	}
	if err == nil && size > len(b) {
		err = errShort
	}
	return size, err
}

func variableSize(typ byte, b []byte) (int, error) {
	switch typ {
	case 0x02, 0x0D, 0x0E: // string, code, symbol
		return length(b, 1, 4)
	case 0x03, 0x04: // document, array
		return length(b, 5, 0)
	case 0x05: // binary
		return length(b, 0, 5)
	case 0x0B: // regular expression: two texts
		return texts(b)
	case 0x0C: // DBPointer: a string and an ObjectId
		return length(b, 1, 4+12)
	case 0x0F: // code with scope
		return length(b, 14, 0)
	}
	return 0, fmt.Errorf("0x%02X is not a BSON type", typ)
}

// length reads the 32-bit length at the beginning of b and returns it plus beyond, the number
// of bytes that it does not count. A length below least is an error.
func length(b []byte, least, beyond uint32) (int, error) {
	if len(b) < 4 {
		return 0, errShort
	}
	n := binary.LittleEndian.Uint32(b)
	switch {
	case n < least:
		return 0, fmt.Errorf("length of %d bytes, want %d at least", n, least)
	case uint64(n)+uint64(beyond) > uint64(len(b)):
		return 0, fmt.Errorf("value of %d bytes, %d are left", uint64(n)+uint64(beyond), len(b))
	}
	return int(n + beyond), nil
}

func texts(b []byte) (size int, err error) {
	for range 2 {
		length := bytes.IndexByte(b[size:], 0)
		if length < 0 {
			return 0, errShort
		}
		size += length + 1
	}
	return size, nil
}
