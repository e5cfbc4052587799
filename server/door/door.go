// Package door guards an HTTP server. It bounds connections, bodies, uploads, memory
// and requests at work; it checks the Host header, the origin and the token of each
// request; it keeps the sessions of browsers.
//
//	d, err := door.New(&door.Options{...})
//	l = d.Listen(l)                    // for http.Server.Serve
//	r, id := d.Receive(r)              // first of all, for each request
//	done, err := d.Enter(w, r, policy) // then the handler answers, or err is the answer
//	defer done()
//
// It knows nothing of handlers: what a route permits and costs is a [Policy].
package door

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"
)

// Options configure a [Door]. All fields may be zero but Log, Displaced and Uploaded.
type Options struct {
	Tokens         []Token        // at least one of them is required of all but open routes; none: no token is required
	Session        time.Duration  // how long a login lasts
	BaseURL        string         // where clients reach the server; empty: at the listener's address
	TrustedProxies []netip.Prefix // whose headers about the client are believed
	Limits         Limits
	Log            *slog.Logger
	Displaced      func()      // is called for each connection that was closed for another
	Uploaded       func(n int) // is called with the bytes of each piece of an upload
}

// Door guards a server. Create it with [New]. Its methods may be called at the same
// time.
type Door struct {
	options     Options
	origin      origin
	crossOrigin *http.CrossOriginProtection
	throttle    *throttle
	sessions    sessions
	loopback    atomic.Bool         // requests must be for a loopback name
	slots       *semaphore.Weighted // one for each request that is worked on
	heavy       *semaphore.Weighted // one for each of them that keeps a processor busy
	memory      *budget
	uploads     *uploads
	connections atomic.Pointer[connections] // after Listen
	draining    atomic.Bool                 // every answer closes its connection
	cut         context.Context             // ends when uploads must end
	cutNow      context.CancelFunc
}

// New returns a Door. The error wraps [ErrToken], or is about the base URL.
func New(o *Options) (*Door, error) {
	if err := checkTokens(o.Tokens); err != nil {
		return nil, err
	}
	d := &Door{
		options:     *o,
		crossOrigin: http.NewCrossOriginProtection(),
		throttle:    newThrottle(),
		slots:       semaphore.NewWeighted(int64(o.Limits.Requests)),
		heavy:       semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))),
		uploads:     newUploads(o.Limits.Uploads),
	}
	d.memory = newBudget(o.Limits.Memory, func() {
		if c := d.connections.Load(); c != nil {
			c.freeMemory()
		}
	})
	var err error
	if d.origin, err = newOrigin(o.BaseURL, o.TrustedProxies); err != nil {
		return nil, err
	}
	if b := d.origin.base; b != nil {
		if err := d.crossOrigin.AddTrustedOrigin(b.Scheme + "://" + b.Host); err != nil {
			return nil, fmt.Errorf("server: base URL %q: %w", o.BaseURL, err)
		}
	}
	d.cut, d.cutNow = context.WithCancel(context.Background())
	return d, nil
}

// Listen returns l with the bounds on connections. It fails, with an error that wraps
// [ErrToken], without a token if the address of l is not a loopback address. The
// http.Server needs [WithConnection] as its ConnContext.
func (d *Door) Listen(l net.Listener) (net.Listener, error) {
	loopback := isLoopback(l.Addr())
	if !loopback && !d.HasTokens() {
		return nil, fmt.Errorf("%w: %v can be reached by others, so a token is required; or listen on 127.0.0.1", ErrToken, l.Addr())
	}
	d.loopback.Store(loopback)
	open := newConnections(l, d.options.Limits, d.origin.trusts, d.options.Displaced)
	d.connections.Store(open)
	return open, nil
}

// MemoryInUse returns the bytes that requests and uploads take, by their own estimate.
func (d *Door) MemoryInUse() int64 { return d.memory.inUse() }

// Drain begins the end of the server: every answer from now on closes its connection, so
// that clients send the next request elsewhere or to the server's successor.
func (d *Door) Drain() { d.draining.Store(true) }

// Draining reports whether Drain was called.
func (d *Door) Draining() bool { return d.draining.Load() }

// Settle closes the listener and returns when nothing that clients have sent waits for the
// server to read it, or ctx ends. Connections on which the server works stay as they are.
// Only then may http.Server.Shutdown follow: it drops the requests that it has not read.
func (d *Door) Settle(ctx context.Context) {
	if c := d.connections.Load(); c != nil {
		c.settle(ctx)
	}
}

// CutUploads ends all uploads with [ErrStopping], and refuses further ones.
func (d *Door) CutUploads() { d.cutNow() }

// isLoopback reports whether only this machine can connect to a.
func isLoopback(a net.Addr) bool {
	if _, ok := a.(*net.UnixAddr); ok {
		return true
	}
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// Access says who may use a route.
type Access uint8

// From the one that permits least.
const (
	Write Access = iota // tokens for everything
	Read                // tokens for reading as well
	Open                // all clients: the route reveals nothing and changes nothing
	Probe               // as Open, also under other host names: load balancers use their own
)

// Cost returns the memory that a request with a body of size bytes takes, in bytes, and
// whether it keeps a processor busy for long. A nil Cost is that of a request that takes
// neither a slot nor memory, and whose body is left to the handler.
type Cost func(r *http.Request, size int64) (memory int64, heavy bool)

// Policy says what a Door has to know about the route of a request.
type Policy struct {
	Access Access
	Cost   Cost
	// Body bounds the body, in bytes. 0: Limits.Body.
	Body int64
}

// Enter checks r and takes what its handler needs: memory, and a slot until the
// response is sent. It reads the body first, so that a client that sends slowly holds
// no slot. done gives back what was taken; it must be called after a nil error. The
// error is one of this package, see [ErrBadBody], or a [*WaitError].
func (d *Door) Enter(w *Recorder, r *http.Request, p Policy) (done func(), err error) {
	switch err := d.checkOrigin(r, p.Access == Probe); {
	case err != nil:
		return nil, err
	case !wellFormed(r.URL.RawQuery):
		return nil, ErrQuery
	}
	if p.Access < Open {
		if err := d.authorize(r, p.Access); err != nil {
			return nil, err
		}
	}
	if d.crossOrigin.Check(r) != nil {
		return nil, ErrOrigin
	}
	if p.Cost == nil {
		return connectionOf(r).work(), nil
	}
	return d.admit(w, r, p)
}

// wellFormed reports whether all of a query can be read. net/url would silently skip
// the rest, and a range that lost its bound would cover everything.
func wellFormed(query string) bool {
	if query == "" {
		return true
	}
	values, err := url.ParseQuery(query)
	for key, all := range values {
		for _, value := range append(all, key) {
			if !utf8.ValidString(value) {
				return false
			}
		}
	}
	return err == nil
}
