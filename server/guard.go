package server

import (
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// policy lets the page load files of this server only.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// everyAnswer has the headers of every answer.
var everyAnswer = map[string][]string{
	"Content-Security-Policy":      {policy},
	"X-Content-Type-Options":       {"nosniff"},
	"Referrer-Policy":              {"no-referrer"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
}

// recorder keeps the status and the size of a response.
type recorder struct {
	http.ResponseWriter
	code    int
	bytes   int64
	base    string // the path of the base URL, for redirects
	release func() // is called before the first byte of the body is sent; may be nil
}

func (r *recorder) WriteHeader(code int) {
	if r.code == 0 {
		r.code = code
		if to := r.Header().Get("Location"); r.base != "" && strings.HasPrefix(to, "/") {
			r.Header().Set("Location", r.base+to)
		}
	}
	r.ResponseWriter.WriteHeader(code)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.code == 0 {
		r.code = http.StatusOK
	}
	r.releaseOnce()
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
	return n, err
}

func (r *recorder) releaseOnce() {
	if r.release != nil {
		r.release()
		r.release = nil
	}
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

var recorders = sync.Pool{New: func() any { return new(recorder) }}

// ServeHTTP guards, counts and logs every request. [Server.Serve] uses it. A program
// that uses it with a server of its own must set the timeouts, and every Host header
// is accepted.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := recorders.Get().(*recorder)
	*rec = recorder{ResponseWriter: w, base: s.origin.path()}
	began := time.Now()
	r = s.origin.receive(r)
	id := requestIDOf(r)
	if c := connectionOf(r); c != nil {
		c.request.Store(&id)
	}
	s.metrics.inFlight.Inc()
	defer func() {
		s.metrics.inFlight.Dec()
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			s.options.Log.Error("panic in a handler", "request", id, "panic", p, "path", r.URL.Path, "stack", string(debug.Stack()))
			if rec.code != 0 {
				panic(http.ErrAbortHandler) // an incomplete response must not look complete
			}
			s.refuse(rec, r, http.StatusInternalServerError, internalText)
		}
		took := time.Since(began)
		s.metrics.request(route(r), method(r), rec.code, took)
		if s.options.Access != nil {
			s.options.Access.LogAttrs(r.Context(), slog.LevelInfo, "request",
				slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", rec.code),
				slog.Int64("bytes", rec.bytes), slog.Duration("took", took), slog.String("from", r.RemoteAddr), slog.String("request", id))
		}
		recorders.Put(rec)
	}()
	h := rec.Header()
	maps.Copy(h, everyAnswer)
	h["X-Request-Id"] = []string{id}
	if s.draining.Load() {
		h.Set("Connection", "close")
	}
	s.guard(rec, r)
}

// route returns the pattern that r matched, for the metrics. Clients cannot add
// values to it.
func route(r *http.Request) string {
	if _, path, ok := strings.Cut(r.Pattern, " "); ok {
		return path
	}
	if r.Pattern == "" {
		return "none"
	}
	return r.Pattern
}

func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "other"
}

// guard passes r to the handlers or refuses it.
func (s *Server) guard(w *recorder, r *http.Request) {
	if status, err := s.checkOrigin(r); err != nil {
		s.refuse(w, r, status, err.Error())
		return
	}
	switch {
	case s.origin.base != nil && r.URL.Path == s.origin.path() && r.URL.Path != "":
		http.Redirect(w, r, "/", http.StatusPermanentRedirect)
		return
	case !wellFormed(r.URL.RawQuery):
		s.refuse(w, r, http.StatusBadRequest, "the query of the URL is malformed: want parameters in UTF-8, separated by &, and two hexadecimal digits after each %")
		return
	case isOpen(r.URL.Path):
		s.mux.ServeHTTP(w, r)
		return
	case !s.authorize(w, r):
		return
	}
	if s.crossOrigin.Check(r) != nil {
		s.refuse(w, r, http.StatusForbidden, otherOriginText)
		return
	}
	if isUpload(r) {
		defer connectionOf(r).work()()
		s.mux.ServeHTTP(w, r)
		return
	}
	done, err := s.admit(w, r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer done()
	s.handler.ServeHTTP(w, r)
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

// isOpen reports whether a path needs no token: it reveals nothing and changes
// nothing.
func isOpen(path string) bool {
	return isHealth(path) || path == "/login" || strings.HasPrefix(path, "/static/")
}

func isUpload(r *http.Request) bool {
	return r.Method == http.MethodPost && (r.URL.Path == "/v1/census" || r.URL.Path == "/census")
}

// wantsPage reports whether r comes from a browser that loads a page.
func wantsPage(r *http.Request) bool {
	return !isAPI(r.URL.Path) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

func isAPI(path string) bool {
	return strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/openapi") || path == "/metrics"
}
