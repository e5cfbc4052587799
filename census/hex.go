package census

import (
	"encoding/binary"
	"math/bits"
)

// hexDigits is the length of an id as text.
const hexDigits = 24

const everyByte = 0x0101010101010101

// decodeHex reads the 24 hexadecimal digits, in either case, that s begins with,
// as the id's first 8 and last 4 bytes. s must not be shorter.
func decodeHex(s []byte) (first uint64, last uint32, ok bool) {
	_ = s[hexDigits-1]
	a, okA := decodeHex8(binary.LittleEndian.Uint64(s[0:8]))
	b, okB := decodeHex8(binary.LittleEndian.Uint64(s[8:16]))
	c, okC := decodeHex8(binary.LittleEndian.Uint64(s[16:24]))
	return uint64(a)<<32 | uint64(b), c, okA&okB&okC == everyByte<<7
}

// decodeHex8 reads eight digits, the first in the lowest byte of x, all at once.
// valid has the highest bit of every byte that is a digit set.
func decodeHex8(x uint64) (v uint32, valid uint64) {
	low := x &^ (everyByte << 7)        // sums below stay within their bytes
	letter := low | everyByte*('a'-'A') // in lower case, if it is one
	digits := (low + everyByte*(0x80-'0')) &^ (low + everyByte*(0x80-'9'-1))
	letters := (letter + everyByte*(0x80-'a')) &^ (letter + everyByte*(0x80-'f'-1))
	valid = (digits | letters) &^ x & (everyByte << 7)

	y := bits.ReverseBytes64(x&(everyByte*0x0F) + x>>6&everyByte*9)
	y = (y | y>>4) & 0x00FF00FF00FF00FF
	y = (y | y>>8) & 0x0000FFFF0000FFFF
	return uint32(y | y>>16), valid
}

// isHex says which bytes are hexadecimal digits.
var isHex = func() (t [256]bool) {
	for _, c := range []byte("0123456789abcdefABCDEF") {
		t[c] = true
	}
	return t
}()

// newRecordHex returns the record of the id that 24 digits, known to be digits,
// spell.
func newRecordHex(digits []byte, place uint32) record {
	first, last, _ := decodeHex(digits)
	return recordOf(first, last, place)
}
