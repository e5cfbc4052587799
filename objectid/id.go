package objectid

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"
)

// Size is the length of an ID in bytes.
const Size = 12

// ErrInvalid is wrapped by every error of decoding an ID.
var ErrInvalid = errors.New("objectid: invalid id")

// ID is a MongoDB ObjectId, big-endian and unsigned:
//
//	 0   1   2   3   4   5   6   7   8   9  10  11
//	+---------------+-------------------+-----------+
//	| Unix seconds  |   process value   |  counter  |
//	+---------------+-------------------+-----------+
//
// Compare ids with ==, use them as map keys, share them between goroutines.
//
// The zero ID means "no id"; as text it is 24 zeros. Encoding never fails. A decoding error
// leaves the id unchanged.
type ID [Size]byte

// IsZero reports whether id is the zero ID. The options omitzero of encoding/json and
// omitempty of BSON call it.
func (id ID) IsZero() bool { return id == ID{} }

// Time returns the creation time in UTC, a whole second from 1970-01-01T00:00:00Z to
// 2106-02-07T06:28:15Z.
func (id ID) Time() time.Time {
	return time.Unix(int64(binary.BigEndian.Uint32(id[:])), 0).UTC()
}

// Compare returns -1 if id is less than other, 0 if they are equal, and +1 if id is greater.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// putWords sets the first eight bytes of id and the last four. Every id is
// assembled in these two pieces because the compiler copies an ID in the same
// pieces, so that the copy need not wait for the stores.
func putWords(id *ID, first uint64, low uint32) {
	binary.BigEndian.PutUint64(id[0:], first)
	binary.BigEndian.PutUint32(id[8:], low)
}
