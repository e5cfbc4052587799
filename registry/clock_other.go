//go:build !linux

package registry

import "time"

// monotonic returns 0: no clock here is common to all processes of a boot, so
// heartbeats are compared by the wall clock.
func monotonic() time.Duration { return 0 }
