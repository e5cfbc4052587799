package redislock

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

// dialer opens the connections of a client and can drop them.
type dialer struct {
	base  func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) // nil: TCP
	count bool                                                                      // compare replies with requests

	mu    sync.Mutex
	conns map[*conn]time.Time // when they were opened
}

func newDialer(o rueidis.ClientOption) *dialer {
	// In version 2 of the protocol messages look like replies.
	return &dialer{base: o.DialCtxFn, count: !o.AlwaysRESP2, conns: make(map[*conn]time.Time)}
}

func (d *dialer) dial(ctx context.Context, addr string, nd *net.Dialer, config *tls.Config) (net.Conn, error) {
	// Several requests may wait for this connection: it must not fail all of them
	// because the first has little time. The dialer has a timeout of its own.
	ctx = context.WithoutCancel(ctx)
	var c net.Conn
	var err error
	switch {
	case d.base != nil:
		c, err = d.base(ctx, addr, nd, config)
	case config != nil:
		c, err = (&tls.Dialer{NetDialer: nd, Config: config}).DialContext(ctx, "tcp", addr)
	default:
		c, err = nd.DialContext(ctx, "tcp", addr)
	}
	if err != nil {
		return nil, err
	}
	tracked := &conn{Conn: c, dialer: d}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns[tracked] = time.Now()
	return tracked, nil
}

// closeBefore closes the connections that were opened before t. The client then
// opens new ones.
func (d *dialer) closeBefore(t time.Time) {
	d.mu.Lock()
	var old []*conn
	for c, opened := range d.conns {
		if opened.Before(t) {
			old = append(old, c)
		}
	}
	d.mu.Unlock()
	for _, c := range old {
		_ = c.Close()
	}
}

// conn is a connection that its dialer knows of while it is open, and that fails
// when there are more replies than requests. Whatever comes after that would be
// taken for the reply to another request, or end the program, since the client
// panics when a reply comes that nobody waits for.
type conn struct {
	net.Conn
	dialer *dialer

	requests, replies frames
	due               atomic.Int64 // replies that are still to come
	closed            atomic.Bool
}

var errSurplus = errors.New("redislock: more replies than requests")

// Write counts the requests that it writes.
func (c *conn) Write(p []byte) (int, error) {
	if c.dialer.count {
		c.requests.feed(p, func() { c.due.Add(c.requests.replies()) })
	}
	return c.Conn.Write(p)
}

// Read counts the replies that it reads.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.closed.Load() { // what comes now is the reply to a request that was given up
		return 0, net.ErrClosed
	}
	if !c.dialer.count {
		return n, err
	}
	surplus := false
	c.replies.feed(p[:n], func() {
		if c.replies.reply() {
			surplus = surplus || c.due.Add(-1) < 0
		}
	})
	if surplus {
		return 0, errSurplus
	}
	return n, err
}

// Close closes the connection.
func (c *conn) Close() error {
	c.closed.Store(true)
	c.dialer.mu.Lock()
	delete(c.dialer.conns, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}
