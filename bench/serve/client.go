package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// client is a connection. It does no more than it must, to take little of the
// machine that it shares with the server.
type client struct {
	host  string
	conn  net.Conn
	in    *bufio.Reader
	buf   []byte
	times []time.Duration // of each request
	every time.Duration
	next  time.Time
}

// pace waits for the next beat of a steady rate, if there is one.
func (c *client) pace() {
	if c.every == 0 {
		return
	}
	if wait := time.Until(c.next); wait > 0 {
		time.Sleep(wait)
	}
	// A beat that was missed is left out: connections that all made up for lost
	// time at once would keep one time from then on, and queue.
	for now := time.Now(); !c.next.After(now); {
		c.next = c.next.Add(c.every)
	}
}

// send sends a request and reads the answer.
func (c *client) send(method, path, body, accept string) error {
	if c.conn == nil {
		conn, err := net.Dial("tcp", c.host)
		if err != nil {
			return err
		}
		c.conn, c.in = conn, bufio.NewReaderSize(conn, 64<<10)
	}
	began := time.Now()
	_, err := fmt.Fprintf(c.conn, "%s %s HTTP/1.1\r\nHost: %s\r\nAccept: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		method, path, c.host, accept, len(body), body)
	if err != nil {
		return err
	}
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if c.buf == nil {
		c.buf = make([]byte, 256<<10)
	}
	if _, err := io.CopyBuffer(discard{}, res.Body, c.buf); err != nil {
		return err
	}
	c.times = append(c.times, time.Since(began))
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: status %s", method, path, res.Status)
	}
	return nil
}

// discard takes what it is given in the pieces that the buffer has.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
