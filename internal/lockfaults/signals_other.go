//go:build !unix

package lockfaults

import "os"

// No signals stop a process here: sending these is an error.
var stopSignal, continueSignal os.Signal = os.Interrupt, os.Interrupt
