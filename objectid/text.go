package objectid

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Parse reads 24 hexadecimal digits of either case, and nothing else. Every error wraps
// [ErrInvalid] and says what is wrong with s.
func Parse(s string) (id ID, err error) {
	err = id.Set(s)
	return id, err
}

// Valid reports whether [Parse] accepts s.
func Valid(s string) bool {
	var id ID
	return len(s) == hexSize && getHex(&id, (*[hexSize]byte)([]byte(s)))
}

// MustParse is [Parse] for constants: it panics if s is not an id.
func MustParse(s string) ID {
	id, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return id
}

// textError says why s, which is not 24 hexadecimal digits, is not an id.
func textError(s string) error {
	if n := utf8.RuneCountInString(s); n != hexSize {
		return fmt.Errorf("%w: want 24 characters, not %d: %s", ErrInvalid, n, quote(s))
	}
	for i, r := range []rune(s) {
		if !strings.ContainsRune("0123456789abcdefABCDEF", r) {
			return fmt.Errorf("%w: character %d is %q, want a hexadecimal digit: %s", ErrInvalid, i+1, r, quote(s))
		}
	}
	panic("objectid: textError called with a valid id")
}

// quote returns s in double quotes, cut after 64 bytes.
func quote(s string) string {
	const limit = 64
	for i := range s {
		if i >= limit {
			return fmt.Sprintf("%q...", s[:i])
		}
	}
	return strconv.Quote(s)
}

// String returns the 24 lower-case digits of id.
func (id ID) String() string {
	var b [hexSize]byte
	putHex(&b, &id)
	return string(b[:])
}

// AppendText appends the 24 digits to b.
func (id ID) AppendText(b []byte) ([]byte, error) {
	n := len(b)
	b = slices.Grow(b, hexSize)[:n+hexSize]
	putHex((*[hexSize]byte)(b[n:]), &id)
	return b, nil
}

// MarshalText returns the 24 digits.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText reads text as [Parse] does.
func (id *ID) UnmarshalText(text []byte) error {
	if len(text) == hexSize && getHex(id, (*[hexSize]byte)(text)) {
		return nil
	}
	return textError(string(text))
}

// Set reads s as [Parse] does. It makes *ID a [flag.Value].
func (id *ID) Set(s string) error {
	if len(s) == hexSize {
		text := [hexSize]byte([]byte(s))
		if getHex(id, &text) {
			return nil
		}
	}
	return textError(s)
}

// Format writes lower-case digits for %s, %v and %x, upper-case ones for %X, quoted ones
// for %q, and ObjectId("...") for %#v.
func (id ID) Format(f fmt.State, verb rune) {
	switch {
	case verb == 'x' || verb == 'X':
		fmt.Fprintf(f, fmt.FormatString(f, verb), id[:])
	case verb == 'v' && f.Flag('#'):
		fmt.Fprintf(f, `ObjectId("%s")`, id.String())
	case verb == 'v':
		fmt.Fprintf(f, fmt.FormatString(f, 's'), id.String())
	case verb == 's' || verb == 'q':
		fmt.Fprintf(f, fmt.FormatString(f, verb), id.String())
	default:
		fmt.Fprintf(f, "%%!%c(objectid.ID=%s)", verb, id.String())
	}
}
