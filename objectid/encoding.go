package objectid

import (
	"database/sql/driver"
	"fmt"
	"log/slog"
)

// FromBytes returns the ID whose 12 raw bytes are b. The error, for any other
// length, wraps [ErrInvalid].
func FromBytes(b []byte) (ID, error) {
	if len(b) != Size {
		return ID{}, fmt.Errorf("%w: %d bytes, want 12", ErrInvalid, len(b))
	}
	return ID(b), nil
}

// Bytes returns a copy of the 12 raw bytes of id.
func (id ID) Bytes() []byte { return append([]byte(nil), id[:]...) }

// AppendBinary appends the 12 raw bytes of id to b. It implements
// [encoding.BinaryAppender]; the error is always nil.
func (id ID) AppendBinary(b []byte) ([]byte, error) { return append(b, id[:]...), nil }

// MarshalBinary returns the 12 raw bytes of id. It implements
// [encoding.BinaryMarshaler]; the error is always nil.
func (id ID) MarshalBinary() ([]byte, error) { return id.AppendBinary(nil) }

// UnmarshalBinary reads 12 raw bytes. It refuses every other length, including
// the 24 digits of the text form, and then leaves id unchanged.
func (id *ID) UnmarshalBinary(data []byte) error {
	read, err := FromBytes(data)
	if err != nil {
		return err
	}
	*id = read
	return nil
}

// Types of BSON values, from the BSON specification, version 1.1.
const (
	bsonObjectID = 0x07
	bsonNull     = 0x0A
)

// MarshalBSONValue returns the BSON type ObjectId with the 12 raw bytes of id,
// or the BSON type null for the zero ID. It implements the interface
// bson.ValueMarshaler of the MongoDB driver v2; the error is always nil. A
// struct field with the BSON option omitempty is left out when it is zero, so
// that the server or the driver adds a missing _id.
func (id ID) MarshalBSONValue() (typ byte, data []byte, err error) {
	if id.IsZero() {
		return bsonNull, nil, nil
	}
	return bsonObjectID, id[:], nil
}

// UnmarshalBSONValue reads a BSON ObjectId, or null, which sets the zero ID. It
// implements the interface bson.ValueUnmarshaler of the MongoDB driver v2. A
// value of another BSON type is refused whatever its length, with an error that
// wraps [ErrInvalid], and id is then left unchanged.
func (id *ID) UnmarshalBSONValue(typ byte, data []byte) error {
	switch {
	case typ == bsonObjectID:
		return id.UnmarshalBinary(data)
	case typ == bsonNull && len(data) == 0:
		*id = ID{}
		return nil
	case typ == bsonNull:
		return fmt.Errorf("%w: BSON null with %d bytes of data", ErrInvalid, len(data))
	default:
		return fmt.Errorf("%w: BSON type 0x%02X, want 0x07 (ObjectId) or 0x0A (null)", ErrInvalid, typ)
	}
}

// Value returns the 12 raw bytes of id, for a column of binary type (BLOB,
// BYTEA, BINARY(12)), or nil, which is NULL, for the zero ID. It implements
// [driver.Valuer]; the error is always nil. Use [Hex] for text columns.
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
// [ErrInvalid]; id is then left unchanged.
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
// that it contains only in what Value returns. Both scan both kinds of columns.
type Hex struct{ ID }

// Value returns the 24 digits as a string, or nil, which is NULL, for the zero
// ID. It implements [driver.Valuer]; the error is always nil.
func (h Hex) Value() (driver.Value, error) {
	if h.IsZero() {
		return nil, nil
	}
	return h.String(), nil
}

// LogValue returns the 24 digits as a string, or nil for the zero ID. It
// implements [slog.LogValuer]. A nil *ID has no value to log: slog writes that the
// method panicked.
func (id ID) LogValue() slog.Value {
	if id.IsZero() {
		return slog.AnyValue(nil)
	}
	return slog.StringValue(id.String())
}
