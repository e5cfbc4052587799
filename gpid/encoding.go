package gpid

import (
	"encoding/binary"
	"fmt"
	"time"
)

// AppendBinary appends the 32 bytes of g to b. It implements
// [encoding.BinaryAppender]; the error is always nil.
func (g GPID) AppendBinary(b []byte) ([]byte, error) { return append(b, g.b[:]...), nil }

// MarshalBinary returns the 32 bytes of g. It implements
// [encoding.BinaryMarshaler]; the error is always nil.
func (g GPID) MarshalBinary() ([]byte, error) { return g.AppendBinary(nil) }

// UnmarshalBinary reads the 32 bytes that [GPID.MarshalBinary] writes. 32 zeros
// set the zero GPID. Other lengths, and bytes that [New] does not produce,
// are refused with an error that wraps [ErrInvalid], and g is then left unchanged.
func (g *GPID) UnmarshalBinary(data []byte) error {
	if len(data) != Size {
		return fmt.Errorf("%w: %d bytes, want %d", ErrInvalid, len(data), Size)
	}
	read := GPID{b: [Size]byte(data)}
	if read.IsZero() {
		*g = read
		return nil
	}
	start := binary.BigEndian.Uint64(data[18:])
	if start > maxStart {
		return fmt.Errorf("%w: start time of %d microseconds, want 16 digits", ErrInvalid, start)
	}
	made, err := New(read.Addr(), time.UnixMicro(int64(start)), read.PID())
	if err != nil {
		return err
	}
	if made != read { // the two bytes above the pid
		return fmt.Errorf("%w: pid of more than 32 bits", ErrInvalid)
	}
	*g = made
	return nil
}

// Types of BSON values, from the BSON specification, version 1.1.
const (
	bsonString = 0x02
	bsonNull   = 0x0A
)

// MarshalBSONValue returns the text form as a BSON string, or the BSON type null
// for the zero GPID. It implements the interface bson.ValueMarshaler of the
// MongoDB driver v2; the error is always nil.
func (g GPID) MarshalBSONValue() (typ byte, data []byte, err error) {
	if g.IsZero() {
		return bsonNull, nil, nil
	}
	data = make([]byte, 4, 4+maxText+1)
	data, _ = g.AppendText(data)
	data = append(data, 0)
	binary.LittleEndian.PutUint32(data, uint32(len(data)-4))
	return bsonString, data, nil
}

// UnmarshalBSONValue reads a BSON string that [Parse] accepts, or null, which
// sets the zero GPID. It implements the interface bson.ValueUnmarshaler of the
// MongoDB driver v2. On an error, which wraps [ErrInvalid], g is left unchanged.
func (g *GPID) UnmarshalBSONValue(typ byte, data []byte) error {
	switch {
	case typ == bsonNull && len(data) == 0:
		*g = GPID{}
		return nil
	case typ != bsonString:
		return fmt.Errorf("%w: BSON type 0x%02X, want 0x02 (string) or 0x0A (null)", ErrInvalid, typ)
	case len(data) < 5 || int64(binary.LittleEndian.Uint32(data)) != int64(len(data)-4) || data[len(data)-1] != 0:
		return fmt.Errorf("%w: BSON string of %d bytes with a wrong length or end", ErrInvalid, len(data))
	}
	parsed, err := Parse(string(data[4 : len(data)-1]))
	if err != nil {
		return err
	}
	*g = parsed
	return nil
}
