package server

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// loginBody is the maximum size of the form, which needs no token.
const loginBody = 4 << 10

// addLogin adds the form in which people enter the token once. Their browser then
// sends a cookie instead.
func (s *Server) addLogin() {
	s.mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		next := within(r.URL.Query().Get("next"))
		if !s.hasTokens() || s.sessionOf(r) != nil {
			http.Redirect(w, r, next, http.StatusSeeOther)
			return
		}
		s.showAnyone(w, r, http.StatusOK, "Log in", "", s.site.Login(next, ""))
	})
	s.mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		if s.crossOrigin.Check(r) != nil {
			s.refuse(w, r, http.StatusForbidden, otherOriginText)
			return
		}
		a := s.allowance(r)
		defer a.release()
		if _, err := s.readBody(w, r, loginBody, a); err != nil {
			s.fail(w, r, err)
			return
		}
		if err := r.ParseForm(); err != nil {
			s.fail(w, r, requestf("the request cannot be read as a form: %w", err))
			return
		}
		next := within(r.PostForm.Get("next"))
		if !s.hasTokens() {
			http.Redirect(w, r, next, http.StatusSeeOther)
			return
		}
		t, wait := s.tryToken(r, strings.TrimSpace(r.PostForm.Get("token")))
		switch {
		case wait > 0:
			text := fmt.Sprintf("Wrong tokens came from this address. Wait %d s before the next.", retryAfter(w, wait))
			s.showAnyone(w, r, http.StatusTooManyRequests, "Log in", "", s.site.Login(next, text))
		case t == nil:
			s.showAnyone(w, r, http.StatusUnauthorized, "Log in", "", s.site.Login(next, "This token is wrong."))
		default:
			s.setCookie(w, r, newSession(t, time.Now().Add(s.options.Session)), int(s.options.Session/time.Second))
			http.Redirect(w, r, next, http.StatusSeeOther)
		}
	})
	s.mux.HandleFunc("POST /logout", func(w http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie(cookie); err == nil && s.sessionOf(r) != nil {
			s.sessions.end(c.Value, time.Now().Add(s.options.Session))
		}
		s.setCookie(w, r, "", -1)
		http.Redirect(w, r, "/login", http.StatusSeeOther)
	})
}

// setCookie sets the cookie of a session; an age below 0 removes it.
func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookie, Value: value, MaxAge: age, Path: s.origin.path() + "/",
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.origin.secure(r),
	})
}

// within returns next if it is a path of this server, otherwise the start page.
func within(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}
