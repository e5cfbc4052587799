// Package page renders the web page of a server. Package server gets the values from the
// registry, the store and the locks, and the functions of this package return HTML nodes
// for them. A view is one of the tabs: Ids, Ranges, Census, Processes, Locks.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/internal/report"
)

// Site has what all pages of a server have in common. [Site.Frame] returns a whole page, and
// most other methods return the contents of one view. Any number of goroutines may share it.
type Site struct {
	Base       string // path of the server's URL without a slash at its end; empty for the root
	Version    string // version of the program; may be empty
	Registry   bool   // the server has a registry
	StoreName  string // name of the store, such as PostgreSQL; may be empty
	ShowsLocks bool   // the server shows locks
	Lang       string // language of the page: zh is Chinese, empty is English

	fixed sync.Map // see once
}

// once renders a part that is the same on every page, and returns it from then on. name
// identifies the part.
func (s *Site) once(name string, part func() g.Node) g.Node {
	if n, ok := s.fixed.Load(name); ok {
		return n.(g.Node)
	}
	n := rendered(part())
	s.fixed.Store(name, n)
	return n
}

// URL returns the URL of a path on the server. The path begins with a slash. Every link of a
// page must be made by URL.
func (s *Site) URL(path string) string { return s.Base + path }

// view is the path and the name of a view.
type view struct {
	Path, Name string
}

// views returns all views of the server.
func (s *Site) views() []view {
	all := []view{{"/", "Ids"}, {"/range", "Ranges"}, {"/census", "Census"}, {"/processes", "Processes"}}
	if s.ShowsLocks {
		all = append(all, view{"/locks", "Locks"})
	}
	return all
}

// Frame is the data of a whole page, around the contents of a view.
type Frame struct {
	Title    string
	Current  string    // path of the view; empty if the page is none
	Session  bool      // the user has logged in, so the page has a button to log out
	Now      *Overview // shown at the top; nil if the client may not see it
	Contents g.Node
	Head     g.Node // in place of what makes the browser load the files of a server's page, unless nil
	Below    g.Node // stays below the contents when page.js shows others; may be nil
}

// Frame returns a whole page.
func (s *Site) Frame(f Frame) g.Node {
	return h.Doctype(h.HTML(s.language(),
		h.Head(g.Iff(f.Head == nil, func() g.Node { return s.once("head", s.head) }), f.Head, h.TitleEl(g.Text(f.Title+" · oid"))),
		h.Body(
			h.A(h.Class("skip"), h.Href("#main"), g.Text(s.Say("Skip to the content"))),
			h.Header(h.Class("top"), h.Div(h.Class("bar-in"),
				s.once("views "+f.Current, func() g.Node { return s.way(f.Current) }),
				g.Iff(f.Now != nil, func() g.Node { return f.Now.head }),
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
		h.Meta(h.Charset("utf-8")),
		h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
		h.Meta(h.Name("color-scheme"), h.Content("light dark")),
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
		})),
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

//go:embed static
var files embed.FS

// Asset is a file that the pages load.
type Asset struct {
	Type string // MIME type
	Tag  string // hash of the content
	Data []byte
}

// Assets returns all assets by name.
var Assets = sync.OnceValue(func() map[string]Asset {
	out := map[string]Asset{}
	entries, err := fs.ReadDir(files, "static")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, e := range entries {
		data, err := files.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err)
		}
		switch e.Name() {
		case "page.css":
			data = append([]byte(report.Style()), data...)
		case "page.js": // clock.js comes before it, by name as well
			data = slices.Concat(out["clock.js"].Data, data)
		}
		sum := sha256.Sum256(data)
		out[e.Name()] = Asset{mime.TypeByExtension(path.Ext(e.Name())), hex.EncodeToString(sum[:6]), data}
	}
	return out
})

// Path returns the path of an asset. It contains the hash of the content, so that browsers
// can cache the asset forever.
func Path(name string) string { return "/static/" + Assets()[name].Tag + "/" + name }

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
