package objectid

import "encoding/binary"

// hexSize is the length of an ID in its text form.
const hexSize = 2 * Size

// Eight digits are converted at a time, each in one byte of a 64-bit word.

// putHex writes the 24 lower-case hexadecimal digits of id.
func putHex(dst *[hexSize]byte, id *ID) {
	binary.BigEndian.PutUint64(dst[0:], digits(spread(binary.BigEndian.Uint32(id[0:]))))
	binary.BigEndian.PutUint64(dst[8:], digits(spread(binary.BigEndian.Uint32(id[4:]))))
	binary.BigEndian.PutUint64(dst[16:], digits(spread(binary.BigEndian.Uint32(id[8:]))))
}

// getHex reads 24 hexadecimal digits of either case. It reports false, and leaves
// id unchanged, if one of the bytes is not a digit.
func getHex(id *ID, src *[hexSize]byte) bool {
	x, wrongX := values(binary.BigEndian.Uint64(src[0:]))
	y, wrongY := values(binary.BigEndian.Uint64(src[8:]))
	z, wrongZ := values(binary.BigEndian.Uint64(src[16:]))
	if wrongX|wrongY|wrongZ != 0 {
		return false
	}
	putWords(id, uint64(gather(x))<<32|uint64(gather(y)), gather(z))
	return true
}

// values is the inverse of digits, for letters of either case. wrong is 0 if all eight
// bytes of w are digits.
func values(w uint64) (x, wrong uint64) {
	// Letters, unlike digits, have bit 6 set; their low bits count from 1.
	letter := w >> 6 & ones
	x = (w&(0x0F*ones) + 9*letter) & (0x0F * ones)
	// Characters that are not digits do not round-trip.
	return x, digits(x) ^ (w | letter<<5)
}

// ones has a 1 in each byte, so that v*ones has v in each.
const ones = 0x0101010101010101

// digits turns eight values from 0 to 15 into lower-case ASCII digits.
func digits(x uint64) uint64 {
	letter := (x + 6*ones) >> 4 & ones // 10 and more reach bit 4
	return x + '0'*ones + letter*('a'-'0'-10)
}

// spread puts the eight nibbles of v into a byte each.
func spread(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000FFFF0000FFFF
	x = (x | x<<8) & 0x00FF00FF00FF00FF
	return (x | x<<4) & (0x0F * ones)
}

// gather is the inverse of spread.
func gather(x uint64) uint32 {
	x = (x | x>>4) & 0x00FF00FF00FF00FF
	x = (x | x>>8) & 0x0000FFFF0000FFFF
	return uint32(x | x>>16)
}
