package objectid

import "fmt"

// FromBytes returns the ID whose 12 raw bytes b holds. The error, for any
// other length, wraps [ErrInvalid].
func FromBytes(b []byte) (ID, error) {
	if len(b) != Size {
		return ID{}, fmt.Errorf("%w: %d bytes, want 12", ErrInvalid, len(b))
	}
	return ID(b), nil
}

// AppendBinary appends the 12 raw bytes of id to b. It implements
// [encoding.BinaryAppender]; the error is always nil.
func (id ID) AppendBinary(b []byte) ([]byte, error) { return append(b, id[:]...), nil }

// MarshalBinary returns the 12 raw bytes of id. It implements
// [encoding.BinaryMarshaler]; the error is always nil.
func (id ID) MarshalBinary() ([]byte, error) { return id.AppendBinary(nil) }

// UnmarshalBinary reads 12 raw bytes. It refuses every other length, the 24
// digits of the text form among them, and then leaves id as it was.
func (id *ID) UnmarshalBinary(data []byte) error {
	read, err := FromBytes(data)
	if err != nil {
		return err
	}
	*id = read
	return nil
}
