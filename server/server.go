package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/oidkit/oid/server/door"
	"github.com/oidkit/oid/server/page"
	"github.com/oidkit/oid/server/wire"
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
	reports   reportCache
	known     recent[traceKey, wire.Trace]
	unknown   recent[traceKey, wire.Trace]
	claimed   claimed
	lists     recent[listKey, processList]
	inspected recent[string, page.Start] // by the text that was pasted
	overviews overviews
	locks     *locks
	hosts     []string // the name of this host, for inspections
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
	if host, err := os.Hostname(); err == nil {
		s.hosts = []string{host}
	}
	s.site = page.Site{
		Base: s.door.Base(), Version: opts.Version, Registry: opts.Open != nil, StoreName: opts.StoreName, ShowsLocks: opts.OpenLocks != nil,
	}
	if s.backend, err = newBackend(opts, s.metrics); err != nil {
		return nil, err
	}
	s.locks = newLocks(opts)
	s.metrics.gauge("oid_generator_ahead_seconds", "By how much the time in the last id leads the clock.",
		func() float64 { return s.backend.generator().Ahead().Seconds() })
	s.metrics.gauge("oid_processes_alive", "Processes that the registry shows alive, roughly beyond 1,000; -1 if no store answers.", s.aliveNow)
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
		ConnContext:       door.WithConnection,
		ErrorLog:          slog.NewLogLogger(s.options.Log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	if opts := s.options; opts.TLS != nil {
		listener = tls.NewListener(listener, opts.TLS)
	}
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
