package sealed

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"

	"github.com/oidkit/oid/objectid"
)

// siv is the Long form: AES-SIV of RFC 5297 for a message of 12 bytes without associated
// data. Every CMAC in it is of one whole block, which is one call of AES.
type siv struct {
	mac, ctr cipher.Block
	tweak    [aes.BlockSize]byte // what is combined with the padded message before the tag's AES
}

func newSIV(key []byte) (construction, error) {
	mac, err := aes.NewCipher(key[:len(key)/2])
	if err != nil {
		return nil, err
	}
	ctr, err := aes.NewCipher(key[len(key)/2:])
	if err != nil {
		return nil, err
	}
	c := siv{mac: mac, ctr: ctr}
	var subkey, d [aes.BlockSize]byte
	mac.Encrypt(subkey[:], subkey[:])
	double(&subkey)
	mac.Encrypt(d[:], subkey[:]) // the CMAC of a block of zeros
	double(&d)
	subtle.XORBytes(c.tweak[:], d[:], subkey[:])
	return c, nil
}

// double multiplies by x in GF(2^128), the dbl of RFC 5297.
func double(b *[aes.BlockSize]byte) {
	carry := b[0] >> 7
	for i := range len(b) - 1 {
		b[i] = b[i]<<1 | b[i+1]>>7
	}
	b[len(b)-1] = b[len(b)-1]<<1 ^ carry*0x87
}

// tag returns the CMAC of dbl(D) xor pad(id): S2V of RFC 5297.
func (c siv) tag(id objectid.ID) (tag [aes.BlockSize]byte) {
	copy(tag[:], id[:])
	tag[objectid.Size] = 0x80
	subtle.XORBytes(tag[:], tag[:], c.tweak[:])
	c.mac.Encrypt(tag[:], tag[:])
	return tag
}

// mask returns the key stream that the tag begins.
func (c siv) mask(tag [aes.BlockSize]byte) (mask [aes.BlockSize]byte) {
	tag[8] &= 0x7F
	tag[12] &= 0x7F
	c.ctr.Encrypt(mask[:], tag[:])
	return mask
}

func (c siv) seal(id objectid.ID) []byte {
	tag := c.tag(id)
	mask := c.mask(tag)
	subtle.XORBytes(id[:], id[:], mask[:objectid.Size])
	return append(tag[:], id[:]...)
}

func (c siv) open(sealed []byte) (id objectid.ID, ok int) {
	tag := [aes.BlockSize]byte(sealed)
	mask := c.mask(tag)
	subtle.XORBytes(id[:], sealed[aes.BlockSize:], mask[:])
	want := c.tag(id)
	return id, subtle.ConstantTimeCompare(tag[:], want[:])
}
