package inspect

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

// The fields are those that arithmetic with large numbers gives.
func TestCut(t *testing.T) {
	for range 2000 {
		id := make([]byte, 1+rand.IntN(24))
		for i := range id {
			id[i] = byte(rand.Uint32())
		}
		var parts []part
		for rest := 8 * len(id); rest > 0; {
			n := 1 + rand.IntN(rest)
			parts = append(parts, part{"x", n, true})
			rest -= n
		}
		bit := 0
		for i, f := range cut(id, parts...) {
			value := new(big.Int).Rsh(new(big.Int).SetBytes(id), uint(8*len(id)-bit-parts[i].bits))
			value.And(value, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(parts[i].bits)), big.NewInt(1)))
			low := new(big.Int).And(value, new(big.Int).SetUint64(^uint64(0))).Uint64()
			if want := fmt.Sprintf("%0*x", (parts[i].bits+3)/4, value); f.Hex != want || *f.Number != low || f.Bit != bit {
				t.Fatalf("%x from bit %d, %d bits: %+v with number %d, want %s, %d", id, bit, parts[i].bits, f, *f.Number, want, low)
			}
			bit += f.Bits
		}
	}
}
