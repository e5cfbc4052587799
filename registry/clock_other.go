//go:build !linux

package registry

import "time"

// monotonic returns 0: there is no clock that all processes of a boot share, so
// heartbeats are compared by the wall clock.
func monotonic() time.Duration { return 0 }

// findHere knows nothing.
func findHere() here { return here{} }
