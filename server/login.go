package server

import (
	"net/http"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// wrongTokenDelay slows down clients that guess tokens.
const wrongTokenDelay = 500 * time.Millisecond

// loginBody is the maximum size of the form, which needs no token.
const loginBody = 4 << 10

// addLogin adds the form in which people enter the token once. Their browser then
// sends a cookie instead.
func (s *Server) addLogin() {
	s.mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		if s.authorized(r) {
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		s.show(w, r, http.StatusOK, "Log in", "", loginPage(within(r.URL.Query().Get("next")), ""))
	})
	s.mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		if s.origin.Check(r) != nil {
			s.refuse(w, r, http.StatusForbidden, otherOriginText)
			return
		}
		if err := s.readBody(w, r, loginBody); err != nil {
			s.fail(w, r, err)
			return
		}
		if err := r.ParseForm(); err != nil {
			s.fail(w, r, requestf("the request cannot be read as a form: %w", err))
			return
		}
		next := within(r.PostForm.Get("next"))
		if s.options.Token != "" && !equal(strings.TrimSpace(r.PostForm.Get("token")), s.options.Token) {
			time.Sleep(wrongTokenDelay)
			s.show(w, r, http.StatusUnauthorized, "Log in", "", loginPage(next, "This token is wrong."))
			return
		}
		http.SetCookie(w, &http.Cookie{
			Name: cookie, Value: s.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
		})
		http.Redirect(w, r, next, http.StatusSeeOther)
	})
}

// within returns next if it is a path of this server, otherwise the start page.
func within(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}

// loginPage is the form, after which the browser goes to next.
func loginPage(next, wrong string) g.Node {
	return g.Group{
		heading("Log in", g.Text("This server requires a token. Its operator has the token file.")),
		problem(wrong),
		h.Form(h.Method("post"), h.Action("/login"),
			h.Input(h.Type("hidden"), h.Name("next"), h.Value(next)),
			h.Label(h.For("token"), g.Text("Token")),
			h.Input(h.ID("token"), h.Name("token"), h.Type("password"), h.AutoComplete("current-password"), h.Required(), h.AutoFocus()),
			h.Div(h.Class("row"), h.Button(h.Type("submit"), g.Text("Log in")))),
	}
}
