package testenv

import (
	"net"
	"testing"
	"time"
)

// Cable stands between a client and a server of any protocol and can be cut or made
// slow. Its methods may be called at any time.
type Cable struct {
	relay

	cut     [2]bool // requests, answers
	delay   time.Duration
	answers int // until one is lost; 0: none is
	lost    int

	swallows bool
}

// NewCable returns a cable to the server at target, which ends with the test.
func NewCable(t testing.TB, target string) *Cable {
	t.Helper()
	c := new(Cable)
	c.start(t, target, func(client, server net.Conn) {
		both(func() { c.pass(server, client, false) }, func() { c.pass(client, server, true) })
	})
	return c
}

// Cut holds back requests, answers or both, as a network does that loses all packets.
// Once it is whole again, what was sent arrives.
func (c *Cable) Cut(requests, answers bool) {
	c.change(func() { c.cut = [2]bool{requests, answers} })
}

// Swallow drops all requests that come from now on, or with false no more. Their clients
// never get an answer: the connections stay open.
func (c *Cable) Swallow(on bool) { c.change(func() { c.swallows = on }) }

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

// pass passes on what comes from one side to the other.
func (c *Cable) pass(to, from net.Conn, answers bool) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		if err != nil || !c.mayPass(answers) || answers && c.loses() {
			return
		}
		if !answers && c.drops() {
			continue
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// drops reports whether requests are dropped.
func (c *Cable) drops() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.swallows
}

// mayPass waits until a request or an answer may pass, and reports whether the test
// goes on.
func (c *Cable) mayPass(answer bool) bool {
	var delay time.Duration
	blocked := func() bool {
		delay = c.delay
		if answer {
			return c.cut[1]
		}
		return c.cut[0]
	}
	if !c.wait(blocked) {
		return false
	}
	time.Sleep(delay)
	return c.wait(blocked)
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
