package server

import (
	"crypto/subtle"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// policy lets the page load what the server itself has, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// recorder remembers what was answered.
type recorder struct {
	http.ResponseWriter
	code  int
	bytes int64
}

func (r *recorder) WriteHeader(code int) {
	if r.code == 0 {
		r.code = code
	}
	r.ResponseWriter.WriteHeader(code)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.code == 0 {
		r.code = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController through.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

var recorders = sync.Pool{New: func() any { return new(recorder) }}

// ServeHTTP guards, counts and logs every request. It is used by [Server.Serve];
// behind another server it lacks the timeouts, and it takes every Host header.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := recorders.Get().(*recorder)
	*rec = recorder{ResponseWriter: w}
	began := time.Now()
	s.metrics.under.Inc()
	defer func() {
		s.metrics.under.Dec()
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			s.options.Log.Error("panic in a handler", "panic", p, "path", r.URL.Path, "stack", string(debug.Stack()))
			if rec.code != 0 {
				panic(http.ErrAbortHandler) // half an answer must not look like a whole one
			}
			s.refuse(rec, r, http.StatusInternalServerError, "something went wrong in the server; its log says what")
		}
		took := time.Since(began)
		s.metrics.request(route(r), method(r), rec.code, took)
		if s.options.Access != nil {
			s.options.Access.LogAttrs(r.Context(), slog.LevelInfo, "request",
				slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", rec.code),
				slog.Int64("bytes", rec.bytes), slog.Duration("took", took), slog.String("from", r.RemoteAddr))
		}
		recorders.Put(rec)
	}()
	h := rec.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if s.draining.Load() {
		h.Set("Connection", "close")
	}
	s.guard(rec, r)
}

// route is the pattern that r matched, for the metrics. A client must not be able
// to make up new ones.
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

// guard lets r through to the handlers, or says why not.
func (s *Server) guard(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.loopback.Load() && !isLoopbackHost(r.Host):
		s.refuse(w, r, http.StatusMisdirectedRequest, "this server answers for localhost only")
		return
	case !wellFormed(r.URL.RawQuery):
		s.refuse(w, r, http.StatusBadRequest, "the query of the URL cannot be read: parameters stand between &, in UTF-8, and a % before two hexadecimal digits")
		return
	case isOpen(r.URL.Path):
		s.mux.ServeHTTP(w, r)
		return
	case !s.authorized(r):
		s.refuseStranger(w, r)
		return
	}
	if s.origin.Check(r) != nil {
		s.refuse(w, r, http.StatusForbidden, "this request was made by a page of another origin")
		return
	}
	if !s.takeSlot(r) {
		w.Header().Set("Retry-After", "1")
		s.refuse(w, r, http.StatusServiceUnavailable, errBusy.Error())
		return
	}
	defer func() { <-s.slots }()
	if !isUpload(r) {
		if err := s.readBody(w, r, s.options.Limits.Body); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	s.mux.ServeHTTP(w, r)
}

// wellFormed reports whether all of a query can be read. What cannot be would be
// left out without a word, and a range without its bound is everything.
func wellFormed(query string) bool {
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

// isOpen reports whether a path is for everybody: what tells nothing and changes
// nothing.
func isOpen(path string) bool {
	return path == "/livez" || path == "/readyz" || path == "/login" || strings.HasPrefix(path, "/static/")
}

func isUpload(r *http.Request) bool {
	return r.Method == http.MethodPost && (r.URL.Path == "/v1/census" || r.URL.Path == "/census")
}

// slotPatience is how long a request waits for others to end, if the limit for the
// answer leaves so much.
const slotPatience = 5 * time.Second

func (s *Server) takeSlot(r *http.Request) bool {
	select {
	case s.slots <- struct{}{}:
		return true
	default:
	}
	t := time.NewTimer(min(slotPatience, s.options.Limits.Response/2))
	defer t.Stop()
	select {
	case s.slots <- struct{}{}:
		return true
	case <-t.C:
	case <-r.Context().Done():
	}
	return false
}

// cookie is the name of the cookie of somebody who has logged in.
const cookie = "oid_session"

// authorized reports whether r carries the token, or the cookie that stands for
// it.
func (s *Server) authorized(r *http.Request) bool {
	if s.options.Token == "" {
		return true
	}
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return equal(token, s.options.Token)
	}
	c, err := r.Cookie(cookie)
	return err == nil && equal(c.Value, s.session)
}

// equal compares in a time that tells nothing about b.
func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// refuseStranger asks a program for the token, and leads people to the page where
// they can give it.
func (s *Server) refuseStranger(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && wantsPage(r) {
		http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
		return
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="oid"`)
	s.refuse(w, r, http.StatusUnauthorized, "send the token of the server: Authorization: Bearer TOKEN")
}

// wantsPage reports whether r is of a browser that shows a page.
func wantsPage(r *http.Request) bool {
	return !isAPI(r.URL.Path) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

func isAPI(path string) bool {
	return strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/openapi") || path == "/metrics"
}

// refuse answers with an error: a page for people, otherwise problem+json.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, code int, text string) {
	if wantsPage(r) {
		s.errorPage(w, r, code, text)
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(code)
	// The client may be gone by now.
	_ = huma.DefaultJSONFormat.Marshal(w, huma.NewError(code, text))
}
