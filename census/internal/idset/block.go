package idset

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A block is sorted records as bytes, on disk. The first
// record, and each with another process value than the one before it, is
//
//	0xFF | varint: process value - that before | second (4) | counter (3) | place
//
// with numbers in big-endian order, varints as in encoding/binary, and the place as a
// zigzag varint of the difference from the place before. The others have the seconds
// since the record before, and the counter's step, modulo 2^24:
//
//	below 0x80   seconds (2 bits) step (5 bits) | place
//	below 0xF8   0x80 + 4*seconds + upper 2 bits of step | lower 8 bits of step | place
//	below 0xFF   how many bytes seconds and step have, see wideSizes | seconds | step | place
//
// Ids that follow each other closely take two bytes, most others three to five.
const (
	medium   = 0x80
	wide     = 0xF8
	newValue = 0xFF

	shortSeconds, shortStep   = 1 << 2, 1 << 5
	mediumSeconds, mediumStep = (wide - medium) / 4, 1 << 10

	// MaxBlock is how many records a block has at most.
	MaxBlock = 4096
)

// wideSizes are the bytes of the seconds and of the step behind the first bytes from
// wide on.
var wideSizes = [newValue - wide][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 3}, {2, 3}, {4, 3}}

// errBlock is wrapped by the errors about blocks.
var errBlock = errors.New("census: damaged block of ids")

// AppendBlock appends records, which are sorted, to b.
func AppendBlock(b []byte, records []Record) []byte {
	var prev Record
	for i, r := range records {
		seconds, step := r.Second()-prev.Second(), (r.Counter()-prev.Counter())&CounterMask
		switch {
		case i == 0 || r.Value() != prev.Value():
			b = append(b, newValue)
			b = binary.AppendUvarint(b, r.Value()-prev.Value())
			b = binary.BigEndian.AppendUint32(b, r.Second())
			b = appendBytes(b, r.Counter(), 3)
		case seconds < shortSeconds && step < shortStep:
			b = append(b, byte(seconds*shortStep+step))
		case seconds < mediumSeconds && step < mediumStep:
			b = append(b, byte(medium+4*seconds+step>>8), byte(step))
		default:
			for t, size := range wideSizes {
				if seconds>>(8*size[0]-1)>>1 == 0 && step>>(8*size[1]) == 0 {
					b = append(b, byte(wide+t))
					b = appendBytes(b, seconds, size[0])
					b = appendBytes(b, step, size[1])
					break
				}
			}
		}
		b = binary.AppendVarint(b, int64(r.Place())-int64(prev.Place()))
		prev = r
	}
	return b
}

// appendBytes appends the lowest n bytes of v.
func appendBytes(b []byte, v uint32, n int) []byte {
	for n--; n >= 0; n-- {
		b = append(b, byte(v>>(8*n)))
	}
	return b
}

// DecodeBlock appends the n records in b to records. The error wraps errBlock.
func DecodeBlock(records []Record, b []byte, n int) ([]Record, error) {
	if n > MaxBlock {
		return records, fmt.Errorf("%w: %d ids, want %d at most", errBlock, n, MaxBlock)
	}
	d := blockDecoder{b: b}
	var value uint64
	var second, counter uint32
	var place int64
	for i := range n {
		t := d.number(1)
		switch {
		case t == newValue:
			value += d.varint()
			second, counter = d.number(4), d.number(3)
		case i == 0:
			return records, fmt.Errorf("%w: it does not begin with a process value", errBlock)
		case t < medium:
			second += t / shortStep
			counter = (counter + t%shortStep) & CounterMask
		case t < wide:
			second += (t - medium) / 4
			counter = (counter + (t-medium)%4<<8 + d.number(1)) & CounterMask
		default:
			size := wideSizes[t-wide]
			second += d.number(size[0])
			counter = (counter + d.number(size[1])) & CounterMask
		}
		place += d.signed()
		if d.short || value >= EndOfValues || place < 0 || place > placeMask {
			return records, fmt.Errorf("%w: id %d of %d", errBlock, i+1, n)
		}
		records = append(records, RecordOf(value, second, counter, uint32(place)))
	}
	if len(d.b) > 0 {
		return records, fmt.Errorf("%w: %d bytes after its ids", errBlock, len(d.b))
	}
	return records, nil
}

// BlockBuffer writes the records that it is given as blocks, up to the first error.
type BlockBuffer struct {
	records []Record
	Write   func([]Record) error
	err     error
}

// Add writes the records of e.
func (b *BlockBuffer) Add(e Extent) {
	for records := range e.Spans() {
		for len(records) > 0 && b.err == nil {
			n := min(MaxBlock-len(b.records), len(records))
			b.records, records = append(b.records, records[:n]...), records[n:]
			if len(b.records) == MaxBlock {
				b.Flush()
			}
		}
	}
}

// Flush writes what is left as the last block.
func (b *BlockBuffer) Flush() {
	if len(b.records) > 0 && b.err == nil {
		b.err = b.Write(b.records)
		b.records = b.records[:0]
	}
}

// blockDecoder takes numbers from b. short is set if b has too few bytes, or too many
// for a varint.
type blockDecoder struct {
	b     []byte
	short bool
}

// number returns the next n bytes as a number, or 0.
func (d *blockDecoder) number(n int) (v uint32) {
	if len(d.b) < n {
		d.short = true
		return 0
	}
	for _, c := range d.b[:n] {
		v = v<<8 | uint32(c)
	}
	d.b = d.b[n:]
	return v
}

func (d *blockDecoder) varint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v >= EndOfValues {
		d.short = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *blockDecoder) signed() int64 {
	if len(d.b) > 0 && d.b[0] < 0x80 { // most
		v := int64(d.b[0]>>1) ^ -int64(d.b[0]&1)
		d.b = d.b[1:]
		return v
	}
	v, n := binary.Varint(d.b)
	if n <= 0 || v > placeMask || v < -placeMask {
		d.short = true
		return 0
	}
	d.b = d.b[n:]
	return v
}
