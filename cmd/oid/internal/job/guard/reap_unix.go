//go:build unix

package guard

import (
	"errors"
	"syscall"
)

// Reap waits for the children of this process, among them the command, and reports each end
// and stop of the command. It returns when there are no children, or when report returns false.
func Reap(command int, report func(syscall.WaitStatus) bool) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR), err == nil && pid != command:
		case err != nil, !report(status):
			return
		}
	}
}
