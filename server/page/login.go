package page

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// Login is the form, after which the browser goes to next.
func (s *Site) Login(next, wrong string) g.Node {
	return g.Group{
		heading("Log in", g.Text("This server requires a token. Its operator has the token file.")),
		problem(wrong),
		h.Form(h.Method("post"), h.Action(s.URL("/login")),
			h.Input(h.Type("hidden"), h.Name("next"), h.Value(next)),
			h.Label(h.For("token"), g.Text("Token")),
			h.Input(h.ID("token"), h.Name("token"), h.Type("password"), h.AutoComplete("current-password"), h.Required(), h.AutoFocus()),
			h.Div(h.Class("row"), h.Button(h.Type("submit"), g.Text("Log in")))),
	}
}
