package census

import (
	"encoding/binary"
	"iter"
	"slices"
	"sort"

	"github.com/oidkit/oid/objectid"
)

// record is an id and its place, in 16 bytes. Compared as one
// number of 128 bits, records sort by process value, second, counter and place:
//
//	hi  process value (40 bits) | second, upper 24 bits
//	lo  second, lower 8 bits | counter (24 bits) | place (32 bits)
//
// The place counts documents (or lines) through all sources of a census.
type record struct{ hi, lo uint64 }

// recordSize is the size of a record in bytes.
const recordSize = 16

const (
	counterBits  = 24
	counterMask  = 1<<counterBits - 1
	counterRange = 1 << counterBits // how many values a counter has

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

// recordOf returns the record with the given parts.
func recordOf(value uint64, second, counter, place uint32) record {
	return record{value<<counterBits | uint64(second>>8), uint64(second)<<56 | uint64(counter)<<placeBits | uint64(place)}
}

func (r record) value() uint64   { return r.hi >> counterBits }
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

// The process values of bounds, which no driver generates.
const (
	lowTail  = 0
	highTail = 1<<40 - 1
)

// isBound reports whether the eight bytes after the seconds are all 0x00 or all
// 0xFF.
func (r record) isBound() bool {
	return r.value() == lowTail && r.counter() == 0 || r.value() == highTail && r.counter() == counterMask
}

// records is a list of records in segments, of which all but the last are full.
// Growing by segments never copies, so that a census needs little more memory
// than its ids do.
type records struct {
	segments [][]record
	shift    uint  // a segment has 1<<shift records
	slab     *slab // for segments after the first; other lists may share it
}

const (
	smallSegments = 12 // shift of lists of which there may be many: 64 KiB
	largeSegments = 18 // shift of the others: 4 MiB
)

func (l *records) len() int {
	if len(l.segments) == 0 {
		return 0
	}
	return (len(l.segments)-1)<<l.shift + len(l.segments[len(l.segments)-1])
}

// at returns record i.
func (l *records) at(i int) *record {
	return &l.segments[i>>(l.shift&63)][i&(1<<(l.shift&63)-1)]
}

// append adds part to the end.
func (l *records) append(part ...record) { l.appendAt(part, 0) }

// appendAt adds part to the end, with base added to the places. The first segment grows
// as a slice does, which keeps a small list small; the others are made whole.
func (l *records) appendAt(part []record, base uint32) {
	for len(part) > 0 {
		n := len(l.segments)
		if n == 0 || len(l.segments[n-1]) == 1<<l.shift {
			l.segments = append(l.segments, nil)
			if n++; n > 1 {
				l.segments[n-1] = l.slab.segment(1 << l.shift)
			}
		}
		old := l.segments[n-1]
		k := min(len(part), 1<<l.shift-len(old))
		grown := slices.Grow(old, k)[:len(old)+k]
		added := grown[len(old):]
		for i, r := range part[:k] {
			added[i] = record{r.hi, r.lo + uint64(base)}
		}
		l.segments[n-1] = grown
		part = part[k:]
	}
}

// add adds one record to the end.
func (l *records) add(r record) {
	if n := len(l.segments) - 1; n >= 0 {
		if s := l.segments[n]; len(s) < cap(s) && len(s) < 1<<(l.shift&63) {
			l.segments[n] = append(s, r)
			return
		}
	}
	l.append(r)
}

// spans yields the records from i to j, not included, in as many slices as the
// segments ask for.
func (l *records) spans(i, j int) iter.Seq[[]record] {
	return func(yield func([]record) bool) {
		for i < j {
			segment := l.segments[i>>l.shift]
			from := i & (1<<l.shift - 1)
			to := min(len(segment), from+j-i)
			if !yield(segment[from:to]) {
				return
			}
			i += to - from
		}
	}
}

// search returns the first index from i to j whose record f holds for, or j. f
// must be false up to some record and true from there on.
func (l *records) search(i, j int, f func(record) bool) int {
	return i + sort.Search(j-i, func(k int) bool { return f(*l.at(i + k)) })
}
