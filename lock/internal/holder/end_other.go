//go:build !linux

package holder

import (
	"context"
	"errors"

	"github.com/oidkit/oid/gpid"
)

// On other systems than Linux gpid.Process.Alive fails, so that nobody calls
// these.

func awaitEnd(context.Context, gpid.Process) error { return errors.ErrUnsupported }

func awaitGroup(context.Context, int) error { return errors.ErrUnsupported }

func groupEnded(int) bool { return false }
