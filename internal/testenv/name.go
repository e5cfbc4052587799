package testenv

import (
	"io"
	"net"
	"testing"
)

// Name forwards the connections to its Addr to one of several servers, as a name in DNS, a Service
// of Kubernetes or a TCP proxy does.
type Name struct{ relay }

// NewName returns a name that leads to the server at target, until the test ends.
func NewName(t testing.TB, target string) *Name {
	t.Helper()
	n := new(Name)
	n.start(t, target, func(client, server net.Conn) {
		pass := func(to, from net.Conn) {
			_, _ = io.Copy(to, from) // an error ends the connection, as the end of the data does
			to.Close()
			from.Close()
		}
		both(func() { pass(server, client) }, func() { pass(client, server) })
	})
	return n
}

// Move makes the name lead to another server. Connections that are open stay with the server
// that they have.
func (n *Name) Move(target string) { n.change(func() { n.target = target }) }

// HangUp closes all connections.
func (n *Name) HangUp() {
	n.change(func() {
		for conn := range n.conns {
			conn.Close()
		}
	})
}
