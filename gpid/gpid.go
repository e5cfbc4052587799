package gpid

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Size is the length of a GPID's binary form in bytes.
const Size = 32

// ErrInvalid is wrapped by every error that [New], [Parse] and the decoding
// methods of [GPID] return.
var ErrInvalid = errors.New("gpid: invalid gpid")

// GPID is the identity of one run of one process. Its binary form:
//
//	 0              15 16 17 18          25 26      31
//	+-----------------+-----+--------------+----------+
//	|     address     | port| start time   |   pid    |
//	+-----------------+-----+--------------+----------+
//
// All fields are big-endian and unsigned. An IPv4 address is written as the
// IPv6 address that it maps to (::ffff:a.b.c.d). The start time is in
// microseconds since 1970 in UTC and has 16 decimal digits.
//
// The zero GPID means "no process", see [GPID.IsZero]. A GPID is a plain value:
// it can be compared with ==, used as a map key, and shared by any number of
// goroutines.
type GPID struct{ b [Size]byte }

const (
	minStart = 1_000_000_000_000_000 // 2001-09-09T01:46:40Z
	maxStart = 9_999_999_999_999_999 // 2286-11-20T17:46:39.999999Z
	maxPID   = 1<<32 - 1
)

// New returns the GPID of the process with the given pid, which started at start
// and which peers dial at addr; port 0 means that it does not listen.
// start is rounded down to microseconds and must be between 2001-09-09 and
// 2286-11-20, where it has 16 digits. pid must be between 1 and 2^32-1. An
// address with a zone is refused, because a zone is valid on one host only; an
// IPv4 address mapped into IPv6 counts as the IPv4 address.
func New(addr netip.AddrPort, start time.Time, pid int) (GPID, error) {
	micros := start.UnixMicro()
	switch {
	case !addr.IsValid():
		return GPID{}, fmt.Errorf("%w: no address", ErrInvalid)
	case addr.Addr().Zone() != "":
		return GPID{}, fmt.Errorf("%w: address %s has a zone, which other hosts cannot dial", ErrInvalid, addr.Addr())
	case micros < minStart || micros > maxStart:
		return GPID{}, fmt.Errorf("%w: start time %s has no 16 digits of microseconds, want 2001-09-09 to 2286-11-20",
			ErrInvalid, start.UTC().Format(time.RFC3339))
	case pid < 1 || int64(pid) > maxPID:
		return GPID{}, fmt.Errorf("%w: pid %d, want 1 to %d", ErrInvalid, pid, int64(maxPID))
	}
	var g GPID
	ip := addr.Addr().As16()
	copy(g.b[:], ip[:])
	binary.BigEndian.PutUint16(g.b[16:], addr.Port())
	binary.BigEndian.PutUint64(g.b[18:], uint64(micros))
	binary.BigEndian.PutUint32(g.b[28:], uint32(pid))
	return g, nil
}

// IsZero reports whether g is the zero GPID, which means "no process". The
// options omitzero of encoding/json and omitempty of BSON call it.
func (g GPID) IsZero() bool { return g == GPID{} }

// Addr returns the address that peers dial; its port is 0 if the process
// does not listen. For the zero GPID it is the zero AddrPort.
func (g GPID) Addr() netip.AddrPort {
	if g.IsZero() {
		return netip.AddrPort{}
	}
	ip := netip.AddrFrom16([16]byte(g.b[:16])).Unmap()
	return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(g.b[16:]))
}

// Start returns the start time, in UTC and whole microseconds. For the zero GPID
// it is the zero Time.
func (g GPID) Start() time.Time {
	if g.IsZero() {
		return time.Time{}
	}
	return time.UnixMicro(g.micros()).UTC()
}

func (g GPID) micros() int64 { return int64(binary.BigEndian.Uint64(g.b[18:])) }

// PID returns the process id, or 0 for the zero GPID.
func (g GPID) PID() int { return int(binary.BigEndian.Uint32(g.b[28:])) }

// Compare returns -1 if g sorts before other, 0 if they are equal and +1 if it
// sorts after it. The order is that of the binary forms: the runs at one address
// are adjacent, ordered by start time. It is not the order of the text forms.
func (g GPID) Compare(other GPID) int { return bytes.Compare(g.b[:], other.b[:]) }
