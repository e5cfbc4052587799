package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oidkit/oid/server/page"
)

// Server answers requests. Create it with [New] and call [Server.Serve] once.
type Server struct {
	options     Options
	backend     *backend
	metrics     *metrics
	mux         *http.ServeMux
	handler     http.Handler // mux, for requests that are admitted
	origin      origin
	site        page.Site
	crossOrigin *http.CrossOriginProtection
	throttle    *throttle
	sessions    sessions
	loopback    atomic.Bool   // requests must be for a loopback name
	slots       chan struct{} // one for each request that is worked on
	heavy       chan struct{} // one for each of them that keeps a processor busy
	memory      *budget
	uploads     uploads
	draining    atomic.Bool
	connections atomic.Pointer[connections] // once it serves
	cut         context.Context             // ends when uploads must end
	cutNow      context.CancelFunc
	leaving     context.Context // ends when the server begins to stop
	leave       context.CancelFunc
	streams     chan struct{} // one for each stream of events
	reports     reportCache
	traces      traceCache
	alive       aliveCount
	overviews   overviews
	locks       *locks
	hosts       []string // the name of this host, for inspections
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
		options:     opts,
		metrics:     newMetrics(),
		mux:         http.NewServeMux(),
		crossOrigin: http.NewCrossOriginProtection(),
		throttle:    newThrottle(),
		slots:       make(chan struct{}, opts.Limits.Requests),
		uploads:     uploads{slots: make(chan struct{}, opts.Limits.Uploads), running: map[*upload]struct{}{}},
		heavy:       make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
	s.memory = newBudget(opts.Limits.Memory, func() {
		if c := s.connections.Load(); c != nil {
			c.freeMemory()
		}
	})
	if host, err := os.Hostname(); err == nil {
		s.hosts = []string{host}
	}
	if s.origin, err = newOrigin(opts.BaseURL, opts.TrustedProxies); err != nil {
		return nil, err
	}
	s.site = page.Site{
		Base: s.origin.path(), Version: opts.Version, Registry: opts.Open != nil, StoreName: opts.StoreName, ShowsLocks: opts.OpenLocks != nil,
	}
	if b := s.origin.base; b != nil {
		if err := s.crossOrigin.AddTrustedOrigin(b.Scheme + "://" + b.Host); err != nil {
			return nil, fmt.Errorf("server: base URL %q: %w", opts.BaseURL, err)
		}
	}
	s.cut, s.cutNow = context.WithCancel(context.Background())
	s.leaving, s.leave = context.WithCancel(context.Background())
	s.streams = make(chan struct{}, opts.Limits.maxStreams())
	if s.backend, err = newBackend(opts, s.metrics); err != nil {
		return nil, err
	}
	s.locks = newLocks(opts)
	s.metrics.gauge("oid_generator_ahead_seconds", "By how much the time in the last id leads the clock.",
		func() float64 { return s.backend.generator().Ahead().Seconds() })
	s.metrics.gauge("oid_processes_alive", "Processes that the registry shows alive; -1 if the store does not answer.", s.aliveNow)
	s.metrics.gauge("oid_memory_taken_bytes", "Memory taken by requests and uploads, by the server's own estimate.",
		func() float64 { return float64(s.memory.inUse()) })
	s.addAPI()
	s.addPages()
	s.addEvents()
	s.addHealth()
	s.handler = compress(tag(s.mux))
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
	loopback := isLoopback(l.Addr())
	s.loopback.Store(loopback)
	if !loopback && !s.hasTokens() {
		return fmt.Errorf("%w: %v can be reached by others, so a token is required; or listen on 127.0.0.1", ErrToken, l.Addr())
	}
	life, end := context.WithCancel(context.Background())
	defer end()
	var connecting sync.WaitGroup
	if s.options.Open != nil {
		ready := make(chan struct{})
		connecting.Go(func() { s.backend.run(life, s.addr(l), ready) })
		select {
		case <-ready:
		case <-time.After(startPatience):
		case <-ctx.Done():
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
		ConnContext:       withConnection,
		ErrorLog:          slog.NewLogLogger(s.options.Log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	open := newConnections(l, limits, s.origin.trusts, s.metrics.displaced.Inc)
	s.connections.Store(open)
	var listener net.Listener = open
	if opts := s.options; opts.TLS != nil {
		listener = tls.NewListener(open, opts.TLS)
	}
	go func() { failed <- h.Serve(listener) }()
	var err error
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
	s.draining.Store(true)
	time.Sleep(s.options.Drain)
	s.leave()
	defer time.AfterFunc(s.options.Grace/2, s.cutNow).Stop()
	ctx, cancel := context.WithTimeout(context.Background(), s.options.Grace)
	defer cancel()
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

// isLoopback reports whether only this machine can connect to a.
func isLoopback(a net.Addr) bool {
	if _, ok := a.(*net.UnixAddr); ok {
		return true
	}
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// isLoopbackHost reports whether the Host header names this machine in a way that no
// DNS server can redirect.
func isLoopbackHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	if len(name) > 2 && name[0] == '[' && name[len(name)-1] == ']' {
		name = name[1 : len(name)-1]
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}
