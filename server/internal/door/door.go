// Package door decides which requests an HTTP server handles, and when. It checks the Host
// header, the origin and the token of each request, and keeps the sessions of browsers. It
// bounds connections, bodies, uploads, memory, and the requests that are handled at once.
//
//	d, err := door.New(&door.Options{...})
//	l, err = d.Listen(l)                 // for http.Server.Serve
//	r, id := d.Receive(r)                // first, for each request
//	done, err := d.Enter(w, r, policy)   // if err is nil, the request may be handled
//	defer done()
//
// A [Policy] tells the door who may send a request and what it costs.
//
// Terms: a slot is the permission to work on a request; there are Limits.Requests of them. A
// heavy request keeps a processor busy for long; it also needs one of the heavy slots, of
// which there is one per processor.
package door

import (
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

// Options configure a [Door]. Log, Displaced and Uploaded are required.
type Options struct {
	Tokens         []Token        // a request needs one of them, except for open routes; if there are none, no request needs one
	Session        time.Duration  // how long a login lasts
	BaseURL        string         // URL at which clients reach the server; empty: the address of the listener
	TrustedProxies []netip.Prefix // proxies whose headers about the client are believed
	Limits         Limits
	Log            *slog.Logger
	Displaced      func()      // is called for each connection that was closed to make room for another
	Uploaded       func(n int) // is called with the number of bytes in each piece of an upload
}

// Door guards a server. Create it with [New]. Any number of goroutines may share it.
type Door struct {
	options     Options
	origin      origin
	crossOrigin *http.CrossOriginProtection
	ended       sync.Map            // cookies of sessions that were logged out
	loopback    atomic.Bool         // the listener's address is a loopback address
	slots       *semaphore.Weighted // one for each request that is worked on
	heavy       *semaphore.Weighted // one for each heavy request or upload that is worked on
	memory      budget
	uploads     *uploads
	connections atomic.Pointer[connections] // nil before Listen
	draining    atomic.Bool                 // every answer closes its connection
	cut         context.Context             // is done when uploads must end
	cutNow      context.CancelFunc
}

// New returns a Door. The error is about the base URL, or about a token and wraps
// [ErrToken].
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

// Listen returns a listener that bounds the connections of l. The http.Server needs
// [WithConnection] as its ConnContext. If there is no token and the address of l is not a
// loopback address, the error wraps [ErrToken].
func (d *Door) Listen(l net.Listener) (net.Listener, error) {
	loopback := isLoopback(l.Addr())
	if !loopback && !d.HasTokens() {
		return nil, fmt.Errorf("%w is missing: %v can be reached from other hosts", ErrToken, l.Addr())
	}
	d.loopback.Store(loopback)
	open := newConnections(l, d.options.Limits, d.origin.trusts, d.options.Displaced)
	d.connections.Store(open)
	return open, nil
}

// MemoryInUse returns how many bytes requests and uploads take, as they estimate it.
func (d *Door) MemoryInUse() int64 { return d.memory.taken.Load() }

// Drain begins the shutdown of the server. From now on every answer closes its connection,
// so that the client sends its next request to another server.
func (d *Door) Drain() { d.draining.Store(true) }

// Draining reports whether Drain was called.
func (d *Door) Draining() bool { return d.draining.Load() }

// Settle closes the listener and waits until the server has read every request that clients
// have sent, or until ctx is done. It must be called before http.Server.Shutdown, which
// drops requests that have not been read. Requests that are worked on continue.
func (d *Door) Settle(ctx context.Context) {
	if c := d.connections.Load(); c != nil {
		c.settle(ctx)
	}
}

// CutUploads aborts all uploads with [ErrStopping], and refuses further ones.
func (d *Door) CutUploads() { d.cutNow() }

// isLoopback reports whether only this machine can connect to a.
func isLoopback(a net.Addr) bool {
	_, unix := a.(*net.UnixAddr)
	return unix || addressOf(a).IsLoopback()
}

// Access says who may use a route.
type Access uint8

// The strictest first.
const (
	Write Access = iota // clients with a token that is not read-only
	Read                // clients with any token
	Open                // all clients, because the route reveals nothing and changes nothing
	Probe               // all clients, even if the Host header names another host, as load balancers do
)

// Cost returns how much memory a request with a body of size bytes takes, in bytes, and
// whether it is heavy. A nil Cost means that the request takes neither a slot nor memory, and
// that its handler reads the body.
type Cost func(r *http.Request, size int64) (memory int64, heavy bool)

// Policy says who may send a request, and what it costs.
type Policy struct {
	Access Access
	Cost   Cost
	// Body is the maximum size of the body in bytes. 0 means Limits.Body.
	Body int64
}

// Enter decides whether r may be handled. It checks r, reads the body, and then takes
// memory and a slot, for which it waits up to five seconds. Since the body is read first, a
// client that sends slowly occupies no slot. If err is nil, the caller must call done after
// the response, which gives the memory back. The slot is given back earlier, when the body of
// the response begins to be sent. The errors are those declared with [ErrBadBody].
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

// wellFormed reports whether a query can be parsed completely, and has each parameter once,
// except labels. net/url skips malformed parameters silently, and a range without its bound
// would cover everything. Of a repeated parameter, package huma takes the first value.
func wellFormed(query string) bool {
	all, err := url.ParseQuery(query)
	for name, values := range all {
		if len(values) > 1 && name != "label" {
			return false
		}
	}
	text, _ := url.QueryUnescape(query) // ParseQuery returns the same errors
	return err == nil && utf8.ValidString(text)
}

// Limits are those of package server, which documents them, with a value in each field.
type Limits struct {
	Connections, PerAddress, Requests int

	Memory  int64
	Uploads int

	Upload, Unpacked, UploadIDs, Body int64

	Header, Request, Response, Idle, UploadTime, Store time.Duration
}

// Errors about requests. Clients see their texts.
var (
	ErrBadBody  = errors.New("the body of the request ends early, or its chunks are malformed")
	ErrBase     = errors.New("the Host header names another host than the --base-url of this server")
	ErrBusy     = errors.New("the server is busy; try again in a moment")
	ErrHost     = errors.New("this server answers requests for localhost only; to reach it by another name, start it with --base-url and --token-file")
	ErrLongBody = errors.New("the request is larger than this server accepts; send less at once, or use the command \"oid\", which has no limit")
	ErrMemory   = errors.New("the server has no memory left for this request; try again in a moment, or send less at once")
	ErrNoToken  = errors.New("the request has no token, or one that the server does not know; send the header Authorization: Bearer TOKEN")
	ErrOrigin   = errors.New("the request comes from a page of another origin")
	ErrProxied  = errors.New("this server has no token: start it with --token-file, and with --base-url and --trusted-proxy for the proxy")
	ErrQuery    = errors.New("the query of the URL is malformed: want parameters in UTF-8, each once except label, separated by &, and two hexadecimal digits after each %")
	ErrReadOnly = errors.New("the token is read-only")
	ErrSlowBody = errors.New("the body of the request arrived too slowly")
	ErrSlowest  = errors.New("upload aborted: too slow while others were waiting; try again later")
	ErrStopping = errors.New("the server is stopping; send the request again in a moment")
	ErrTooLarge = errors.New("the upload is larger than this server accepts; the command \"oid census\" has no limit")
	ErrTooSlow  = errors.New("the upload arrived too slowly")
	ErrUnpacked = errors.New("the upload unpacks to more than this server accepts; the command \"oid census\" has no limit")
)
