package objectid

import "fmt"

// Types of BSON values, from the BSON specification, version 1.1.
const (
	bsonObjectID = 0x07
	bsonNull     = 0x0A
)

// MarshalBSONValue returns the BSON type ObjectId with the 12 raw bytes of id,
// or the BSON type null for the zero ID. It implements the interface
// bson.ValueMarshaler of the MongoDB driver v2; the error is always nil. A
// struct field with the BSON option omitempty is left out when it is zero,
// which is what lets the server or the driver add a missing _id.
func (id ID) MarshalBSONValue() (typ byte, data []byte, err error) {
	if id.IsZero() {
		return bsonNull, nil, nil
	}
	return bsonObjectID, id[:], nil
}

// UnmarshalBSONValue reads a BSON ObjectId, or null, which sets the zero ID. It
// implements the interface bson.ValueUnmarshaler of the MongoDB driver v2. A
// value of another BSON type is refused whatever its length, with an error that
// wraps [ErrInvalid], and id is then left as it was.
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
