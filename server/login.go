package server

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/oidkit/oid/server/door"
)

// loginBody is the maximum size of the form, which needs no token.
const loginBody = 4 << 10

// showLogin shows the form in which people enter the token once. Their browser then
// sends a cookie instead.
func (s *Server) showLogin(w http.ResponseWriter, r *http.Request) {
	next := within(r.URL.Query().Get("next"))
	if !s.door.HasTokens() || s.door.InSession(r) {
		http.Redirect(w, r, next, http.StatusSeeOther)
		return
	}
	s.showAnyone(w, r, http.StatusOK, "Log in", "", s.site.Login(next, ""))
}

func (s *Server) logIn(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.fail(w, r, requestf("the request cannot be read as a form: %w", err))
		return
	}
	next := within(r.PostForm.Get("next"))
	if !s.door.HasTokens() {
		http.Redirect(w, r, next, http.StatusSeeOther)
		return
	}
	ok, err := s.door.LogIn(w, r, strings.TrimSpace(r.PostForm.Get("token")))
	var guessed *door.WaitError
	switch {
	case errors.As(err, &guessed):
		w.Header().Set("Retry-After", strconv.Itoa(guessed.Seconds()))
		text := fmt.Sprintf("Wrong tokens came from this address. Wait %d s before the next.", guessed.Seconds())
		s.showAnyone(w, r, http.StatusTooManyRequests, "Log in", "", s.site.Login(next, text))
	case !ok:
		s.showAnyone(w, r, http.StatusUnauthorized, "Log in", "", s.site.Login(next, "This token is wrong."))
	default:
		http.Redirect(w, r, next, http.StatusSeeOther)
	}
}

func (s *Server) logOut(w http.ResponseWriter, r *http.Request) {
	s.door.LogOut(w, r)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// within returns next if it is a path of this server, otherwise the start page.
func within(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}
