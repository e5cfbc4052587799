package census

import "crypto/sha256"

// keyOf returns a record that stands for a value that is no ObjectId. Equal
// values give equal records but for the place. It is a digest of 96 bits: among
// 10^9 values two that differ share one with a chance of 10^-11.
func keyOf(k kind, value []byte, place uint32) record {
	switch k {
	case kindInt, kindLong, kindDouble:
		k = kindInt // to MongoDB an _id of 7 is the same as one of 7.0
	case kindHexString:
		k = kindString
	}
	h := sha256.New()
	h.Write([]byte{byte(k)})
	h.Write(value)
	var sum [sha256.Size]byte
	return newRecord(h.Sum(sum[:0]), place)
}
