package gpid

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Size is the length of the binary form of a GPID in bytes.
const Size = 32

// ErrInvalid is wrapped by every error of [New], [Parse] and of the decoding methods of
// [GPID].
var ErrInvalid = errors.New("gpid: invalid gpid")

// GPID identifies one run of one process. Its binary form, big-endian and unsigned:
//
//	 0              15 16 17 18          25 26      31
//	+-----------------+-----+--------------+----------+
//	|     address     | port| start time   |   pid    |
//	+-----------------+-----+--------------+----------+
//
// The address is IPv6, or an IPv4 address mapped into IPv6. The start time is microseconds
// since 1970 in UTC, with 16 decimal digits.
//
// The zero GPID means "no process". Compare GPIDs with ==, use them as map keys, share
// them between goroutines. Encoding never fails. An error of decoding wraps [ErrInvalid]
// and leaves the GPID unchanged.
type GPID struct{ b [Size]byte }

const (
	minStart = 1_000_000_000_000_000 // 2001-09-09T01:46:40Z
	maxStart = 9_999_999_999_999_999 // 2286-11-20T17:46:39.999999Z
	maxPID   = 1<<32 - 1
)

// New returns the GPID of the process with the given pid, which started at start and which
// peers dial at addr, or with port 0 if it does not listen. start is rounded down to
// microseconds, and must be from 2001-09-09 to 2286-11-20. pid must be from 1 to 2^32-1.
// An address with a zone is refused: no other host can dial it.
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

// IsZero reports whether g is the zero GPID. The options omitzero of encoding/json and
// omitempty of BSON call it.
func (g GPID) IsZero() bool { return g == GPID{} }

// Addr returns the address that peers dial, with port 0 if the process does not listen.
// For the zero GPID it is the zero AddrPort.
func (g GPID) Addr() netip.AddrPort {
	if g.IsZero() {
		return netip.AddrPort{}
	}
	ip := netip.AddrFrom16([16]byte(g.b[:16])).Unmap()
	return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(g.b[16:]))
}

// Start returns the start time, in UTC and whole microseconds. For the zero GPID it is the
// zero Time.
func (g GPID) Start() time.Time {
	if g.IsZero() {
		return time.Time{}
	}
	return time.UnixMicro(g.micros()).UTC()
}

func (g GPID) micros() int64 { return int64(binary.BigEndian.Uint64(g.b[18:])) }

// PID returns the process id, or 0 for the zero GPID.
func (g GPID) PID() int { return int(binary.BigEndian.Uint32(g.b[28:])) }

// Compare returns -1, 0 or +1 as g sorts before other, is equal to it or sorts after it.
// The runs at one address are adjacent, in the order of their start times. Text forms have
// another order.
func (g GPID) Compare(other GPID) int { return bytes.Compare(g.b[:], other.b[:]) }
