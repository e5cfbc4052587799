package pgstore

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// The first byte of an encoded key. Numbers come before strings, and these before
// ObjectIds.
const (
	tagNumber   = 0x10
	tagString   = 0x20
	tagObjectID = 0x30
	tagEnd      = 0xFF // of the upper bound of a range that has none
)

// maxString is the greatest length in bytes of a string that is an _id:
// PostgreSQL's index refuses rows that are not much longer.
const maxString = 2600

// encode returns the bytes of a key, see [appendKey].
func encode(key store.Key) ([]byte, error) { return appendKey([]byte{}, key) }

// appendKey adds the bytes of a key to b. The order of the bytes is that of the keys,
// and equal keys have equal bytes:
//
//	number    10, 8 bytes of the greatest float64 that is not above it, 2 bytes of the rest
//	string    20, its bytes
//	ObjectId  30, its 12 bytes
//
// The bits of a float64 are turned so that their order is that of the numbers. The
// rest is less than 1024, since a float64 has 53 bits for the 63 of an int64.
// A string that is too long for the index gives an error that wraps
// [store.ErrKey], and b as it was.
func appendKey(b []byte, key store.Key) ([]byte, error) {
	switch v := key.Value().(type) {
	case int64:
		f := floor(v)
		return appendNumber(b, f, uint16(v-int64(f))), nil
	case float64:
		return appendNumber(b, v, 0), nil
	case string:
		if len(v) > maxString {
			return b, fmt.Errorf("%w: string of %d bytes, want %d at most in PostgreSQL", store.ErrKey, len(v), maxString)
		}
		return append(append(b, tagString), v...), nil
	case objectid.ID:
		return append(append(b, tagObjectID), v[:]...), nil
	}
	return b, fmt.Errorf("%w: there is none", store.ErrKey)
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

// floor returns the greatest float64 that is not above n.
func floor(n int64) float64 {
	f := float64(n) // the nearest
	if f >= 1<<63 || int64(f) > n {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f
}

// condition returns r as SQL, with its arguments. The lower bound is not part of it if open
// is true.
func condition(r store.Range, open bool) (where string, args []any) {
	where = engine.Where(r, open, func(key store.Key) string {
		args = append(args, bound(key))
		return fmt.Sprintf("$%d", len(args))
	})
	return where, args
}

// bound returns the bytes of a key to look for, or that is a bound of a range. One that is
// too long for a document is cut: all others are shorter, so they are not equal to what is
// left, and on the same side of it. The zero Key has no bytes.
func bound(key store.Key) []byte {
	b, err := encode(key)
	if text, long := key.Value().(string); long && err != nil {
		return append(append(b, tagString), text[:maxString+1]...)
	}
	return b
}
