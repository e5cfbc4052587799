package bsonwalk

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// sizes has the length of the values of each type, and below 0 for the types that
// do not exist or whose values differ in length.
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

// ValueSize returns the length of the value of type typ that b begins with. The
// error says that there is no such type or that b is too short for the value.
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

// length reads the 32-bit length that b begins with, which is at least least, and
// returns the length of the value: that and beyond more.
func length(b []byte, least, beyond uint32) (int, error) {
	if len(b) < 4 {
		return 0, errShort
	}
	n := binary.LittleEndian.Uint32(b)
	switch {
	case n < least:
		return 0, fmt.Errorf("length of %d bytes, want %d at least", n, least)
	case uint64(n)+uint64(beyond) > uint64(len(b)):
		return 0, fmt.Errorf("length of %d bytes, %d are left", n, len(b))
	}
	return int(n + beyond), nil
}

func texts(b []byte) (int, error) {
	first := bytes.IndexByte(b, 0)
	if first < 0 {
		return 0, errShort
	}
	second := bytes.IndexByte(b[first+1:], 0)
	if second < 0 {
		return 0, errShort
	}
	return first + second + 2, nil
}
