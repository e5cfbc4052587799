package causes_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/oidkit/oid/internal/causes"
)

// What is said has each cause once, without what the layers above said.
func TestOf(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	unknown := &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "db", IsNotFound: true}}
	for want, err := range map[string]error{
		"connection refused":               fmt.Errorf("driver: %w", refused),
		"connection refused; no such host": errors.Join(refused, fmt.Errorf("driver: %w", refused), unknown),
		"no answer in time":                errors.Join(&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, context.DeadlineExceeded),
		"the connection was closed":        errors.Join(io.EOF, io.ErrUnexpectedEOF),
		"the server refused TLS":           fmt.Errorf("driver: %w", errors.New("the server refused TLS")),
	} {
		if got := causes.Of(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
