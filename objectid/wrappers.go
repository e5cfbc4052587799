package objectid

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Optional is an [ID] that also reads empty text as the zero ID: the JSON string "",
// which the MongoDB driver's ObjectID reads like that, an empty field of a form or
// parameter of a URL, an empty column. It writes what the ID writes: null for the zero
// ID, and 24 zeros as text.
type Optional struct{ ID }

// UnmarshalJSON reads "" as the zero ID, and all else as [ID.UnmarshalJSON] does.
func (o *Optional) UnmarshalJSON(data []byte) error {
	if string(bytes.TrimSpace(data)) == `""` {
		o.ID = ID{}
		return nil
	}
	return o.ID.UnmarshalJSON(data)
}

// UnmarshalText reads empty text as the zero ID, and all else as [Parse] does.
func (o *Optional) UnmarshalText(text []byte) error { return o.Set(string(text)) }

// Set reads an empty s as the zero ID, and all else as [Parse] does.
func (o *Optional) Set(s string) error {
	if s == "" {
		o.ID = ID{}
		return nil
	}
	return o.ID.Set(s)
}

// Scan reads an empty column as the zero ID, and all else as [ID.Scan] does.
func (o *Optional) Scan(src any) error {
	switch src := src.(type) {
	case string:
		return o.Set(src)
	case []byte:
		if len(src) == 0 {
			o.ID = ID{}
			return nil
		}
	}
	return o.ID.Scan(src)
}

// BSONString is an [ID] that is kept in BSON as a string of 24 digits, as programs do
// that store ids of other collections as text. It reads ObjectIds as well.
type BSONString struct{ ID }

const bsonString = 0x02

// MarshalBSONValue returns the BSON type string with the 24 digits, or null for the
// zero ID. It implements the interface bson.ValueMarshaler of the MongoDB driver v2;
// the error is always nil.
func (s BSONString) MarshalBSONValue() (typ byte, data []byte, err error) {
	if s.IsZero() {
		return bsonNull, nil, nil
	}
	data = binary.LittleEndian.AppendUint32(nil, hexSize+1)
	data, _ = s.AppendText(data)
	return bsonString, append(data, 0), nil
}

// UnmarshalBSONValue reads a BSON string of 24 digits, an ObjectId, or null, which sets
// the zero ID. Every other value is refused with an error that wraps [ErrInvalid], and
// s is then unchanged.
func (s *BSONString) UnmarshalBSONValue(typ byte, data []byte) error {
	if typ != bsonString {
		return s.ID.UnmarshalBSONValue(typ, data)
	}
	if n := len(data); n < 5 || binary.LittleEndian.Uint32(data) != uint32(n-4) || data[n-1] != 0 {
		return fmt.Errorf("%w: BSON string of %d bytes whose length is wrong", ErrInvalid, n)
	}
	return s.Set(string(data[4 : len(data)-1]))
}
