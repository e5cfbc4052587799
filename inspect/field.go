package inspect

import "encoding/hex"

// part describes a run of bits of an id.
type part struct {
	name   string
	bits   int
	number bool // the value is a number, and not a name or random bits
}

// cut returns the fields that parts make of id, whose bits they must cover.
func cut(id []byte, parts ...part) []Field {
	fields := make([]Field, 0, len(parts))
	bit := 0
	for _, p := range parts {
		end := bit + p.bits
		f := Field{Name: p.name, Bit: bit, Bits: p.bits, Hex: hexOf(id, bit, end)}
		if p.number {
			n := bitsOf(id, max(bit, end-64), end)
			f.Number = &n
		}
		fields = append(fields, f)
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

// hexOf returns the bits of id from one to another as hexadecimal digits; the first has
// what is beyond a multiple of four.
func hexOf(id []byte, from, to int) string {
	if from%8 == 0 && to%8 == 0 {
		return hex.EncodeToString(id[from/8 : to/8])
	}
	const digits = "0123456789abcdef"
	out := make([]byte, (to-from+3)/4)
	for i := range out {
		end := to - 4*(len(out)-1-i)
		out[i] = digits[bitsOf(id, max(from, end-4), end)]
	}
	return string(out)
}
