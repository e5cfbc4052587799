//go:build !linux

package registry

import "time"

// monotonic returns 0: no clock here is common to all processes of a boot, so
// heartbeats are compared by the wall clock.
func monotonic() time.Duration { return 0 }

// findHere returns the zero here: nothing is known.
func findHere() here { return here{} }
