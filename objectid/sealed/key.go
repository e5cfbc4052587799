package sealed

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// keySize is the length of a Key, and of a derived key, in bytes.
const keySize = 32

// Key is a secret, from which [New] derives the AES key of each kind. [ParseKey] reads a Key.
// The zero Key is not valid: New refuses it. fmt, log/slog and encoding/json never write the
// secret.
type Key struct {
	secret [keySize]byte
	valid  bool
}

// GenerateKey returns a new random key as text: 64 lower-case hexadecimal digits, which
// [ParseKey] reads.
func GenerateKey() string {
	var secret [keySize]byte
	rand.Read(secret[:])
	return hex.EncodeToString(secret[:])
}

// ParseKey reads a key of 64 hexadecimal digits, in lower or upper case. For any other text it
// returns an error, which does not contain the text.
func ParseKey(text string) (Key, error) {
	var k Key
	if len(text) != hex.EncodedLen(keySize) {
		return Key{}, fmt.Errorf("sealed: key of %d characters, want %d hexadecimal digits", len(text), hex.EncodedLen(keySize))
	}
	if _, err := hex.Decode(k.secret[:], []byte(text)); err != nil {
		return Key{}, errors.New("sealed: key with a character that is not a hexadecimal digit")
	}
	k.valid = true
	return k, nil
}

// String returns "sealed.Key(secret)", whatever the secret is.
func (k Key) String() string { return "sealed.Key(secret)" }

// Format writes what String returns, for every verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }
