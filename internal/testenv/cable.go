package testenv

import (
	"bufio"
	"net"
	"testing"
	"time"
)

// Cable stands between a client and a server of any protocol and can be cut or made
// slow. Its methods may be called at any time.
type Cable struct {
	relay

	redis bool // answers pass one by one, and a cut holds back the end of a connection too

	cut   [2]bool // by direction
	delay [2]time.Duration

	losing   int // answers until one is lost; 0: none is
	hangUp   bool
	lost     int
	swallows bool
}

// Directions.
const (
	requests = iota
	answers
)

// NewCable returns a cable to the server at target, which ends with the test.
func NewCable(t testing.TB, target string) *Cable {
	t.Helper()
	c := new(Cable)
	c.connect(t, target)
	return c
}

func (c *Cable) connect(t testing.TB, target string) {
	t.Helper()
	c.start(t, target, func(client, server net.Conn) {
		both(func() { c.pass(server, client, requests) }, func() { c.pass(client, server, answers) })
	})
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
func (c *Cable) Slow(d time.Duration) { c.change(func() { c.delay = [2]time.Duration{d, d} }) }

// LoseAnswer drops the n-th of the next answers of the server and cuts the connection
// on which it comes: what was asked was done, and nobody is told. 0 undoes this.
func (c *Cable) LoseAnswer(n int) { c.change(func() { c.losing, c.hangUp = n, true }) }

// Lost returns how many answers were lost so far.
func (c *Cable) Lost() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

// pass passes on what comes from one side to the other.
func (c *Cable) pass(to, from net.Conn, direction int) {
	defer to.Close()
	defer from.Close()
	r := bufio.NewReader(from)
	for {
		message, err := c.read(r, direction)
		if err != nil && !c.redis || !c.mayPass(direction) || err != nil {
			return
		}
		switch drop, end := c.drops(message, direction); {
		case end:
			return
		case drop:
			continue
		}
		if _, err := to.Write(message); err != nil {
			return
		}
	}
}

// read reads an answer of Redis, or of other messages what has come.
func (c *Cable) read(r *bufio.Reader, direction int) ([]byte, error) {
	if direction == answers && c.redis {
		return readFrame(r, nil)
	}
	b := make([]byte, 1<<16)
	n, err := r.Read(b)
	return b[:n], err
}

// mayPass waits until a request or an answer may pass, and reports whether the test
// goes on.
func (c *Cable) mayPass(direction int) bool {
	var delay time.Duration
	blocked := func() bool {
		delay = c.delay[direction]
		return c.cut[direction]
	}
	if !c.wait(blocked) {
		return false
	}
	time.Sleep(delay)
	return c.wait(blocked)
}

// drops reports whether a message is dropped, and whether its connection ends then.
func (c *Cable) drops(message []byte, direction int) (drop, end bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if direction == requests {
		return c.swallows, false
	}
	if c.losing == 0 || c.redis && message[0] == '>' { // which Redis sends unasked
		return false, false
	}
	if c.losing--; c.losing > 0 {
		return false, false
	}
	c.lost++
	return true, c.hangUp
}
