package sealed

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/oidkit/oid/objectid"
)

// Size is the length of a sealed id in bytes. As text it has 22 characters after the Prefix.
const Size = aes.BlockSize

// ErrNotSealed is wrapped by every error of [Sealer.Open] and [Sealer.OpenBytes].
var ErrNotSealed = errors.New("sealed: not a sealed id")

var errForged = fmt.Errorf("%w: no key opens it: it was changed, or sealed under another kind or key", ErrNotSealed)

// Options configure a [Sealer]. Kind and Keys are required.
type Options struct {
	// Kind names what the ids identify, such as "order". A sealed id opens only under the
	// Kind under which it was sealed. The Kind is not secret, and it is not part of the
	// sealed id. It must not change as long as a sealed id is in use.
	Kind string

	// Keys are the keys under which sealed ids open. The first key also seals. At least one
	// key is required.
	Keys []Key

	// Prefix is the text before each sealed id, such as "order_". It may contain ASCII
	// letters, digits and the characters - _ . and ~. Open refuses a text that does not
	// begin with the Prefix. Anybody can replace the Prefix: only the Kind prevents that an
	// id opens as one of another kind. Default: none.
	Prefix string
}

// Sealer seals and opens the ids of one kind. Create it with [New]. Any number of
// goroutines may use a Sealer at once.
type Sealer struct {
	prefix string
	keys   []cipher.Block
}

// New returns a Sealer with the options o. It fails if o is nil, if Kind or Keys are missing,
// if one of the Keys is the zero Key, or if Prefix has a character that is not allowed.
func New(o *Options) (*Sealer, error) {
	switch {
	case o == nil || o.Kind == "":
		return nil, errors.New("sealed: the kind is missing")
	case len(o.Keys) == 0:
		return nil, errors.New("sealed: the key is missing")
	case strings.Trim(o.Prefix, prefixCharacters) != "":
		return nil, fmt.Errorf("sealed: prefix %q: want letters, digits and the characters - _ . ~", o.Prefix)
	}
	s := &Sealer{prefix: o.Prefix}
	for i, k := range o.Keys {
		if !k.valid {
			return nil, fmt.Errorf("sealed: key %d is the zero Key, want one from ParseKey", i+1)
		}
		derived, err := hkdf.Key(sha256.New, k.secret[:], nil, "oid sealed id v1 "+o.Kind, keySize)
		if err != nil {
			return nil, fmt.Errorf("sealed: derive a key: %w", err)
		}
		block, err := aes.NewCipher(derived)
		if err != nil {
			return nil, fmt.Errorf("sealed: %w", err)
		}
		s.keys = append(s.keys, block)
	}
	return s, nil
}

const prefixCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~"

// Seal seals id and returns the sealed id as text: the prefix and 22 characters.
func (s *Sealer) Seal(id objectid.ID) string {
	return s.prefix + base64.RawURLEncoding.EncodeToString(s.SealBytes(id))
}

// SealBytes seals id and returns the sealed id as [Size] bytes, without the prefix.
func (s *Sealer) SealBytes(id objectid.ID) []byte {
	sealed := make([]byte, Size)
	copy(sealed, id[:])
	s.keys[0].Encrypt(sealed, sealed)
	return sealed
}

// Open returns the id that Seal sealed. It accepts only the text that Seal returned, no other
// spelling of the same bytes. Every error wraps [ErrNotSealed]: the prefix, the length or a
// character is wrong, or none of the keys opens the sealed id.
func (s *Sealer) Open(text string) (objectid.ID, error) {
	encoding := base64.RawURLEncoding
	body, found := strings.CutPrefix(text, s.prefix)
	if !found {
		return objectid.ID{}, fmt.Errorf("%w: it does not begin with %q", ErrNotSealed, s.prefix)
	}
	if want := encoding.EncodedLen(Size); len(body) != want {
		return objectid.ID{}, fmt.Errorf("%w: want %d characters, not %d", ErrNotSealed, len(s.prefix)+want, len(text))
	}
	b, err := encoding.DecodeString(body)
	// The decoder accepts more than one spelling of the same bytes.
	if err != nil || encoding.EncodeToString(b) != body {
		return objectid.ID{}, fmt.Errorf("%w: want base64url without padding", ErrNotSealed)
	}
	return s.OpenBytes(b)
}

// OpenBytes returns the id that SealBytes sealed. Every error wraps [ErrNotSealed]: b does not
// have [Size] bytes, or none of the keys opens it.
func (s *Sealer) OpenBytes(b []byte) (objectid.ID, error) {
	if len(b) != Size {
		return objectid.ID{}, fmt.Errorf("%w: want %d bytes, not %d", ErrNotSealed, Size, len(b))
	}
	var (
		id     objectid.ID
		opened int
		zeros  [Size - objectid.Size]byte
	)
	for _, k := range s.keys { // try every key, so that the time does not show which one fits
		var block [Size]byte
		k.Decrypt(block[:], b)
		ok := subtle.ConstantTimeCompare(block[objectid.Size:], zeros[:])
		subtle.ConstantTimeCopy(ok&^opened, id[:], block[:objectid.Size])
		opened |= ok
	}
	if opened == 0 {
		return objectid.ID{}, errForged
	}
	return id, nil
}
