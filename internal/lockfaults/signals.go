//go:build unix

package lockfaults

import (
	"os"
	"syscall"
)

// These stop a process and let it go on.
var stopSignal, continueSignal os.Signal = syscall.SIGSTOP, syscall.SIGCONT
