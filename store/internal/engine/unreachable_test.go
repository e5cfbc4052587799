package engine_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/oidkit/oid/store/internal/engine"
)

// TestUnreachable: the text has each cause once, without what the layers above said.
func TestUnreachable(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	unknown := &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "db", IsNotFound: true}}
	for want, err := range map[string]error{
		"connection refused":               fmt.Errorf("driver: %w", refused),
		"connection refused; no such host": errors.Join(refused, fmt.Errorf("driver: %w", refused), unknown),
		"no answer in time":                &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded},
		"it closes the connection":         errors.Join(io.EOF, io.ErrUnexpectedEOF),
		"the server refused TLS":           fmt.Errorf("driver: %w", errors.New("the server refused TLS")),
	} {
		got := engine.Unreachable("X", "h:1", err)
		if text := "X at h:1 does not answer (" + want + "); see that it runs and that the URL names its host and port"; got.Error() != text || !errors.Is(got, err) {
			t.Errorf("got  %v\nwant %s", got, text)
		}
	}
}
