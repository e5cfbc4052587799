package objectid

import "encoding/binary"

// hexSize is the length of an ID in its text form.
const hexSize = 2 * Size

// putHex writes the 24 lower-case hexadecimal digits of id, eight at a time.
func putHex(dst *[hexSize]byte, id *ID) {
	binary.BigEndian.PutUint64(dst[0:], hexWord(binary.BigEndian.Uint32(id[0:])))
	binary.BigEndian.PutUint64(dst[8:], hexWord(binary.BigEndian.Uint32(id[4:])))
	binary.BigEndian.PutUint64(dst[16:], hexWord(binary.BigEndian.Uint32(id[8:])))
}

// hexWord returns the eight hexadecimal digits of v as eight bytes of ASCII.
func hexWord(v uint32) uint64 {
	// Spread the eight nibbles over eight bytes.
	x := uint64(v)
	x = (x | x<<16) & 0x0000FFFF0000FFFF
	x = (x | x<<8) & 0x00FF00FF00FF00FF
	x = (x | x<<4) & 0x0F0F0F0F0F0F0F0F
	// Adding 6 sets bit 4 of the bytes that are 10 or more: the letters.
	letter := (x + 0x0606060606060606) >> 4 & 0x0101010101010101
	return x + 0x3030303030303030 + letter*('a'-'0'-10)
}

// nibble maps an ASCII digit of either case to its value, and every other byte
// to notHex.
var nibble = func() (t [256]byte) {
	for i := range t {
		t[i] = notHex
	}
	for i := range byte(10) {
		t['0'+i] = i
	}
	for i := range byte(6) {
		t['a'+i] = 10 + i
		t['A'+i] = 10 + i
	}
	return t
}()

// notHex has bits that no nibble has, so that an OR of looked-up values shows
// whether one of them was no digit.
const notHex = 0xF0

// decodeHex reads 24 hexadecimal digits. It reports false, with a meaningless
// id, if a byte is no digit.
func decodeHex[T string | []byte](s T) (id ID, ok bool) {
	_ = s[hexSize-1]
	var seen byte
	for i := range id {
		hi, lo := nibble[s[2*i]], nibble[s[2*i+1]]
		seen |= hi | lo
		id[i] = hi<<4 | lo
	}
	return id, seen&notHex == 0
}
