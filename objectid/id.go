package objectid

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"
)

// Size is the length of an ID in bytes.
const Size = 12

// ErrInvalid is wrapped by every error that [Parse] and the decoding methods
// of [ID] return.
var ErrInvalid = errors.New("objectid: invalid id")

// ID is a MongoDB ObjectId:
//
//	 0   1   2   3   4   5   6   7   8   9  10  11
//	+---------------+-------------------+-----------+
//	| Unix seconds  |   process value   |  counter  |
//	+---------------+-------------------+-----------+
//
// All three fields are big-endian and unsigned, so comparing two IDs byte by
// byte compares their creation times to the second. The meaning of the last
// eight bytes depends on the [Layout] of the generator; package inspect reads
// them. The format is that of MongoDB's BSON ObjectId specification.
//
// The zero ID means "no id", see [ID.IsZero]. An ID is a plain value: it can be
// compared with ==, used as a map key, and its methods that take it by value
// may be called by any number of goroutines at once.
type ID [Size]byte

// IsZero reports whether id is the zero ID, which means "no id".
// The options omitzero of encoding/json and omitempty of BSON call it.
func (id ID) IsZero() bool { return id == ID{} }

// Time returns the creation time in id, a whole second in UTC between
// 1970-01-01T00:00:00Z and 2106-02-07T06:28:15Z. For the zero ID it is the first
// of these.
func (id ID) Time() time.Time {
	return time.Unix(int64(binary.BigEndian.Uint32(id[:])), 0).UTC()
}

// Compare returns -1 if id is smaller than other, 0 if they are equal and +1 if
// it is greater. It suits [slices.SortFunc] as the method expression
// ID.Compare. IDs of an earlier second are smaller than those of a later one.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// putWords sets the first eight bytes of id and the last four. Every id is
// assembled in these two pieces because the compiler copies an ID in the same
// pieces, so that the copy need not wait for the stores.
func putWords(id *ID, first uint64, low uint32) {
	binary.BigEndian.PutUint64(id[0:], first)
	binary.BigEndian.PutUint32(id[8:], low)
}
