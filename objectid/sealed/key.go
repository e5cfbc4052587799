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

// Key is the secret from which the keys of all kinds are derived. [ParseKey] reads one.
// The zero Key is not valid. What fmt, log/slog and encoding/json write of a Key does not
// contain the secret.
type Key struct {
	secret [keySize]byte
	valid  bool
}

// GenerateKey returns the text of a new random key, 64 lower-case hexadecimal digits.
func GenerateKey() string {
	var secret [keySize]byte
	rand.Read(secret[:])
	return hex.EncodeToString(secret[:])
}

// ParseKey reads a key of 64 hexadecimal digits, in lower or upper case. The error does not
// contain the text.
func ParseKey(text string) (Key, error) {
	var k Key
	if len(text) != hex.EncodedLen(keySize) {
		return Key{}, fmt.Errorf("sealed: a key has %d hexadecimal digits, not %d characters", hex.EncodedLen(keySize), len(text))
	}
	if _, err := hex.Decode(k.secret[:], []byte(text)); err != nil {
		return Key{}, errors.New("sealed: a key has a character that is not a hexadecimal digit")
	}
	k.valid = true
	return k, nil
}

// String returns a text without the secret.
func (k Key) String() string { return "sealed.Key(secret)" }

// Format implements [fmt.Formatter]: with every verb it writes what String returns.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }
