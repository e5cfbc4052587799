package gpid

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"time"
)

// selfStart is the start time of this process: this package is initialised before
// main runs. It is read once, so that every GPID of this process has the same start
// time, also after a clock step. The start time in /proc is not used, because it is
// in units of 10 ms, within which one process can end and another start.
var selfStart = time.Now()

// Self returns the GPID of this process. addr is the ip:port that peers dial, with IPv6 in
// brackets. For the same addr Self always returns the same GPID.
//
// If the ip is missing or unspecified, as in ":8080" or "[::]:8080", Self replaces it by the
// first address of this host that is neither loopback nor link-local, or by 127.0.0.1 if there
// is none. If addr is empty, Self uses the same host address, with port 0.
//
// The error wraps [ErrInvalid] if addr is not an ip:port, for example a host name, or if the
// clock was before 2001-09-09 when the process started.
func Self(addr string) (GPID, error) {
	a, err := ParseAddr(addr)
	if err != nil {
		return GPID{}, err
	}
	return New(a, selfStart, os.Getpid())
}

// ParseAddr reads an address as [Self] does, and replaces a missing or unspecified ip. The
// error wraps [ErrInvalid].
func ParseAddr(addr string) (netip.AddrPort, error) {
	text := addr
	switch {
	case addr == "":
		text = "0.0.0.0:0"
	case strings.HasPrefix(addr, ":"):
		text = "0.0.0.0" + addr
	}
	a, err := netip.ParseAddrPort(text)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%w: address %q, want ip:port, and IPv6 in brackets", ErrInvalid, addr)
	}
	if a.Addr().IsUnspecified() {
		return netip.AddrPortFrom(hostAddr(), a.Port()), nil
	}
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()), nil
}

// hostAddr returns the first address of this host that is neither loopback nor
// link-local, IPv4 before IPv6, or 127.0.0.1.
func hostAddr() netip.Addr {
	found := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	for _, i := range interfaceAddrs() {
		prefix, err := netip.ParsePrefix(i.String())
		if err != nil {
			continue
		}
		switch ip := prefix.Addr().Unmap(); {
		case !ip.IsGlobalUnicast():
		case ip.Is4():
			return ip
		case found.Is4():
			found = ip
		}
	}
	return found
}
