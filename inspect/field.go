package inspect

import (
	"encoding/binary"
	"encoding/hex"
)

// part describes a run of bits of an id.
type part struct {
	name   string
	bits   int
	number bool // the value is a number, and not a name or random bits
}

// cut returns the fields that parts make of id, whose bits they must cover.
func cut(id []byte, parts ...part) []Field {
	return cutInto(make([]Field, len(parts)), make([]uint64, len(parts)), id, hex.EncodeToString(id), parts)
}

// cutInto is cut for an id whose hexadecimal digits are known. It sets and returns fields,
// whose numbers will be in numbers.
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
			f.Hex = whole[len(whole)-(p.bits+3)/4:] // the first digit has what is beyond a multiple of four
		}
		if p.number {
			numbers[i] = bitsOf(id, max(bit, end-64), end)
			f.Number = &numbers[i]
		}
		bit = end
	}
	return fields
}

// bitsOf returns the bits of id from one to another, 64 at most, as a number.
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
