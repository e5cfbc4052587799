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
// set the zero GPID. Other lengths, and bytes that [New] would not have written,
// are refused with an error that wraps [ErrInvalid], and g is then left as it was.
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
