package testenv

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Cable stands between a client and a server of any protocol and can be cut or made
// slow. Its methods may be called at any time.
type Cable struct {
	// Addr is where it listens.
	Addr string

	target string

	mu      sync.Mutex
	changed chan struct{} // closed when one of the following changes
	cut     bool
	delay   time.Duration
	answers int // until one is lost; 0: none is
	lost    int
	conns   map[net.Conn]struct{}
	closed  bool
}

// NewCable returns a cable to the server at target, which ends with the test.
func NewCable(t testing.TB, target string) *Cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	c := &Cable{Addr: l.Addr().String(), target: target, changed: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { c.serve(client) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		c.change(func() {
			c.closed = true
			for conn := range c.conns {
				conn.Close()
			}
		})
		running.Wait()
	})
	return c
}

// Cut holds everything back, as a network does that loses all packets. Once it is
// whole again, what was sent arrives.
func (c *Cable) Cut(cut bool) { c.change(func() { c.cut = cut }) }

// Slow makes every message of either side wait for d.
func (c *Cable) Slow(d time.Duration) { c.change(func() { c.delay = d }) }

// LoseAnswer drops the n-th of the next answers of the server and cuts the connection
// on which it comes: what was asked was done, and nobody is told. 0 undoes this.
func (c *Cable) LoseAnswer(n int) { c.change(func() { c.answers = n }) }

// Lost returns how many answers were lost so far.
func (c *Cable) Lost() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

func (c *Cable) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *Cable) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", c.target)
	if err != nil {
		return
	}
	defer server.Close()
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.conns[client], c.conns[server] = struct{}{}, struct{}{}
	c.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { c.pass(server, client, false) })
	both.Go(func() { c.pass(client, server, true) })
	both.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.conns, client)
	delete(c.conns, server)
}

// pass passes on what comes from one side to the other.
func (c *Cable) pass(to, from net.Conn, answers bool) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		if err != nil || !c.wait() || answers && c.loses() {
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// wait waits until a message may pass, and reports whether the cable is still there.
func (c *Cable) wait() bool {
	for slept := false; ; {
		c.mu.Lock()
		cut, delay, changed, closed := c.cut, c.delay, c.changed, c.closed
		c.mu.Unlock()
		switch {
		case closed:
			return false
		case cut:
			<-changed
		case delay > 0 && !slept:
			slept = true
			time.Sleep(delay)
		default:
			return true
		}
	}
}

// loses reports whether an answer is the one to be lost.
func (c *Cable) loses() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers == 0 {
		return false
	}
	c.answers--
	if c.answers > 0 {
		return false
	}
	c.lost++
	return true
}
