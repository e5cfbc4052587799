package pgstore

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// Tags: the first byte of an encoded key. They order numbers before strings before ObjectIds.
const (
	tagNumber   = 0x10
	tagString   = 0x20
	tagObjectID = 0x30
	tagEnd      = 0xFF // greater than all keys: the upper bound of a range without one
)

// maxString is the maximum length in bytes of a string that is an _id. PostgreSQL's indexes
// refuse entries that are only a little longer.
const maxString = 2600

// encode returns the bytes of a key, see [appendKey].
func encode(key store.Key) ([]byte, error) { return appendKey([]byte{}, key) }

// appendKey appends the encoded key to b. Encoded keys are ordered as the keys are, and equal
// keys have equal bytes. They consist of (in hexadecimal):
//
//	number    10, 8 bytes: the greatest float64 f that is not above the number,
//	          2 bytes: the number minus f
//	string    20, the bytes of the string
//	ObjectId  30, the 12 bytes of the ObjectId
//
// The bits of the float64 are changed so that their order is that of the numbers: all bits of
// a negative number are inverted, and the sign bit of others is set. The number minus f is
// less than 1024, since a float64 has a precision of 53 bits and an int64 has 63 bits.
//
// If a string is longer than maxString, the error wraps [store.ErrKey] and b is unchanged.
func appendKey(b []byte, key store.Key) ([]byte, error) {
	switch v := key.Value().(type) {
	case int64:
		f := floor(v)
		return appendNumber(b, f, uint16(v-int64(f))), nil
	case float64:
		return appendNumber(b, v, 0), nil
	case string:
		if len(v) > maxString {
			return b, fmt.Errorf("%w: the string has %d bytes, want at most %d in PostgreSQL", store.ErrKey, len(v), maxString)
		}
		return append(append(b, tagString), v...), nil
	case objectid.ID:
		return append(append(b, tagObjectID), v[:]...), nil
	}
	return b, fmt.Errorf("%w: it is the zero Key", store.ErrKey)
}

func appendNumber(b []byte, f float64, rest uint16) []byte {
	bits := math.Float64bits(f)
	if bits>>63 == 1 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	b = binary.BigEndian.AppendUint64(append(b, tagNumber), bits)
	return binary.BigEndian.AppendUint16(b, rest)
}

// floor returns the greatest float64 that is not greater than n.
func floor(n int64) float64 {
	f := float64(n) // rounds to the nearest float64
	if f >= 1<<63 || int64(f) > n {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f
}

// condition returns the SQL condition that _id is in r, and its arguments. If open is true, r
// does not contain its lower bound.
func condition(r store.Range, open bool) (where string, args []any) {
	where = engine.Where(r, open, func(key store.Key) string {
		args = append(args, bound(key))
		return fmt.Sprintf("$%d", len(args))
	})
	return where, args
}

// bound returns the encoded form of a key to search for, or of a bound of a range. A string
// that is longer than maxString is truncated to maxString+1 bytes: all stored strings are
// shorter, so none of them equals the truncated string, and each is on the same side of it as
// of the whole string. The zero Key has no bytes.
func bound(key store.Key) []byte {
	b, err := encode(key)
	if text, long := key.Value().(string); long && err != nil {
		return append(append(b, tagString), text[:maxString+1]...)
	}
	return b
}
