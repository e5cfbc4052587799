package testenv

import (
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"testing"
)

// FreePort returns a TCP port of the loopback address for a server that cannot choose
// one itself, or that is to have it again after it has ended. Until this process ends
// the port is not given to another test, and it is not one that systems give to clients
// of their own accord.
func FreePort(t testing.TB) int {
	t.Helper()
	const first, end = 10_000, 32_768
	for range 1000 {
		port := first + rand.IntN(end-first)
		if !reserve(port) {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no free port was found")
	return 0
}

// reserved are the ports that this process has given to a test, with what keeps others
// from having them.
var reserved sync.Map

// reserve reports whether no other test has the port. On Linux it is the name of a socket
// that only one process can have, of whatever user, and that goes with the process.
func reserve(port int) bool {
	var socket net.Listener
	if runtime.GOOS == "linux" {
		var err error
		if socket, err = net.Listen("unix", fmt.Sprintf("@oid-test-port-%d", port)); err != nil {
			return false
		}
	}
	_, taken := reserved.LoadOrStore(port, socket)
	return !taken
}
