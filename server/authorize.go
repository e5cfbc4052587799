package server

import (
	"crypto/subtle"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"
)

// cookie is the name of the cookie that a browser gets when its user logs in.
const cookie = "oid_session"

// authorize reports whether r carries a token or the cookie of a login that permits
// it. Otherwise it has answered r.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) bool {
	if !s.hasTokens() {
		return true
	}
	var t *Token
	if value, ok := bearer(r); ok {
		var wait time.Duration
		if t, wait = s.tryToken(r, value); wait > 0 {
			s.refuseGuess(w, r, wait)
			return false
		}
	} else {
		t = s.sessionOf(r)
	}
	switch {
	case t == nil:
		s.requireAuth(w, r)
		return false
	case !t.permits(r):
		s.refuse(w, r, http.StatusForbidden, "the token "+strconv.Quote(t.Name)+" is for reading only; this request needs another")
		return false
	}
	return true
}

// tokenOf returns the token by which r was permitted, or nil on a server without.
func (s *Server) tokenOf(r *http.Request) *Token {
	if value, ok := bearer(r); ok {
		return s.tokenFor(value)
	}
	return s.sessionOf(r)
}

// tryToken returns the token with a value, or nil. After wrong ones it returns how
// long to wait instead.
func (s *Server) tryToken(r *http.Request, value string) (t *Token, wait time.Duration) {
	from := clientOf(r)
	if wait = s.throttle.wait(from, value); wait > 0 {
		return nil, wait
	}
	t = s.tokenFor(value)
	if n := s.throttle.note(from, value, t != nil); t == nil {
		s.options.Log.LogAttrs(r.Context(), slog.LevelWarn, "wrong token", slog.String("from", addressText(from)), slog.Int("wrong", n), slog.String("request", requestID(r.Context())))
	}
	return t, 0
}

// addressText writes the address of a client for the log.
func addressText(a netip.Addr) string {
	if !a.IsValid() {
		return "a Unix socket"
	}
	if a.Is6() {
		return a.String() + "/64"
	}
	return a.String()
}

// refuseGuess answers a client that has sent wrong tokens.
func (s *Server) refuseGuess(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	seconds := retryAfter(w, wait)
	s.refuse(w, r, http.StatusTooManyRequests, fmt.Sprintf("wrong tokens came from this address; wait %d s before the next", seconds))
}

// retryAfter sets the header and returns its seconds.
func retryAfter(w http.ResponseWriter, wait time.Duration) int {
	seconds := int((wait + time.Second - 1) / time.Second)
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	return seconds
}

// equal compares in constant time.
func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// requireAuth asks a program for the token, and redirects a browser to the login
// page.
func (s *Server) requireAuth(w http.ResponseWriter, r *http.Request) {
	if wantsPage(r) {
		next := r.URL.RequestURI()
		if r.Method != http.MethodGet {
			next = r.URL.Path // what was sent is lost
		}
		http.Redirect(w, r, "/login?next="+url.QueryEscape(next), http.StatusSeeOther)
		return
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="oid"`)
	s.refuse(w, r, http.StatusUnauthorized, "the server requires its token; send the header Authorization: Bearer TOKEN")
}
