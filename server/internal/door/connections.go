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

// connections is a listener that bounds how many connections are open, in total and per
// address. When a bound is reached, it closes the connection that has waited longest for its
// client, so that a new client can always connect.
type connections struct {
	net.Listener
	most       int                   // connections in total
	perAddress int                   // connections from one address
	trusted    func(netip.Addr) bool // reports whether an address is that of a proxy, to which perAddress does not apply
	displaced  func()                // is called for each connection that was closed to make room

	closes atomic.Bool // Accept closes the listener as soon as no client waits to be accepted

	mu        sync.Mutex
	open      map[*connection]struct{}
	byAddress map[netip.Addr]int
}

// connection is an open connection. Only one that waits for its client is closed to make
// room. Its fields show what it waits for:
//
//	working    writing
//	0          any        the client, which has to send a request
//	> 0        false      the server, which works on a request
//	> 0        true       the client, which has to read the response
type connection struct {
	net.Conn
	list    *connections
	address netip.Addr // the network of the client, see network; zero if perAddress does not apply

	began   time.Time
	since   atomic.Int64           // when the client last sent or read something, as a time after began
	working atomic.Int32           // how many requests the server works on
	writing atomic.Bool            // the server waits until the client reads
	request atomic.Pointer[string] // the id of the current request
	memory  atomic.Int64           // bytes that the requests have taken, see budget
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
		_ = accepted.Close() // none can be closed instead: the server works on requests of all of them
	}
}

// addressOf returns the IP address in a, or the zero Addr.
func addressOf(a net.Addr) netip.Addr {
	tcp, _ := a.(*net.TCPAddr) // the methods of a nil pointer return the zero Addr
	return tcp.AddrPort().Addr().Unmap()
}

// network returns the same address for all addresses that one client may have. An IPv4
// client has one, and an IPv6 client usually all of a /64 network.
func network(a netip.Addr) netip.Addr {
	if a = a.Unmap().WithZone(""); a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}

// clientOf returns the network of the sender of r, or the zero Addr for a Unix socket.
func clientOf(r *http.Request) netip.Addr {
	a, _ := netip.ParseAddrPort(r.RemoteAddr)
	return network(a.Addr())
}

// add adds c, if there is room or if room can be made, and reports whether it did.
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

// displace closes the connection that has waited longest for its client, of those that
// match. It reports whether there was one. The caller holds l.mu.
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

// longest returns the connection that has waited longest for its client, of those that
// match, or nil.
func (l *connections) longest(match func(*connection) bool) (found *connection) {
	// A connection only seems to wait if the server has not yet read what the client sent.
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

// stalled is how long a client must have kept the server waiting before its connection is
// closed to free the memory of its requests.
const stalled = time.Second

// freeMemory closes the connection that has waited longest for its client, of those whose
// requests have taken memory. The memory is free a moment later.
func (l *connections) freeMemory() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.displace(func(c *connection) bool { return c.memory.Load() > 0 && now.Sub(c.waitingSince()) > stalled })
}

// Times of the shutdown of a server.
const (
	quietFor  = time.Second           // a client that has been idle for this long is assumed to have no request under way
	lookAt    = 10 * time.Millisecond // the time between two checks of the connections
	acceptFor = time.Second           // after which the listener is closed even if clients wait to be accepted
)

// settle closes the listener. It returns when each connection is either idle or has a
// request that is worked on, or when ctx is done.
//
// Closing a listener resets connections that the kernel has already established but that
// were not accepted. So Accept closes it, right after it has found none. If another
// goroutine closed it, the kernel would establish connections until Accept has returned.
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

// wake makes Accept return to its loop after d, if no client connects before. If the
// listener has no deadlines, it is closed after acceptFor instead.
func (l *connections) wake(d time.Duration) {
	if s, ok := l.Listener.(interface{ SetDeadline(time.Time) error }); ok {
		_ = s.SetDeadline(time.Now().Add(d)) // if this fails, so does Accept
	}
}

// Close implements net.Listener. It is not an error if settle has closed the listener
// before, because the http.Server closes it again.
func (l *connections) Close() error {
	if err := l.Listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// busy reports whether the server may still receive a request on an open connection.
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

// CloseWrite is called by net/http so that a client can read the whole response before the
// connection closes.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// work notes that the server works on a request of c, until done is called. c is nil if the
// listener is not one of [Door.Listen].
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

// connectionKey is the key of the connection in the contexts of its requests.
type connectionKey struct{}

// WithConnection is the http.Server.ConnContext for a listener of [Door.Listen], which may
// be wrapped in TLS. It makes the connection known to the requests.
func WithConnection(ctx context.Context, c net.Conn) context.Context {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, c)
}

// connectionOf returns the connection of r, or nil if the listener is not one of
// [Door.Listen].
func connectionOf(r *http.Request) *connection {
	c, _ := r.Context().Value(connectionKey{}).(*connection)
	return c
}
