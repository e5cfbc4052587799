package door

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// connections is a listener that bounds how many connections are open, in all and
// from one address. At either bound it closes the connection that has waited longest
// for its client, so that a new client always gets in.
type connections struct {
	net.Listener
	most       int
	perAddress int
	trusted    func(netip.Addr) bool // proxies, which have no bound of their own
	displaced  func()                // is called for each connection that was closed for another

	closes atomic.Bool // Accept is to close the listener as soon as no client waits

	mu        sync.Mutex
	open      map[*connection]struct{}
	byAddress map[netip.Addr]int
}

// connection is an open connection. Who is to act next:
//
//	working    writing
//	none       either     the client: it has to send a request
//	some       no         the server: so the connection is not closed for another
//	some       yes        the client: it has to take the response
type connection struct {
	net.Conn
	list    *connections
	address netip.Addr // of the client, see addressOf; zero for one without a bound

	began   time.Time
	since   atomic.Int64           // when the client last sent or took something, in time after began
	working atomic.Int32           // requests that the server works on
	writing atomic.Bool            // the client has to take something
	request atomic.Pointer[string] // the id of the request
	memory  atomic.Int64           // bytes that its requests hold, see budget
}

func newConnections(l net.Listener, limits Limits, trusted func(netip.Addr) bool, displaced func()) *connections {
	return &connections{
		Listener: l, most: limits.Connections, perAddress: limits.PerAddress, trusted: trusted, displaced: displaced,
		open: map[*connection]struct{}{}, byAddress: map[netip.Addr]int{},
	}
}

// Accept implements net.Listener.
func (l *connections) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			if !l.closes.Load() || !errors.Is(err, os.ErrDeadlineExceeded) {
				return nil, err
			}
			if readable(l.Listener) {
				l.wake(lookAt)
				continue
			}
			_ = l.Listener.Close()
			l.closes.Store(false)
			return nil, net.ErrClosed
		}
		c := &connection{Conn: accepted, list: l, began: time.Now()}
		if a := addressOf(accepted.RemoteAddr()); a.IsValid() && !l.trusted(a) {
			c.address = network(a)
		}
		if l.add(c) {
			return c, nil
		}
		_ = accepted.Close() // the server works on requests of all the others
	}
}

// addressOf returns the IP address in a, or the zero Addr.
func addressOf(a net.Addr) netip.Addr {
	tcp, _ := a.(*net.TCPAddr) // nil has the zero Addr
	return tcp.AddrPort().Addr().Unmap()
}

// network returns what one client has of addresses: an address of IPv4, or the 2^64
// addresses of IPv6 with the same first half.
func network(a netip.Addr) netip.Addr {
	if a = a.Unmap().WithZone(""); a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}

// clientOf returns the address of the sender of r, see network: the zero Addr at a Unix
// socket.
func clientOf(r *http.Request) netip.Addr {
	a, _ := netip.ParseAddrPort(r.RemoteAddr)
	return network(a.Addr())
}

// add adds c, and reports whether there was room or could be made.
func (l *connections) add(c *connection) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	room := true
	switch {
	case c.address.IsValid() && l.byAddress[c.address] >= l.perAddress:
		room = l.displace(func(other *connection) bool { return other.address == c.address })
	case len(l.open) >= l.most:
		room = l.displace(func(*connection) bool { return true })
	}
	if room {
		l.open[c] = struct{}{}
		if c.address.IsValid() {
			l.byAddress[c.address]++
		}
	}
	return room
}

// displace closes the connection that has waited longest for its client among those that
// match, and reports whether there is one. The caller holds l.mu.
func (l *connections) displace(match func(*connection) bool) bool {
	old := l.longest(match)
	if old == nil {
		return false
	}
	l.remove(old)
	_ = old.Conn.Close()
	l.displaced()
	return true
}

func (l *connections) remove(c *connection) {
	if _, ok := l.open[c]; !ok {
		return
	}
	delete(l.open, c)
	if c.address.IsValid() {
		if l.byAddress[c.address]--; l.byAddress[c.address] == 0 {
			delete(l.byAddress, c.address)
		}
	}
}

// longest returns the connection that has waited longest for its client, among those
// that match and on which no other work goes on, or nil.
func (l *connections) longest(match func(*connection) bool) (found *connection) {
	// Some may only seem to wait, because the server has not yet read what they sent.
	for range 16 {
		if found = l.seeminglyLongest(match); found == nil || found.writing.Load() || !readable(found.Conn) {
			break
		}
		found.progress()
	}
	return found
}

func (l *connections) seeminglyLongest(match func(*connection) bool) *connection {
	var found *connection
	var since time.Time
	for c := range l.open {
		if c.working.Load() > 0 && !c.writing.Load() || !match(c) {
			continue
		}
		if at := c.waitingSince(); found == nil || at.Before(since) {
			found, since = c, at
		}
	}
	return found
}

// stalled is how long a client must have kept the server waiting before the memory
// of its requests goes to another.
const stalled = time.Second

// freeMemory closes the connection that has waited longest for its client among those
// whose requests hold memory. Their memory is free a moment later.
func (l *connections) freeMemory() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.displace(func(c *connection) bool { return c.memory.Load() > 0 && now.Sub(c.waitingSince()) > stalled })
}

// Times of the end of a server.
const (
	quietFor  = time.Second           // a client that has been idle for so long sends nothing at this moment
	lookAt    = 10 * time.Millisecond // between two looks at the connections
	acceptFor = time.Second           // then the listener closes although clients still wait
)

// settle closes the listener and returns when each connection is either worked on or
// quiet, or ctx ends. Closing resets the clients that the kernel has already told that they
// are connected. So Accept does it, right after a look that finds none: by another goroutine
// the socket is only closed when Accept has returned, and until then clients come.
func (l *connections) settle(ctx context.Context) {
	l.closes.Store(true)
	l.wake(0)
	defer time.AfterFunc(acceptFor, func() {
		_ = l.Listener.Close()
		l.closes.Store(false)
	}).Stop()
	tick := time.Tick(lookAt)
	for l.closes.Load() || l.busy() {
		select {
		case <-tick:
		case <-ctx.Done():
			return
		}
	}
}

// wake lets Accept look around after d, unless a client connects before. A listener without
// deadlines is closed after acceptFor.
func (l *connections) wake(d time.Duration) {
	if s, ok := l.Listener.(interface{ SetDeadline(time.Time) error }); ok {
		_ = s.SetDeadline(time.Now().Add(d)) // an error ends Accept
	}
}

// Close implements net.Listener. Settle may have closed the listener before, which is not
// an error: the http.Server may close it again before its Accept has returned.
func (l *connections) Close() error {
	if err := l.Listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// busy reports whether a request may be on its way to the server.
func (l *connections) busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		if c.working.Load() == 0 && (time.Since(c.waitingSince()) < quietFor || readable(c.Conn)) {
			return true
		}
	}
	return false
}

func (c *connection) waitingSince() time.Time { return c.began.Add(time.Duration(c.since.Load())) }

func (c *connection) progress() { c.since.Store(int64(time.Since(c.began))) }

// Read implements net.Conn.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.progress()
	}
	return n, err
}

// Write implements net.Conn.
func (c *connection) Write(p []byte) (int, error) {
	c.progress()
	c.writing.Store(true)
	n, err := c.Conn.Write(p)
	c.writing.Store(false)
	c.progress()
	return n, err
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.list.mu.Lock()
	c.list.remove(c)
	c.list.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite is for net/http, which waits with it for a client to read the response.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// work marks c as one on which the server works, until done is called. A nil c is one
// of a program that embeds the handler.
func (c *connection) work() (done func()) {
	if c == nil {
		return func() {}
	}
	c.working.Add(1)
	return func() {
		c.progress()
		c.working.Add(-1)
	}
}

// connectionKey is the key of the connection in the context of its requests.
type connectionKey struct{}

// WithConnection returns ctx with the connection of its requests. It is for
// http.Server.ConnContext, with a listener of [Door.Listen], also below TLS.
func WithConnection(ctx context.Context, c net.Conn) context.Context {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, c)
}

// connectionOf returns the connection of r, or nil.
func connectionOf(r *http.Request) *connection {
	c, _ := r.Context().Value(connectionKey{}).(*connection)
	return c
}
