//go:build !linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// Serve returns an error that wraps [errors.ErrUnsupported]: an agent needs Linux.
func Serve(context.Context, *net.UnixListener, *Options) error {
	return fmt.Errorf("agent: needs Linux: %w", errors.ErrUnsupported)
}
