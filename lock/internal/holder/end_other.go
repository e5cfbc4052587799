//go:build !linux

package holder

import (
	"context"
	"errors"

	"github.com/oidkit/oid/gpid"
)

// gpid.Process.Alive fails on systems other than Linux, so nobody calls these functions.

func awaitEnd(context.Context, gpid.Process) error { return errors.ErrUnsupported }

func awaitGroup(context.Context, int) error { return errors.ErrUnsupported }

func groupEnded(int) bool { return false }
