package idset

import (
	"encoding/binary"

	"github.com/oidkit/oid/objectid"
)

// Record is an id and its place in 16 bytes. Records are compared as numbers of 128 bits,
// which sorts them by process value, second, counter and place:
//
//	Hi  process value (40 bits) | second, upper 24 bits
//	Lo  second, lower 8 bits | counter (24 bits) | place (32 bits)
type Record struct{ Hi, Lo uint64 }

// RecordSize is the size of a record in bytes.
const RecordSize = 16

// The sizes of the parts of a record.
const (
	CounterBits  = 24
	CounterMask  = 1<<CounterBits - 1
	CounterRange = 1 << CounterBits // how many values a counter has

	PlaceBits = 32
	placeMask = 1<<PlaceBits - 1
)

// NewRecord returns the record of an id at a place.
func NewRecord(id *objectid.ID, place uint32) Record {
	first, last := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint32(id[8:])
	return Record{
		Hi: first<<32 | uint64(last>>24)<<24 | first>>40,
		Lo: first>>32<<56 | uint64(last&CounterMask)<<PlaceBits | uint64(place),
	}
}

// RecordOf returns the record with the given parts; counter must be less than CounterRange.
func RecordOf(value uint64, second, counter, place uint32) Record {
	return Record{value<<CounterBits | uint64(second>>8), uint64(second)<<56 | uint64(counter)<<PlaceBits | uint64(place)}
}

// Value returns the process value, the five bytes of the id between time and counter. Second,
// Counter and Place return the other parts.
func (r Record) Value() uint64   { return r.Hi >> CounterBits }
func (r Record) Second() uint32  { return uint32(r.Hi)<<8 | uint32(r.Lo>>56) }
func (r Record) Counter() uint32 { return uint32(r.Lo>>PlaceBits) & CounterMask }
func (r Record) Place() uint32   { return uint32(r.Lo) }

// SameID reports whether the ids of r and s are equal, whatever their places are.
func (r Record) SameID(s Record) bool { return r.Hi == s.Hi && r.Lo>>PlaceBits == s.Lo>>PlaceBits }

func (r Record) less(s Record) bool { return r.Hi < s.Hi || r.Hi == s.Hi && r.Lo < s.Lo }

// ID returns the id.
func (r Record) ID() (id objectid.ID) {
	binary.BigEndian.PutUint32(id[0:], r.Second())
	binary.BigEndian.PutUint32(id[4:], uint32(r.Hi>>32))
	binary.BigEndian.PutUint32(id[8:], uint32(r.Hi>>24)<<24|r.Counter())
	return id
}

// LowTail and HighTail are the process values of bounds, which queries by time use. No driver
// generates them.
const (
	LowTail  = 0
	HighTail = 1<<40 - 1
)

// IsBound reports whether the id is a bound for queries by time: whether its eight bytes
// after the time are all 0x00 or all 0xFF.
func (r Record) IsBound() bool {
	return r.Value() == LowTail && r.Counter() == 0 || r.Value() == HighTail && r.Counter() == CounterMask
}

// segmented is a list of records in segments. All segments except the last are full. Adding a
// segment copies nothing, so a list needs little more memory than its records.
type segmented struct {
	segments [][]Record
	shift    uint  // a segment has 1<<shift records
	slab     *slab // memory of the segments after the first; other lists may share it
}

const (
	smallSegments = 12 // shift of the lists for single process values: segments of 64 KiB
	largeSegments = 18 // shift of the list for the rest: segments of 4 MiB
)

func (l *segmented) len() int {
	if len(l.segments) == 0 {
		return 0
	}
	return (len(l.segments)-1)<<l.shift + len(l.segments[len(l.segments)-1])
}

// at returns record i.
func (l *segmented) at(i int) *Record {
	return &l.segments[i>>(l.shift&63)][i&(1<<(l.shift&63)-1)]
}

// add adds one record to the end. The first segment grows like a slice, which keeps a small
// list small. Later segments have their full size from the beginning.
func (l *segmented) add(r Record) {
	n := len(l.segments)
	if n == 0 || len(l.segments[n-1]) == 1<<(l.shift&63) {
		var next []Record
		if n > 0 {
			next = l.slab.segment(1 << l.shift)
		}
		l.segments = append(l.segments, next)
		n++
	}
	l.segments[n-1] = append(l.segments[n-1], r)
}

// all returns all records.
func (l *segmented) all() Extent { return Extent{l, 0, l.len()} }
