package objectid

import (
	"database/sql/driver"
	"fmt"
)

// Value returns the 12 raw bytes of id, for a column of binary type (BLOB,
// BYTEA, BINARY(12)), or nil, which is NULL, for the zero ID. It implements
// [driver.Valuer]; the error is always nil. [Hex] is for text columns.
func (id ID) Value() (driver.Value, error) {
	if id.IsZero() {
		return nil, nil
	}
	return id.MarshalBinary()
}

// Scan reads a column: 12 raw bytes, 24 hexadecimal digits as a string or as
// bytes, or NULL, which sets the zero ID. It implements
// [database/sql.Scanner]. A string of 12 characters is text and not raw bytes,
// so it is refused like every other length and type, with an error that wraps
// [ErrInvalid]; id is then left as it was.
func (id *ID) Scan(src any) error {
	switch src := src.(type) {
	case nil:
		*id = ID{}
		return nil
	case string:
		return id.Set(src)
	case []byte:
		switch len(src) {
		case Size:
			return id.UnmarshalBinary(src)
		case hexSize:
			return id.UnmarshalText(src)
		}
		return fmt.Errorf("%w: column of %d bytes, want 12 raw bytes or 24 digits", ErrInvalid, len(src))
	default:
		return fmt.Errorf("%w: column of type %T, want 12 raw bytes or 24 digits", ErrInvalid, src)
	}
}

// Hex is an [ID] for a text column (TEXT, CHAR(24)): it differs from the ID
// that it holds only in what Value returns. Both scan both kinds of columns.
type Hex struct{ ID }

// Value returns the 24 digits as a string, or nil, which is NULL, for the zero
// ID. It implements [driver.Valuer]; the error is always nil.
func (h Hex) Value() (driver.Value, error) {
	if h.IsZero() {
		return nil, nil
	}
	return h.String(), nil
}
