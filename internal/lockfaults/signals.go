//go:build unix

package lockfaults

import (
	"os"
	"syscall"
)

// These signals stop a process and continue it.
var stopSignal, continueSignal os.Signal = syscall.SIGSTOP, syscall.SIGCONT
