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
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"sync"
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
	ended       sync.Map            // the values of sessions that were logged out
	loopback    atomic.Bool         // requests must be for a loopback name
	slots       *semaphore.Weighted // one for each request that is worked on
	heavy       *semaphore.Weighted // one for each of them that keeps a processor busy
	memory      budget
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
		slots:       semaphore.NewWeighted(int64(o.Limits.Requests)),
		heavy:       semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))),
		uploads:     newUploads(o.Limits.Uploads),
	}
	d.memory = budget{total: o.Limits.Memory, makeRoom: func() {
		if c := d.connections.Load(); c != nil {
			c.freeMemory()
		}
	}}
	var err error
	if d.origin, err = newOrigin(o.BaseURL, o.TrustedProxies); err != nil {
		return nil, err
	}
	if b := d.origin.base; b.Host != "" {
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
func (d *Door) MemoryInUse() int64 { return d.memory.taken.Load() }

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
	_, unix := a.(*net.UnixAddr)
	return unix || addressOf(a).IsLoopback()
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
// error is one of this package, see [ErrBadBody].
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
	_, err := url.ParseQuery(query)
	text, _ := url.QueryUnescape(query) // its errors are among those of ParseQuery
	return err == nil && utf8.ValidString(text)
}

// Limits bound what clients may use. A zero field means its default.
type Limits struct {
	Connections int   // open at the same time; beyond, the one that waits longest for its client is closed, or the new one. Default: 4096
	PerAddress  int   // connections from one address, or from one /64 of IPv6. Default: a quarter of Connections
	Requests    int   // worked on at the same time; more wait a moment. Default: 512, at most a quarter of Connections
	Memory      int64 // bytes that all requests and uploads together may take. Default: 1 GiB
	Uploads     int   // at the same time; more are refused. Default: 4
	Upload      int64 // bytes of one upload, as sent. Default: 4 GiB
	Unpacked    int64 // bytes of one upload after it was unpacked. Default: 64 GiB
	UploadIDs   int64 // ids in one upload; each takes 16 bytes of memory. Default: 20 million
	Body        int64 // bytes of any other request body. Default: 1 MiB

	Header     time.Duration // to send the header of a request. Default: 10s
	Request    time.Duration // to send the body of a request that is not an upload. Default: 30s
	Response   time.Duration // to read a response. Default: 60s
	Idle       time.Duration // between two requests of a connection. Default: 2m
	UploadTime time.Duration // for one upload, which must also arrive at 16 KiB/s. Default: 1h
	Store      time.Duration // for the store to answer. Default: 5s
}

// WithDefaults returns l with the defaults in place of its zero fields.
func (l Limits) WithDefaults() Limits {
	l.Connections = cmp.Or(l.Connections, 4096)
	l.PerAddress = cmp.Or(l.PerAddress, max(1, l.Connections/4))
	l.Requests = cmp.Or(l.Requests, 512)
	l.Requests = min(l.Requests, max(1, l.Connections/4)) // others can be closed for new ones
	l.Memory = cmp.Or(l.Memory, 1<<30)
	l.Unpacked = cmp.Or(l.Unpacked, 64<<30)
	l.Uploads = cmp.Or(l.Uploads, 4)
	l.Upload = cmp.Or(l.Upload, 4<<30)
	l.UploadIDs = cmp.Or(l.UploadIDs, 20_000_000)
	l.Body = cmp.Or(l.Body, 1<<20)
	l.Header = cmp.Or(l.Header, 10*time.Second)
	l.Request = cmp.Or(l.Request, 30*time.Second)
	l.Response = cmp.Or(l.Response, time.Minute)
	l.Idle = cmp.Or(l.Idle, 2*time.Minute)
	l.UploadTime = cmp.Or(l.UploadTime, time.Hour)
	l.Store = cmp.Or(l.Store, 5*time.Second)
	return l
}

// Errors about requests. Their texts are for clients.
var (
	ErrBadBody  = errors.New("the body of the request ends early, or its chunks are malformed")
	ErrBase     = errors.New("this server is reached by another name, that of its --base-url")
	ErrBusy     = errors.New("the server is busy; try again in a moment")
	ErrHost     = errors.New("this server answers requests for localhost only; to reach it by another name, start it with --base-url and --token-file")
	ErrLongBody = errors.New("the request is larger than this server accepts; send less at once, or use the command \"oid\", which has no limit")
	ErrMemory   = errors.New("the server has no memory left for this request; try again in a moment, or send less at once")
	ErrNoToken  = errors.New("the server requires its token; send the header Authorization: Bearer TOKEN")
	ErrOrigin   = errors.New("the request comes from a page of another origin")
	ErrProxied  = errors.New("this server has no token: start it with --token-file, and with --base-url and --trusted-proxy for the proxy")
	ErrQuery    = errors.New("the query of the URL is malformed: want parameters in UTF-8, separated by &, and two hexadecimal digits after each %")
	ErrReadOnly = errors.New("the token is read-only")
	ErrSlowBody = errors.New("the body of the request was too slow")
	ErrSlowest  = errors.New("upload aborted: too slow while others were waiting; try again later")
	ErrStopping = errors.New("the server is stopping; send the request again in a moment")
	ErrTooLarge = errors.New("the upload is larger than this server accepts; the command \"oid census\" has no limit")
	ErrTooSlow  = errors.New("the upload was too slow")
	ErrUnpacked = errors.New("the upload unpacks to more than this server accepts; the command \"oid census\" has no limit")
)
