// Package server is oid over HTTP: an API for programs in any language, and a page
// for people.
//
//	s, err := server.New(&server.Options{Open: openStore})
//	...
//	err = s.Serve(ctx, listener) // until ctx ends
//
// The API creates ids in bulk, shows the creation time and the process of an id, turns
// times into ranges, registers processes, and takes the census of an upload. Its
// description is at /openapi.json, generated from the types of package wire. The page
// at / offers the same to people, without JavaScript where a form suffices.
//
// # Guarantees
//
// No id is created twice: all ids come from one generator, whose process value belongs
// to the server alone once it is registered, in one registry that keeps its data.
//
// A store that is locked, broken or unreachable only fails the requests that need it.
//
// Requests, connections, bodies, uploads, what they unpack to, the memory of all of them
// together, and the time for each are bounded, see [Limits]: no client can make the
// server grow without bound or keep it from answering others. A connection that waits
// for its client gives way to a new one; a client that sends or reads slowly holds
// neither a slot nor a processor; large requests take turns, beside which small ones
// are answered. Uploads are read as they arrive and never held as a whole, and the work
// on them ends when their sender is gone.
//
// On a loopback address and without a token the server answers only requests for a
// loopback name that came through no proxy, so that no foreign web site can reach it
// through a browser and no proxy opens it to others. Writes by pages of another origin
// are refused everywhere. Any other address requires a token. Tokens have names, may be
// for reading only, and must have 128 bits, so that they cannot be guessed.
//
// # Limitations
//
// Over TLS the server speaks HTTP/1.1 only; a proxy before it may speak HTTP/2. A logout
// ends a session at the server that received it, and elsewhere when its time is over.
package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/server/internal/door"
	"github.com/oidkit/oid/server/internal/page"
	"github.com/oidkit/oid/store"
)

// Server answers requests. Create it with [New] and call [Server.Serve] once.
type Server struct {
	options   Options
	backend   *backend
	metrics   *metrics
	mux       *http.ServeMux
	rows      map[string]*route // by pattern
	door      *door.Door
	site      page.Site
	lists     recent[listKey, processList]
	inspected recent[string, page.Start] // by the text that was pasted
	overviews overviews
	locks     *locks
}

// New returns a server that does not serve yet. The error wraps [ErrToken], or is
// about an invalid option or the system's random numbers. A nil o means the zero
// Options.
func New(o *Options) (*Server, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{
		options: opts,
		metrics: newMetrics(),
		mux:     http.NewServeMux(),
		rows:    map[string]*route{},
	}
	s.door, err = door.New(&door.Options{
		Tokens: opts.Tokens, Session: opts.Session, BaseURL: opts.BaseURL, TrustedProxies: opts.TrustedProxies, Limits: opts.Limits, Log: opts.Log,
		Displaced: s.metrics.displaced.Inc, Uploaded: func(n int) { s.metrics.uploaded.Add(float64(n)) },
	})
	if err != nil {
		return nil, err
	}
	s.site = page.Site{
		Base: s.door.Base(), Version: opts.Version, Registry: opts.Open != nil, StoreName: opts.StoreName, ShowsLocks: opts.OpenLocks != nil,
	}
	if s.backend, err = newBackend(opts, s.metrics); err != nil {
		return nil, err
	}
	s.locks = newLocks(opts)
	s.metrics.gauge("oid_generator_ahead_seconds", "By how much the time in the last id is ahead of the clock.",
		func() float64 { return s.backend.generator().Lead().Seconds() })
	s.metrics.gauge("oid_processes_alive", "Processes that the registry shows alive, roughly beyond 1,000; NaN if no store answers.", s.aliveNow)
	s.metrics.gauge("oid_memory_taken_bytes", "Memory taken by requests and uploads, by the server's own estimate.",
		func() float64 { return float64(s.door.MemoryInUse()) })
	rows := s.routes()
	for i := range rows {
		s.rows[rows[i].pattern()] = &rows[i]
	}
	s.addAPI(rows)
	for i := range rows {
		if row := &rows[i]; row.do != nil {
			gate{s}.HandleFunc(row.pattern(), row.do)
		}
	}
	return s, nil
}

// startPatience is how long Serve waits for the store before it accepts requests, so
// that the first ids can already be traced.
const startPatience = 2 * time.Second

// ballast is memory that is reserved but never written to, so that it takes none of the
// machine. The garbage collector counts it: it waits until there is about as much
// garbage, rather than to run forty times a second in a process that has little else.
const ballast = 16 << 20

// Serve answers requests that arrive through l until ctx ends. It then lets requests
// in flight end as Options.Drain and Options.Grace say, records its end in the
// registry, and closes the store and l. It returns nil after such an end, otherwise
// the listener's error. It fails at once, with an error that wraps [ErrToken], without
// a token if the address of l is not a loopback address.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer l.Close()
	defer runtime.KeepAlive(make([]byte, ballast))
	listener, err := s.door.Listen(l)
	if err != nil {
		return err
	}
	life, end := context.WithCancel(context.Background())
	defer end()
	var connecting sync.WaitGroup
	if s.options.Open != nil {
		ready, open := context.WithCancel(ctx)
		connecting.Go(func() { s.backend.run(life, s.addr(l), open) })
		select {
		case <-ready.Done():
		case <-time.After(startPatience):
		}
	}
	limits := s.options.Limits
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: limits.Header,
		ReadTimeout:       limits.Header + limits.Request,
		WriteTimeout:      limits.Request + limits.Response,
		IdleTimeout:       limits.Idle,
		MaxHeaderBytes:    64 << 10,
		ConnContext:       door.WithConnection,
		ErrorLog:          slog.NewLogLogger(s.options.Log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	if opts := s.options; opts.TLS != nil {
		listener = tls.NewListener(listener, opts.TLS)
	}
	s.options.Serving()
	go func() { failed <- h.Serve(listener) }()
	select {
	case err = <-failed:
	case <-ctx.Done():
		err = s.shutDown(h)
	}
	end()
	connecting.Wait()
	last, cancel := context.WithTimeout(context.Background(), limits.Store)
	defer cancel()
	return errors.Join(err, s.backend.close(last), s.locks.close())
}

// shutDown ends h by Options.Drain and Options.Grace.
func (s *Server) shutDown(h *http.Server) error {
	s.door.Drain()
	time.Sleep(s.options.Drain)
	defer time.AfterFunc(s.options.Grace/2, s.door.CutUploads).Stop()
	ctx, cancel := context.WithTimeout(context.Background(), s.options.Grace)
	defer cancel()
	s.door.Settle(ctx)
	if err := h.Shutdown(ctx); err != nil {
		return fmt.Errorf("server: requests were still in flight after %v: %w", s.options.Grace, errors.Join(err, h.Close()))
	}
	return nil
}

// addr returns the address for the registry, which peers dial.
func (s *Server) addr(l net.Listener) string {
	if s.options.Addr != "" {
		return s.options.Addr
	}
	if _, ok := l.Addr().(*net.UnixAddr); ok {
		return "127.0.0.1:0" // it listens on no port
	}
	return l.Addr().String()
}

// Options configure a [Server]. The zero value and a nil pointer mean the defaults.
type Options struct {
	// Open opens the store that holds the registry. The server calls it again after
	// an error, and closes the store at the end. Nil: there is no registry.
	Open func(context.Context) (store.Store, error)
	// StoreName is what the page calls the store, such as PostgreSQL. Default: the
	// page does not name it.
	StoreName string
	// OneHost means that only this host can reach the store, see package registry.
	OneHost bool
	// OpenLocks opens the place that holds the locks that the server shows. The server
	// closes the Locker at the end. Nil: the server shows no locks.
	OpenLocks func(context.Context) (lock.Locker, error)
	// Addr is the ip:port that the registry records for the server. Default: the
	// address of the listener.
	Addr string
	// Version is shown by the page, the API and the registry.
	Version string

	// Token is the bearer token of API requests and the password of the login page.
	// It must have 128 bits, such as the output of "openssl rand -hex 16"; docs/deploy.md
	// has the rule. Default: none, which requires a loopback address.
	Token string
	// Tokens are further tokens, each with a name.
	Tokens []Token
	// Session is how long a login of the page lasts. Default: 12h.
	Session time.Duration

	// BaseURL is where clients reach the server, if not at the address of the
	// listener: its host is answered, its path comes before all others, and with
	// https the cookie is for TLS only. Default: none.
	BaseURL string
	// TrustedProxies are the addresses of proxies whose X-Forwarded-For and
	// X-Forwarded-Proto are believed. Those at a Unix socket always are.
	TrustedProxies []netip.Prefix
	// TLS serves HTTP/1.1 over TLS. Nil: without TLS.
	TLS *tls.Config

	// Limits bound what clients may use.
	Limits Limits
	// Drain is how long the server goes on serving at the end while /readyz fails,
	// so that load balancers send requests elsewhere. Default: 1s.
	Drain time.Duration
	// Grace is how long requests in flight may then take. Uploads are ended with an
	// error response after half of that time. Default: 30s.
	Grace time.Duration

	// Serving is called when the server begins to answer requests. Default: nothing.
	Serving func()
	// Log receives errors and warnings. Default: slog.Default().
	Log *slog.Logger
	// Access logs every request; nil disables it.
	Access *slog.Logger
	// Now returns the time. Default: time.Now.
	Now func() time.Time

	ownClock bool // the caller has set Now
}

// Limits bound what clients may use. A zero field means its default.
type Limits = door.Limits

// Token permits its bearer to use the server.
type Token = door.Token

// ErrToken is wrapped by the errors of [New] and [Server.Serve] for a missing token and
// for one that others could guess.
var ErrToken = door.ErrToken

func (o *Options) withDefaults() (Options, error) {
	out := *cmp.Or(o, &Options{})
	out.Tokens = slices.Clone(out.Tokens)
	if out.Token != "" {
		out.Tokens = append([]Token{{Name: "token", Value: out.Token}}, out.Tokens...)
	}
	if out.Addr != "" {
		if _, err := gpid.ParseAddr(out.Addr); err != nil {
			return out, fmt.Errorf("server: %w", err)
		}
	}
	if out.Grace < 0 || out.Drain < 0 || out.Session < 0 {
		return out, fmt.Errorf("server: grace of %v, drain of %v and session of %v, want no negative time", out.Grace, out.Drain, out.Session)
	}
	if out.Serving == nil {
		out.Serving = func() {}
	}
	out.Log = cmp.Or(out.Log, slog.Default())
	if out.ownClock = out.Now != nil; !out.ownClock {
		out.Now = time.Now
	}
	out.Session = cmp.Or(out.Session, 12*time.Hour)
	out.Drain = cmp.Or(out.Drain, time.Second)
	out.Grace = cmp.Or(out.Grace, 30*time.Second)
	out.Limits = out.Limits.WithDefaults()
	return out, nil
}

// DefaultLimits returns the limits that a zero Limits means.
func DefaultLimits() Limits { return Limits{}.WithDefaults() }
