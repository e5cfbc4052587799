package registry

import (
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// monotonic returns the time since boot, without the time for which the host was suspended.
// All processes of a boot share this clock. It returns 0 if the clock is not known, or if
// this process is in a time namespace with another one.
func monotonic() time.Duration {
	var t unix.Timespec
	if ownClock() || unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// ownClock reports whether this process may be in a time namespace with clocks of its own,
// see time_namespaces(7). That cannot change while it runs.
var ownClock = sync.OnceValue(func() bool {
	text, err := os.ReadFile("/proc/self/timens_offsets")
	if os.IsNotExist(err) {
		return false // a kernel without time namespaces
	}
	return err != nil || shifted(string(text))
})

// shifted reports whether one of the offsets is not 0.
func shifted(offsets string) bool { return strings.ContainsAny(offsets, "123456789") }
