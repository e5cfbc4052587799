package registry

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// monotonic returns the time since boot without the time that the host was
// suspended, or 0 if it is not known. All processes of a boot have the same clock:
// the offset of a time namespace is subtracted.
func monotonic() time.Duration {
	var t unix.Timespec
	offset, err := namespaceOffset()
	if err != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano()) - offset
}

// namespaceOffset reads the offset of the time namespace, see time_namespaces(7). It
// cannot change while the process runs.
var namespaceOffset = sync.OnceValues(func() (time.Duration, error) {
	text, err := os.ReadFile("/proc/self/timens_offsets")
	if os.IsNotExist(err) {
		return 0, nil // a kernel without time namespaces
	}
	if err != nil {
		return 0, err
	}
	return parseOffset(string(text))
})

func parseOffset(text string) (time.Duration, error) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != "monotonic" {
			continue
		}
		seconds, err1 := strconv.ParseInt(f[1], 10, 32)
		nanos, err2 := strconv.ParseInt(f[2], 10, 32)
		if err1 == nil && err2 == nil {
			return time.Duration(seconds)*time.Second + time.Duration(nanos), nil
		}
	}
	return 0, fmt.Errorf("registry: read time namespace: no offset of the monotonic clock in %q", text)
}
