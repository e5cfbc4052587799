package gpid

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// maxText is the length of the longest text form.
const maxText = len("[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535:9999999999999999:4294967295")

// Parse reads the text form that [GPID.String] writes and nothing else: no
// spaces, no leading zeros, and an IPv6 address in brackets, in its shortest form
// and in lower case (RFC 5952). Every error wraps [ErrInvalid] and says which part
// is wrong.
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
		return GPID{}, fmt.Errorf("%w: address %q, want ip:port, and IPv6 in brackets: %q", ErrInvalid, addrText, s)
	}
	g, err := New(addr, time.UnixMicro(int64(start)), int(pid))
	if err != nil {
		return GPID{}, fmt.Errorf("%w: %q", err, s)
	}
	if canonical := g.String(); canonical != s {
		return GPID{}, fmt.Errorf("%w: %q, want it written %q", ErrInvalid, s, canonical)
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

// MustParse is like [Parse] but panics if s is not a GPID. It is meant for
// constants in source code.
func MustParse(s string) GPID {
	g, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return g
}

// String returns the text form, ip:port:start_time:pid, or the empty string for
// the zero GPID.
func (g GPID) String() string {
	b, _ := g.AppendText(make([]byte, 0, maxText))
	return string(b)
}

// AppendText appends what [GPID.String] returns to b. It implements
// [encoding.TextAppender]; the error is always nil.
func (g GPID) AppendText(b []byte) ([]byte, error) {
	if g.IsZero() {
		return b, nil
	}
	b = g.Addr().AppendTo(b)
	b = strconv.AppendInt(append(b, ':'), g.micros(), 10)
	return strconv.AppendInt(append(b, ':'), int64(g.PID()), 10), nil
}

// MarshalText returns what [GPID.String] returns. It implements
// [encoding.TextMarshaler], which encoding/json, slog and flag use; the error is
// always nil.
func (g GPID) MarshalText() ([]byte, error) { return g.AppendText(nil) }

// UnmarshalText reads text as [Parse] does. An empty text, the text form of the
// zero GPID, sets the zero GPID. On an error g is left unchanged.
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
