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

// ErrInvalid is wrapped by every error of [New], [Parse], [Self] and [ParseAddr], and by every
// error of decoding a [GPID].
var ErrInvalid = errors.New("gpid: invalid gpid")

// GPID identifies one run of one process. Its binary form, big-endian and unsigned:
//
//	 0              15 16 17 18          25 26      31
//	+-----------------+-----+--------------+----------+
//	|     address     | port| start time   |   pid    |
//	+-----------------+-----+--------------+----------+
//
// The address is an IPv6 address, or an IPv4 address mapped to IPv6. The start time is the
// number of microseconds since 1970 in UTC. It is at least 1e15 and less than 1e16, so it
// always has 16 digits in the text form.
//
// The zero GPID means "no process". Compare GPIDs with ==, use them as map keys, share
// them between goroutines. Encoding never fails. A decoding error wraps [ErrInvalid] and
// leaves the GPID unchanged.
type GPID struct{ b [Size]byte }

const (
	minStart = 1_000_000_000_000_000 // 2001-09-09T01:46:40Z
	maxStart = 9_999_999_999_999_999 // 2286-11-20T17:46:39.999999Z
	maxPID   = 1<<32 - 1
)

// New returns the GPID of a process. addr is the address that peers dial, with port 0 if the
// process does not listen. It must not have a zone, because other hosts could not dial it.
// start is when the process started, from 2001-09-09 to 2286-11-20. New rounds it down to
// microseconds. pid must be from 1 to 2^32-1. If an argument is not allowed, the error wraps
// [ErrInvalid].
func New(addr netip.AddrPort, start time.Time, pid int) (GPID, error) {
	micros := start.UnixMicro()
	switch {
	case !addr.IsValid():
		return GPID{}, fmt.Errorf("%w: the address is missing", ErrInvalid)
	case addr.Addr().Zone() != "":
		return GPID{}, fmt.Errorf("%w: address %s has a zone, which other hosts cannot dial", ErrInvalid, addr.Addr())
	case micros < minStart || micros > maxStart:
		return GPID{}, fmt.Errorf("%w: start time %s, want 2001-09-09 to 2286-11-20, 16 digits of microseconds",
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

// Compare returns -1 if g sorts before other, 0 if they are equal, and +1 if g sorts after
// other. GPIDs sort by ip, then by port, start time and pid. Their texts do not sort in this
// order.
func (g GPID) Compare(other GPID) int { return bytes.Compare(g.b[:], other.b[:]) }
