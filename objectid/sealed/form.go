package sealed

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

// Form is the form of a sealed id.
type Form uint8

const (
	// Short has 16 bytes, as text 22 characters of base64url.
	Short Form = iota
	// UUID has 16 bytes that are a UUID of version 8, for columns and programs that want
	// a UUID. It has 6 bits less to recognise a forgery by.
	UUID
	// Long has 28 bytes, as text 38 characters of base64url, where one forgery that opens
	// in 2^32 tries is too many.
	Long
)

// Forms are all forms, the default first.
var Forms = []Form{Short, UUID, Long}

// forms are the properties of each Form.
var forms = [...]struct {
	name           string
	size, textSize int // of a sealed id, in bytes and in characters
	alphabet       string
	encode         func([]byte) string
	decode         func(string) ([]byte, error)
	keySize        int
	construct      func(key []byte) (construction, error)
}{
	Short: {"short", 16, 22, "base64url without padding", base64.RawURLEncoding.EncodeToString, base64.RawURLEncoding.DecodeString, 32, newBlock},
	UUID:  {"uuid", 16, 36, "the lower-case form of a UUID", encodeUUID, decodeUUID, 32, newUUID},
	Long:  {"long", 28, 38, "base64url without padding", base64.RawURLEncoding.EncodeToString, base64.RawURLEncoding.DecodeString, 64, newSIV},
}

// String returns the lower-case name of f.
func (f Form) String() string {
	if int(f) < len(forms) {
		return forms[f].name
	}
	return fmt.Sprintf("Form(%d)", uint8(f))
}

func encodeUUID(b []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func decodeUUID(text string) ([]byte, error) {
	return hex.DecodeString(strings.ReplaceAll(text, "-", ""))
}
