package sealed

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"

	"github.com/oidkit/oid/objectid"
)

// block is the Short and the UUID form: AES restricted to blocks of a shape.
type block struct {
	aes   cipher.Block
	at    int    // where fixed is within the id
	fixed []byte // what a genuine block has there before it is encrypted
	fits  func(b []byte) bool
}

func newBlock(key []byte) (construction, error) {
	c, err := aes.NewCipher(key)
	return block{c, objectid.Size, make([]byte, aes.BlockSize-objectid.Size), func([]byte) bool { return true }}, err
}

// middle are the bytes 6 to 9 of the UUID that is encrypted: version, variant, and zeros.
var middle = []byte{0x80, 0, 0x80, 0}

func newUUID(key []byte) (construction, error) {
	c, err := aes.NewCipher(key)
	return block{c, 6, middle, isUUID}, err
}

// isUUID reports whether b is a UUID of version 8 and of the variant of RFC 9562.
func isUUID(b []byte) bool { return b[6]&0xF0 == 0x80 && b[8]&0xC0 == 0x80 }

func (c block) seal(id objectid.ID) []byte {
	b := make([]byte, 0, aes.BlockSize)
	b = append(append(append(b, id[:c.at]...), c.fixed...), id[c.at:]...)
	for c.aes.Encrypt(b, b); !c.fits(b); {
		c.aes.Encrypt(b, b)
	}
	return b
}

func (c block) open(sealed []byte) (id objectid.ID, ok int) {
	if !c.fits(sealed) {
		return id, 0 // from there the walk could take for ever
	}
	var b [aes.BlockSize]byte
	for c.aes.Decrypt(b[:], sealed); !c.fits(b[:]); {
		c.aes.Decrypt(b[:], b[:])
	}
	after := c.at + len(c.fixed)
	copy(id[:c.at], b[:c.at])
	copy(id[c.at:], b[after:])
	return id, subtle.ConstantTimeCompare(b[c.at:after], c.fixed)
}
