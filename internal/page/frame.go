//go:build !js

package page

import (
	"net/http"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// Frame returns a whole page.
func (s *Site) Frame(f Frame) g.Node {
	return h.Doctype(h.HTML(s.language(),
		h.Head(g.Raw(`<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">`),
			g.Iff(f.Head == nil, func() g.Node { return s.once("head", s.head) }), f.Head, h.TitleEl(g.Text(f.Title+" · oid"))),
		h.Body(
			h.A(h.Class("skip"), h.Href("#main"), g.Text(s.Say("Skip to the content"))),
			h.Header(h.Class("top"), h.Div(h.Class("bar-in"),
				s.once("views "+f.Current, func() g.Node { return s.way(f.Current) }),
				g.Iff(f.Now != nil, func() g.Node { return f.Now.head }),
				g.If(s.Static, h.P(h.ID("alive"), h.Class("soft"), g.Text(s.Say("Nothing that you paste or drop leaves this browser.")))),
				f.Other,
				h.Div(h.Class("zone"), g.Attr("hidden"), h.Label(h.For("zone"), g.Text(s.Say("Time zone"))), h.Select(h.ID("zone"), h.AutoComplete("off"))),
			)),
			h.Main(h.ID("main"), h.TabIndex("-1"), f.Contents),
			f.Below,
			h.Footer(s.once("foot "+strconv.FormatBool(f.Now != nil), func() g.Node { return s.foot(f.Now != nil) }), g.Iff(f.Session, func() g.Node {
				return h.Form(h.Method("post"), h.Action(s.URL("/logout")), h.Button(h.Type("submit"), h.Class("quiet"), g.Text("Log out")))
			})),
			h.Div(h.ID("said"), h.Class("said"), h.Role("status"), h.Aria("live", "polite")),
		),
	))
}

// head returns the elements that make the browser load the files of the page.
func (s *Site) head() g.Node {
	return g.Group{
		h.Link(h.Rel("stylesheet"), h.Href(s.URL(Path("page.css")))),
		h.Link(h.Rel("icon"), h.Href(s.URL(Path("icon.svg"))), h.Type("image/svg+xml")),
		h.Script(h.Src(s.URL(Path("page.js"))), h.Defer()),
		h.Script(h.Src(s.URL(Path("live.js"))), h.Defer()),
	}
}

// way returns the links to all views. The view with the path current is marked.
func (s *Site) way(current string) g.Node {
	key := 0
	return g.Group{
		h.A(h.Class("brand"), h.Href(s.URL("/")), h.Aria("label", s.Say("oid, start page")),
			h.Span(h.Class("brand-a"), g.Text("o")), h.Span(h.Class("brand-b"), g.Text("i")), h.Span(h.Class("brand-c"), g.Text("d"))),
		h.Nav(h.Aria("label", s.Say("Views")), g.Map(s.views(), func(v view) g.Node {
			key++
			return h.A(h.Href(s.URL(v.Path)), h.Data("key", strconv.Itoa(key)), g.If(v.Path == current, h.Aria("current", "page")), g.Text(s.Say(v.Name)))
		}), g.If(s.Docs != "", h.A(h.Href(s.Docs), g.Text(s.Say("Docs"))))),
	}
}

// foot returns the version of the program and the keys of the page. If api is set, it also
// links the description of the API.
func (s *Site) foot(api bool) g.Node {
	return h.P(h.Class("soft"), g.Text(strings.TrimSpace("oid "+s.Version)), g.If(api, g.Group{g.Text(" · "), h.A(h.Href(s.URL("/openapi.json")), g.Text("HTTP API"))}), h.Span(h.Class("keys"),
		g.Text(s.Say(" · keys: ")), h.Kbd(g.Text("1")), g.Text("–"), h.Kbd(g.Text(strconv.Itoa(len(s.views())))), g.Text(s.Say(" views, ")),
		h.Kbd(g.Text("/")), g.Text(s.Say(" input, ")), h.Kbd(g.Text("c")), g.Text(s.Say(" copy"))))
}

// Error returns the page for a request of path that failed with an HTTP status. text says
// what went wrong. The page shows nothing that needs a token.
func (s *Site) Error(path string, status int, text string, session bool) g.Node {
	current := ""
	for _, v := range s.views()[1:] {
		if strings.HasPrefix(path, v.Path) {
			current = v.Path
		}
	}
	title := http.StatusText(status)
	return s.Frame(Frame{Title: title, Current: current, Session: session, Contents: g.Group{
		h.H1(g.Text(title)), problem(text),
		g.If(status == http.StatusNotFound, h.P(h.A(h.Href(s.URL("/")), g.Text("Read an id, or create one")))), soft(g.Textf("Status %d.", status)),
	}})
}

// Login returns the login form. After a login, the browser goes to the path next. If wrong
// is not empty, the form shows it.
func (s *Site) Login(next, wrong string) g.Node {
	return g.Group{
		heading("Log in", g.Text("This server requires a token. Ask its operator for one.")),
		problem(wrong),
		h.Form(h.Method("post"), h.Action(s.URL("/login")),
			h.Input(h.Type("hidden"), h.Name("next"), h.Value(next)),
			h.Label(h.For("token"), g.Text("Token")),
			h.Input(h.ID("token"), h.Name("token"), h.Type("password"), h.AutoComplete("current-password"), h.Required(), h.AutoFocus()),
			h.Div(h.Class("row"), h.Button(h.Type("submit"), g.Text("Log in")))),
	}
}
