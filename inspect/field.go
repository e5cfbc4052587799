package inspect

import (
	"encoding/binary"
	"encoding/hex"
)

// part describes a field of an id: bits that follow each other.
type part struct {
	name   string
	bits   int
	number bool // the value is a number, and not a name or random bits
}

// cut divides id into fields. The parts must cover all bits of id.
func cut(id []byte, parts ...part) []Field {
	return cutInto(make([]Field, len(parts)), make([]uint64, len(parts)), id, hex.EncodeToString(id), parts)
}

// cutInto is cut without allocations, for an id whose hexadecimal digits are known. It sets and
// returns fields, and stores their numbers in numbers.
func cutInto(fields []Field, numbers []uint64, id []byte, digits string, parts []part) []Field {
	bit := 0
	for i, p := range parts {
		end := bit + p.bits
		f := &fields[i]
		*f = Field{Name: p.name, Bit: bit, Bits: p.bits}
		if bit%4 == 0 && end%4 == 0 {
			f.Hex = digits[bit/4 : end/4]
		} else {
			var b []byte
			for at := end - (p.bits-1)/64*64; at <= end; at += 64 {
				b = binary.BigEndian.AppendUint64(b, bitsOf(id, max(bit, at-64), at))
			}
			whole := hex.EncodeToString(b)
			f.Hex = whole[len(whole)-(p.bits+3)/4:] // if bits is not a multiple of 4, the first digit has fewer bits
		}
		if p.number {
			numbers[i] = bitsOf(id, max(bit, end-64), end)
			f.Number = &numbers[i]
		}
		bit = end
	}
	return fields
}

// bitsOf returns the bits from (included) to to (excluded) of id as a number, at most 64 bits.
func bitsOf(id []byte, from, to int) (n uint64) {
	for from < to {
		if from%8 == 0 && to-from >= 8 {
			n = n<<8 | uint64(id[from/8])
			from += 8
			continue
		}
		n = n<<1 | uint64(id[from/8]>>(7-from%8)&1)
		from++
	}
	return n
}
