package gpid

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// AppendBinary appends the 32 bytes of g to b.
func (g GPID) AppendBinary(b []byte) ([]byte, error) { return append(b, g.b[:]...), nil }

// MarshalBinary returns the 32 bytes of g.
func (g GPID) MarshalBinary() ([]byte, error) { return g.AppendBinary(nil) }

// UnmarshalBinary reads the 32 bytes that [GPID.MarshalBinary] returns; any other bytes are an
// error. 32 zeros are the zero GPID.
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

// MarshalBSONValue returns the text form as a string, or null for the zero GPID, for the
// MongoDB driver v2.
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

// UnmarshalBSONValue reads a string as [Parse] does, or null as the zero GPID, for the MongoDB
// driver v2.
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

// maxText is the length of the longest text form.
const maxText = len("[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535:9999999999999999:4294967295")

// Parse reads exactly what [GPID.String] returns: no spaces, no leading zeros, and IPv6 in
// brackets, in lower case and in its shortest form (RFC 5952). The empty text is an error.
// Every error wraps [ErrInvalid] and says which part is wrong.
func Parse(s string) (GPID, error) {
	if len(s) > maxText {
		return GPID{}, fmt.Errorf("%w: %d characters, want at most %d: it begins %q", ErrInvalid, len(s), maxText, s[:maxText])
	}
	rest, pidText, ok1 := cutLast(s)
	addrText, startText, ok2 := cutLast(rest)
	if !ok1 || !ok2 {
		return GPID{}, fmt.Errorf("%w: %q, want ip:port:start_time:pid", ErrInvalid, s)
	}
	pid, err := decimal(pidText, maxPID)
	if err != nil {
		return GPID{}, fmt.Errorf("%w: pid %w: %q", ErrInvalid, err, s)
	}
	start, err := decimal(startText, maxStart)
	if err != nil {
		return GPID{}, fmt.Errorf("%w: start time %w: %q", ErrInvalid, err, s)
	}
	addr, err := netip.ParseAddrPort(addrText)
	if err != nil {
		return GPID{}, fmt.Errorf("%w: %q: address %q, want ip:port, and IPv6 in brackets", ErrInvalid, s, addrText)
	}
	g, err := New(addr, time.UnixMicro(int64(start)), int(pid))
	if err != nil {
		return GPID{}, fmt.Errorf("%w: %q", err, s)
	}
	if canonical := g.String(); canonical != s {
		return GPID{}, fmt.Errorf("%w: %q, want the form %q", ErrInvalid, s, canonical)
	}
	return g, nil
}

// cutLast cuts s at its last colon.
func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// decimal reads a decimal number from 1 to limit. It accepts leading zeros, which
// [Parse] refuses when it compares with the canonical form.
func decimal(s string, limit uint64) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n < 1 || n > limit {
		return 0, fmt.Errorf("%q, want a number from 1 to %d", s, limit)
	}
	return n, nil
}

// MustParse is [Parse] for constants: it panics if s is not a GPID.
func MustParse(s string) GPID {
	g, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return g
}

// String returns the text form, ip:port:start_time:pid, or "" for the zero GPID.
func (g GPID) String() string {
	b, _ := g.AppendText(make([]byte, 0, maxText))
	return string(b)
}

// AppendText appends what [GPID.String] returns to b.
func (g GPID) AppendText(b []byte) ([]byte, error) {
	if g.IsZero() {
		return b, nil
	}
	b = g.Addr().AppendTo(b)
	b = strconv.AppendInt(append(b, ':'), g.micros(), 10)
	return strconv.AppendInt(append(b, ':'), int64(g.PID()), 10), nil
}

// MarshalText returns what [GPID.String] returns. encoding/json and slog call it.
func (g GPID) MarshalText() ([]byte, error) { return g.AppendText(nil) }

// UnmarshalText reads text as [Parse] does. An empty text is the zero GPID.
func (g *GPID) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*g = GPID{}
		return nil
	}
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*g = parsed
	return nil
}
