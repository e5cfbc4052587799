package server

import (
	"cmp"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/server/internal/door"
)

// contentPolicy lets the page load files of this server only.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// everyAnswer has the headers that every answer has.
var everyAnswer = map[string][]string{
	"Content-Security-Policy":      {contentPolicy},
	"X-Content-Type-Options":       {"nosniff"},
	"Referrer-Policy":              {"no-referrer"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Cache-Control":                {"no-store"}, // unless the answer has another; a cache in front may keep even a 404
}

// ServeHTTP answers one request. [Server.Serve] calls it. A program may instead use a
// Server as the Handler of its own http.Server. The program must then set the timeouts of
// that server and bound its connections. Without a token, it must also decide which clients
// and Host headers to accept: outside Serve, a Server without a token accepts all of them.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := s.door.Record(w)
	began := time.Now()
	r, id := s.door.Receive(r)
	s.metrics.inFlight.Inc()
	defer func() {
		s.metrics.inFlight.Dec()
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			s.options.Log.Error("panic in a handler", "request", id, "panic", p, "path", r.URL.Path, "stack", string(debug.Stack()))
			if rec.Code != 0 {
				panic(http.ErrAbortHandler) // an incomplete response must not look complete
			}
			s.refuse(rec, r, http.StatusInternalServerError, internalText)
		}
		took := time.Since(began)
		pattern := routeName(r)
		s.metrics.requests.WithLabelValues(pattern, methodName(r), strconv.Itoa(rec.Code)).Inc()
		s.metrics.duration.WithLabelValues(pattern).Observe(took.Seconds())
		if s.options.Access != nil {
			s.options.Access.LogAttrs(r.Context(), slog.LevelInfo, "request",
				slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", rec.Code),
				slog.Int64("bytes", rec.Bytes), slog.Duration("took", took), slog.String("from", r.RemoteAddr), slog.String("request", id))
		}
	}()
	h := rec.Header()
	maps.Copy(h, everyAnswer)
	h["X-Request-Id"] = []string{id}
	s.mux.ServeHTTP(rec, r)
}

// routeName returns the label of r's route in the metrics. It is one of the patterns in
// the table of routes, so clients cannot create new labels.
func routeName(r *http.Request) string {
	path := r.Pattern[strings.IndexByte(r.Pattern, ' ')+1:] // without the method, if it has one
	return cmp.Or(path, "none")
}

// methodName returns the label of r's method in the metrics. Clients cannot create new
// labels.
func methodName(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "other"
}

// gate is a humago.Mux whose handlers run only after the door has admitted the request.
type gate struct{ *Server }

// ServeHTTP implements humago.Mux.
func (g gate) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }

// HandleFunc implements humago.Mux. It panics if the table of routes has no such pattern.
func (g gate) HandleFunc(pattern string, do func(http.ResponseWriter, *http.Request)) {
	s := g.Server
	row := s.rows[pattern]
	if row == nil {
		panic("server: no row for " + pattern)
	}
	h := http.HandlerFunc(do)
	if !row.plain {
		h = door.Compress()(h)
	}
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		done, err := s.door.Enter(w.(*door.Recorder), r, row.Policy)
		if err != nil {
			s.refused(w, r, err)
			return
		}
		defer done()
		h.ServeHTTP(w, r)
	})
}

// refused answers a request that the door has refused. Browsers without a login get the
// login page.
func (s *Server) refused(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, door.ErrNoToken) {
		if s.wantsPage(r) {
			next := r.URL.RequestURI()
			if r.Method != http.MethodGet {
				next = r.URL.Path // without the body, which is lost
			}
			http.Redirect(w, r, "/login?next="+url.QueryEscape(next), http.StatusSeeOther)
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="oid"`)
	}
	s.fail(w, r, err)
}

// wantsPage reports whether r comes from a browser that loads a page.
func (s *Server) wantsPage(r *http.Request) bool {
	row := s.rows[r.Pattern]
	return (row == nil || !row.api) && strings.Contains(r.Header.Get("Accept"), "text/html")
}
