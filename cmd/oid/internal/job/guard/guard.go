// Package guard is the process between oid and the command of "oid lock" on Linux. It starts
// the command, adopts the processes that the command leaves, and waits for all of them. If oid
// is killed, the guard kills these processes.
//
// The guard is a second process of the same program: importing this package makes a program a
// guard if it was started with the arguments of [Args]. The package has few imports, so that
// its init function runs before the packages of oid initialize, which takes most of the time of
// a short command. The specification of Go sorts packages by import path; each begins after
// its imports. Before you add an import, see that TestGuardStartsEarly still passes.
package guard

import (
	"os"
	"os/signal"
)

// CatchUnlessIgnored relays signals to c, except those that were ignored when this process
// began. For example, SIGINT is ignored in the background of a script.
func CatchUnlessIgnored(c chan<- os.Signal, all ...os.Signal) {
	for _, s := range all {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
}
