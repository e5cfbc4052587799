package objectid

import (
	"fmt"
	"log/slog"
)

// FromBytes returns the ID of the 12 raw bytes b. For another length the error wraps
// [ErrInvalid].
func FromBytes(b []byte) (ID, error) {
	if len(b) != Size {
		return ID{}, fmt.Errorf("%w: %d bytes, want 12", ErrInvalid, len(b))
	}
	return ID(b), nil
}

// Bytes returns a copy of the raw bytes.
func (id ID) Bytes() []byte { return append([]byte(nil), id[:]...) }

// AppendBinary appends the raw bytes to b.
func (id ID) AppendBinary(b []byte) ([]byte, error) { return append(b, id[:]...), nil }

// MarshalBinary returns the raw bytes.
func (id ID) MarshalBinary() ([]byte, error) { return id.AppendBinary(nil) }

// UnmarshalBinary reads 12 raw bytes, not digits.
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

// MarshalBSONValue returns a BSON ObjectId, or null for the zero ID, for the MongoDB driver
// v2.
func (id ID) MarshalBSONValue() (typ byte, data []byte, err error) {
	if id.IsZero() {
		return bsonNull, nil, nil
	}
	return bsonObjectID, id[:], nil
}

// UnmarshalBSONValue reads a BSON ObjectId, or null as the zero ID.
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

// LogValue returns the digits, or nil for the zero ID. For a nil *ID log/slog writes
// "LogValue panicked".
func (id ID) LogValue() slog.Value {
	// A method of *ID would mend that. But then an ID itself has none, and OpenTelemetry's
	// handler writes it as twelve numbers.
	if id.IsZero() {
		return slog.AnyValue(nil)
	}
	return slog.StringValue(id.String())
}
