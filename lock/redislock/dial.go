package redislock

import (
	"context"
	"crypto/tls"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

// dialer opens the connections of a client and can drop them.
type dialer struct {
	base func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) // nil: TCP

	mu    sync.Mutex
	conns map[*conn]time.Time // when they were opened
}

func newDialer(o rueidis.ClientOption) *dialer {
	return &dialer{base: o.DialCtxFn, conns: make(map[*conn]time.Time)}
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
	defer d.mu.Unlock()
	for c, opened := range d.conns {
		if opened.Before(t) {
			delete(d.conns, c)
			_ = c.Conn.Close()
		}
	}
}

// conn is a connection that its dialer knows of while it is open.
type conn struct {
	net.Conn
	dialer  *dialer
	reading atomic.Bool // a goroutine waits for replies
}

// Read reads into b.
func (c *conn) Read(b []byte) (int, error) {
	c.reading.Store(true)
	defer c.reading.Store(false)
	return c.Conn.Read(b)
}

// Write writes b. If several goroutines use the connection, others may run before:
// what they ask for goes together in the next packet, instead of in one for each.
func (c *conn) Write(b []byte) (int, error) {
	if c.reading.Load() {
		runtime.Gosched()
	}
	return c.Conn.Write(b)
}

// Close closes the connection.
func (c *conn) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.conns, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}
