package sealed

import (
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"

	"github.com/oidkit/oid/objectid"
)

// ErrNotSealed is wrapped by every error of [Sealer.Open] and [Sealer.OpenBytes].
var ErrNotSealed = errors.New("sealed: not a sealed id")

var errForged = fmt.Errorf("%w: no key opens it: it was changed, or is of another kind, form or key", ErrNotSealed)

// Options say what New needs.
type Options struct {
	// Kind is what the ids are ids of, such as "order". A sealed id of one kind does not
	// open as another. It must not be empty. It is not secret, is not in the sealed id,
	// and may not change.
	Kind string
	// Keys are the keys that open. The first of them seals as well.
	Keys []Key
	// Form is the form of the sealed ids. Default: Short.
	Form Form
	// Prefix is written before each sealed id as text, such as "order_", and must be there
	// when it is opened. It consists of letters, digits and the characters - _ . and ~. It
	// protects nothing; the Kind does. UUIDs have none.
	Prefix string
}

// Sealer seals and opens the ids of one kind. Any number of goroutines may use it at once.
type Sealer struct {
	form   Form
	prefix string
	keys   []construction
}

// construction seals and opens under one key.
type construction interface {
	seal(id objectid.ID) []byte
	// open returns the id in sealed, which has the size of the form. ok is 1 if sealed is
	// genuine, else 0, and takes the same time to find out.
	open(sealed []byte) (id objectid.ID, ok int)
}

// New returns a Sealer, or an error that says which option is missing or wrong. A nil o
// means the zero Options, which lack the kind.
func New(o *Options) (*Sealer, error) {
	if o == nil {
		o = &Options{}
	}
	switch {
	case o.Kind == "":
		return nil, errors.New("sealed: the kind is missing")
	case len(o.Keys) == 0:
		return nil, errors.New("sealed: the key is missing")
	case int(o.Form) >= len(forms):
		return nil, fmt.Errorf("sealed: there is no form %d", o.Form)
	case o.Prefix != "" && o.Form == UUID:
		return nil, errors.New("sealed: a UUID has no prefix")
	case strings.Trim(o.Prefix, prefixCharacters) != "":
		return nil, fmt.Errorf("sealed: prefix %q: want letters, digits and the characters - _ . ~", o.Prefix)
	}
	form := forms[o.Form]
	s := &Sealer{form: o.Form, prefix: o.Prefix}
	for i, k := range o.Keys {
		if !k.valid {
			return nil, fmt.Errorf("sealed: key %d was not read by ParseKey", i+1)
		}
		key, err := hkdf.Key(sha256.New, k.secret[:], nil, "oid sealed id v1 "+form.name+":"+o.Kind, form.keySize)
		if err != nil {
			return nil, fmt.Errorf("sealed: derive a key: %w", err)
		}
		c, err := form.construct(key)
		if err != nil {
			return nil, fmt.Errorf("sealed: %w", err)
		}
		s.keys = append(s.keys, c)
	}
	return s, nil
}

const prefixCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~"

// Seal returns the sealed id of id as text: the prefix, and the 22, 36 or 38 characters of
// the form.
func (s *Sealer) Seal(id objectid.ID) string {
	return s.prefix + forms[s.form].encode(s.SealBytes(id))
}

// SealBytes returns the sealed id of id as bytes, 16 or 28, without the prefix.
func (s *Sealer) SealBytes(id objectid.ID) []byte { return s.keys[0].seal(id) }

// Open returns the id of which text is the sealed id. It reads what Seal returns and no
// other spelling of it. Every error wraps [ErrNotSealed]: text has another prefix, length or
// alphabet, or none of the keys opens it.
func (s *Sealer) Open(text string) (objectid.ID, error) {
	body, found := strings.CutPrefix(text, s.prefix)
	if !found {
		return objectid.ID{}, fmt.Errorf("%w: it does not begin with %q", ErrNotSealed, s.prefix)
	}
	form := forms[s.form]
	if len(body) != form.textSize {
		return objectid.ID{}, fmt.Errorf("%w: want %d characters, not %d", ErrNotSealed, len(s.prefix)+form.textSize, len(text))
	}
	b, err := form.decode(body)
	// Decoders accept more than one spelling of the same bytes.
	if err != nil || len(b) != form.size || form.encode(b) != body {
		return objectid.ID{}, fmt.Errorf("%w: want %s", ErrNotSealed, form.alphabet)
	}
	return s.OpenBytes(b)
}

// OpenBytes returns the id of which b is the sealed id, as SealBytes returns it. Every error
// wraps [ErrNotSealed].
func (s *Sealer) OpenBytes(b []byte) (objectid.ID, error) {
	if size := forms[s.form].size; len(b) != size {
		return objectid.ID{}, fmt.Errorf("%w: want %d bytes, not %d", ErrNotSealed, size, len(b))
	}
	var id objectid.ID
	opened := 0
	for _, k := range s.keys { // all of them, so that the time does not show which one opens
		candidate, ok := k.open(b)
		subtle.ConstantTimeCopy(ok&^opened, id[:], candidate[:])
		opened |= ok
	}
	if opened == 0 {
		return objectid.ID{}, errForged
	}
	return id, nil
}
