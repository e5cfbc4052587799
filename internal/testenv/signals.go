package testenv

import (
	"os"
	"os/signal"
	"syscall"
)

// HeedSignals makes the programs that this process starts get the signals that it ignores
// itself because it was started so, as by nohup or in the background of a script.
func HeedSignals() {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // a program gets the default of what is caught
		}
	}
}
