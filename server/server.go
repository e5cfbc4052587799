// Package server serves oid over HTTP: an API for programs in any language, and a web
// page for human readers.
//
//	s, err := server.New(&server.Options{Open: openStore})
//	...
//	err = s.Serve(ctx, listener) // until ctx is done
//
// The API creates ObjectIds in bulk, shows when and by which process an id was created,
// turns time ranges into ranges of ids, and registers processes. It also takes a census
// of an uploaded dump: an analysis of all ids in it, see package census. The API is
// described at /openapi.json, which is generated from the types of package wire. The web
// page at / shows the same data, and mostly works without JavaScript.
//
// Processes are recorded in a registry, which is in a store, see packages registry and
// store. Without a store, the server still creates and reads ids.
//
// # Guarantees
//
// The server never creates an id twice. All ids come from one generator. Once the server
// is registered, only this generator uses its process value, as long as the registry
// keeps its data.
//
// If the store is locked, broken or unreachable, only the requests that need it fail.
//
// No client can exhaust the server or keep it from answering others, because everything
// that a client can use is bounded, see [Limits]:
//
//   - When all connections are in use, a new connection replaces the one whose client has
//     kept the server waiting longest.
//   - A client that sends or reads slowly occupies neither a request slot nor a processor.
//   - Large requests take turns. Small requests are answered meanwhile.
//   - An upload is analysed while it arrives, and never held in memory as a whole. The
//     analysis stops when the client disconnects.
//
// Without a token the server serves only its own host. It must listen on a loopback
// address, and it answers only requests that name a loopback host and did not come
// through a proxy. So no web site can reach it through a browser of this host. With or
// without a token, it refuses writes from pages of another origin.
//
// A token permits everything or is read-only. It must have at least 128 random bits,
// so that it cannot be guessed.
//
// # Limitations
//
// Over TLS the server speaks HTTP/1.1 only; a proxy in front of it may speak HTTP/2. If
// several servers share their tokens, a logout ends the session only at the server that
// receives it. At the others, the session lasts until Options.Session has passed.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/server/internal/door"
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
	links     towire.Links
}

// New returns a server that does not serve yet. A nil o means the zero Options. The
// error is about an invalid option or about the system's random numbers; for a bad token
// it wraps [ErrToken].
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
	if s.links, err = towire.ParseLinks(opts.Links); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s.door, err = door.New(&door.Options{
		Tokens:  each.Of(opts.Tokens, func(t Token) door.Token { return door.Token(t) }),
		Session: opts.Session, BaseURL: opts.BaseURL, TrustedProxies: opts.TrustedProxies, Limits: door.Limits(opts.Limits), Log: opts.Log,
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
	s.metrics.gauge("oid_generator_ahead_seconds", "How far the time in the last id is ahead of the clock.",
		func() float64 { return s.backend.generator().Lead().Seconds() })
	s.metrics.gauge("oid_processes_alive", "Processes that are alive, an estimate beyond 1,000; NaN if the store does not answer.", s.aliveNow)
	if opts.OpenLocks != nil {
		s.metrics.gauge("oid_locks_held", "Locks that are held; NaN if their backend does not answer.", s.heldNow)
	}
	s.metrics.gauge("oid_memory_taken_bytes", "Memory that requests and uploads take, as the server estimates it.",
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

// startPatience is how long Serve waits for the store before it accepts requests. If the
// server is registered by then, its first ids can already be traced.
const startPatience = 2 * time.Second

// ballast is the size of memory that is allocated but never written to, so it takes no
// RAM. It makes the garbage collector run less often: the next collection starts when the
// heap has doubled, which a small heap does forty times a second.
const ballast = 16 << 20

// Serve answers requests that arrive through l until ctx is done. It then waits for
// requests in flight, see Options.Drain and Options.Grace, records the end of the server
// in the registry, and closes the store and l. It returns nil if all this succeeded, and an
// error if a request was still in flight after Options.Grace. If l fails, Serve returns the
// error of l.
//
// A server without tokens serves only on a loopback address: with any other l, Serve returns
// at once an error that wraps [ErrToken].
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

// shutDown ends h as Options.Drain and Options.Grace say.
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

// addr returns the address that the registry records for the server.
func (s *Server) addr(l net.Listener) string {
	if s.options.Addr != "" {
		return s.options.Addr
	}
	if _, ok := l.Addr().(*net.UnixAddr); ok {
		return "127.0.0.1:0" // it listens on no port
	}
	return l.Addr().String()
}
