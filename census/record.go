package census

import (
	"encoding/binary"

	"github.com/oidkit/oid/objectid"
)

// record is an id and the place where it stands, in 16 bytes. Compared as one
// number of 128 bits, records sort by process value, second, counter and place:
//
//	hi  process value (40 bits) | second, upper 24 bits
//	lo  second, lower 8 bits | counter (24 bits) | place (32 bits)
//
// The place counts documents (or lines) through all sources of a census.
type record struct{ hi, lo uint64 }

const (
	counterBits = 24
	counterMask = 1<<counterBits - 1
	circle      = 1 << counterBits // values that a counter has

	placeBits = 32
	placeMask = 1<<placeBits - 1
)

// newRecord returns the record of an id.
func newRecord(id *objectid.ID, place uint32) record {
	first, last := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint32(id[8:])
	return record{
		hi: first<<32 | uint64(last>>24)<<24 | first>>40,
		lo: first>>32<<56 | uint64(last&counterMask)<<placeBits | uint64(place),
	}
}

func (r record) process() uint64 { return r.hi >> counterBits }
func (r record) second() uint32  { return uint32(r.hi)<<8 | uint32(r.lo>>56) }
func (r record) counter() uint32 { return uint32(r.lo>>placeBits) & counterMask }
func (r record) place() uint32   { return uint32(r.lo) }

// sameID reports whether r and s are of the same id.
func (r record) sameID(s record) bool { return r.hi == s.hi && r.lo>>placeBits == s.lo>>placeBits }

func (r record) less(s record) bool { return r.hi < s.hi || r.hi == s.hi && r.lo < s.lo }

func (r record) id() (id objectid.ID) {
	binary.BigEndian.PutUint32(id[0:], r.second())
	binary.BigEndian.PutUint32(id[4:], uint32(r.hi>>32))
	binary.BigEndian.PutUint32(id[8:], uint32(r.hi>>24)<<24|r.counter())
	return id
}

// The last eight bytes of a bound: what a range's end has, and no driver makes.
const (
	lowTail  = 0
	highTail = 1<<40 - 1
)

// isBound reports whether the eight bytes after the seconds are all 0x00 or all
// 0xFF.
func (r record) isBound() bool {
	return r.process() == lowTail && r.counter() == 0 || r.process() == highTail && r.counter() == counterMask
}
