package objectid

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"unicode"
)

// Value returns the raw bytes for a binary column, or NULL for the zero ID. Use [Hex] for
// text columns.
func (id ID) Value() (driver.Value, error) {
	if id.IsZero() {
		return nil, nil
	}
	return id.MarshalBinary()
}

// Scan reads 12 raw bytes in a []byte, or 24 digits in a []byte or string. NULL gives the zero
// ID. A string of 12 characters is an error.
//
// Drivers of MySQL hand over text as a []byte, too, so 12 bytes that read as words, numbers or
// codes are an error. Of real ids fewer than one in 50 million reads so: scan a []byte, and
// call [FromBytes]. Other texts, such as tokens in mixed case, become ids. [Hex] refuses them all.
func (id *ID) Scan(src any) error {
	switch src := src.(type) {
	case nil:
		*id = ID{}
		return nil
	case string:
		return id.Set(src)
	case []byte:
		switch {
		case len(src) == hexSize:
			return id.UnmarshalText(src)
		case len(src) == Size && isText(src):
			return fmt.Errorf("%w: the 12 bytes of the column are the text %q, want raw bytes; if it is an id, scan a []byte and call FromBytes", ErrInvalid, src)
		case len(src) == Size:
			return id.UnmarshalBinary(src)
		}
		return fmt.Errorf("%w: column of %d bytes, want 12 raw bytes or 24 digits", ErrInvalid, len(src))
	default:
		return fmt.Errorf("%w: column of type %T, want 12 raw bytes or 24 digits", ErrInvalid, src)
	}
}

// isText reports whether b, the 12 bytes of a column, are text rather than an id. Text is
// either of these:
//
//   - letters, ASCII digits, and " '-._". Letters of Latin-1 and others do not occur together.
//     All letters are in one case, or only letters that follow no other are capitals.
//   - ASCII characters that are neither letters nor control characters
//
// About 40 of the 256 values of a byte fit at each place of a text. So of ids with random bytes
// very few are text. Each further sign that is allowed between letters makes a third more of them text.
func isText(b []byte) bool {
	var latin, small, other, inner, sign bool
	wasLetter := false
	for _, r := range string(b) {
		isLetter := unicode.IsLetter(r)
		switch {
		case isLetter && r > unicode.MaxLatin1:
			other = true
		case isLetter && unicode.IsUpper(r):
			latin, inner = true, inner || wasLetter
		case isLetter:
			latin, small = true, true
		case r < ' ' || r > '~': // a control character, a sign outside ASCII, or bytes that are not UTF-8
			return false
		case !unicode.IsDigit(r) && !strings.ContainsRune(" '-._", r):
			sign = true
		}
		wasLetter = isLetter
	}
	return !(latin && other) && !(small && inner) && !(sign && (latin || other))
}

// Hex is an [ID] that SQL stores as text.
type Hex struct{ ID }

// Value returns the digits, or NULL for the zero ID.
func (h Hex) Value() (driver.Value, error) {
	if h.IsZero() {
		return nil, nil
	}
	return h.String(), nil
}

// Scan reads 24 digits in a []byte or string. NULL gives the zero ID. 12 raw bytes are an
// error: use [ID] for binary columns.
func (h *Hex) Scan(src any) error {
	if text, ok := src.([]byte); ok {
		if len(text) == Size {
			return fmt.Errorf("%w: column of 12 bytes %q, want 24 digits; use ID for a binary column", ErrInvalid, text)
		}
		return h.UnmarshalText(text)
	}
	return h.ID.Scan(src)
}
