package testenv

import (
	"net"
	"sync"
	"testing"
)

// relay is between clients and a server: what [Cable], [Proxy] and [Name] share. It passes
// nothing on by itself.
type relay struct {
	// Addr is where it listens.
	Addr string

	mu      sync.Mutex
	target  string        // of new connections
	changed chan struct{} // closed when what mu guards changes
	conns   map[net.Conn]struct{}
	closed  bool
}

// start listens until the test ends. Each client gets a connection to target, and talk
// passes on what comes on both until either ends.
func (r *relay) start(t testing.TB, target string, talk func(client, server net.Conn)) {
	t.Helper()
	l := Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	r.Addr, r.target, r.changed, r.conns = l.Addr().String(), target, make(chan struct{}), map[net.Conn]struct{}{}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { r.serve(client, talk) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		r.change(func() {
			r.closed = true
			for conn := range r.conns {
				conn.Close()
			}
		})
		running.Wait()
	})
}

// change calls f, which changes what mu guards.
func (r *relay) change(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *relay) serve(client net.Conn, talk func(client, server net.Conn)) {
	defer client.Close()
	r.mu.Lock()
	target := r.target
	r.mu.Unlock()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return // as if nobody listened
	}
	defer server.Close()
	open := true
	r.change(func() {
		if open = !r.closed; open {
			r.conns[client], r.conns[server] = struct{}{}, struct{}{}
		}
	})
	if open {
		talk(client, server)
	}
	r.change(func() {
		delete(r.conns, client)
		delete(r.conns, server)
	})
}

// wait returns when blocked, which is called with mu held, returns false. It reports
// whether the test goes on.
func (r *relay) wait(blocked func() bool) bool {
	for {
		r.mu.Lock()
		stop, closed, changed := blocked(), r.closed, r.changed
		r.mu.Unlock()
		if closed || !stop {
			return !closed
		}
		<-changed
	}
}

// both runs two functions, one for each direction, until both have returned.
func both(one, other func()) {
	var running sync.WaitGroup
	running.Go(one)
	running.Go(other)
	running.Wait()
}
