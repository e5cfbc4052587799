package inspect

import (
	"fmt"
	"math/big"
)

// part describes a run of bits of an id.
type part struct {
	name   string
	bits   int
	number bool // the value is a number, and not a name or random bits
}

// cut returns the fields that parts make of id, whose bits they must cover.
func cut(id []byte, parts ...part) []Field {
	fields := make([]Field, 0, len(parts))
	whole := new(big.Int).SetBytes(id)
	bit := 0
	for _, p := range parts {
		value := new(big.Int).Rsh(whole, uint(8*len(id)-bit-p.bits))
		value.And(value, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(p.bits)), big.NewInt(1)))
		f := Field{Name: p.name, Bit: bit, Bits: p.bits, Hex: fmt.Sprintf("%0*x", (p.bits+3)/4, value)}
		if p.number {
			n := value.Uint64()
			f.Number = &n
		}
		fields = append(fields, f)
		bit += p.bits
	}
	return fields
}
