package sealed

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"

	"github.com/oidkit/oid/objectid"
)

// block is the Short form: one block of AES.
type block struct{ aes cipher.Block }

func newBlock(key []byte) (construction, error) {
	c, err := aes.NewCipher(key)
	return block{c}, err
}

func (c block) seal(id objectid.ID) []byte {
	b := make([]byte, aes.BlockSize)
	copy(b, id[:])
	c.aes.Encrypt(b, b)
	return b
}

func (c block) open(sealed []byte) (id objectid.ID, ok int) {
	var b [aes.BlockSize]byte
	c.aes.Decrypt(b[:], sealed)
	copy(id[:], b[:])
	return id, subtle.ConstantTimeCompare(b[objectid.Size:], make([]byte, aes.BlockSize-objectid.Size))
}

// walk is the UUID form: AES restricted to the blocks that are UUIDs.
type walk struct{ aes cipher.Block }

func newWalk(key []byte) (construction, error) {
	c, err := aes.NewCipher(key)
	return walk{c}, err
}

// middle are the bytes 6 to 9 of the UUID that is encrypted: version, variant, and zeros.
var middle = []byte{0x80, 0, 0x80, 0}

// isUUID reports whether b is a UUID of version 8 and of the variant of RFC 9562.
func isUUID(b []byte) bool { return b[6]&0xF0 == 0x80 && b[8]&0xC0 == 0x80 }

func (c walk) seal(id objectid.ID) []byte {
	b := make([]byte, 0, aes.BlockSize)
	b = append(append(append(b, id[:6]...), middle...), id[6:]...)
	for c.aes.Encrypt(b, b); !isUUID(b); {
		c.aes.Encrypt(b, b)
	}
	return b
}

func (c walk) open(sealed []byte) (id objectid.ID, ok int) {
	if !isUUID(sealed) {
		return id, 0 // from there the walk could take for ever
	}
	var b [aes.BlockSize]byte
	for c.aes.Decrypt(b[:], sealed); !isUUID(b[:]); {
		c.aes.Decrypt(b[:], b[:])
	}
	copy(id[:6], b[:6])
	copy(id[6:], b[10:])
	return id, subtle.ConstantTimeCompare(b[6:10], middle)
}
