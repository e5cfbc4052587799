package server

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/census/report"
)

//go:embed static
var files embed.FS

// asset is a file that the pages load.
type asset struct {
	kind, tag string
	data      []byte
}

// assets are the files by name. Their URLs contain a hash of the content, so that
// browsers can cache them.
var assets = sync.OnceValue(func() map[string]asset {
	out := map[string]asset{}
	entries, err := fs.ReadDir(files, "static")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, e := range entries {
		data, err := files.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err)
		}
		if e.Name() == "page.css" {
			data = append([]byte(report.Style()), data...)
		}
		sum := sha256.Sum256(data)
		out[e.Name()] = asset{mime.TypeByExtension(path.Ext(e.Name())), hex.EncodeToString(sum[:6]), data}
	}
	return out
})

// view is one part of the page.
type view struct {
	Path, Name string
}

// views returns the views that the server has.
func (s *Server) views() []view {
	all := []view{{"/", "Ids"}, {"/range", "Ranges"}, {"/census", "Census"}, {"/processes", "Processes"}}
	if s.options.OpenLocks != nil {
		all = append(all, view{"/locks", "Locks"})
	}
	return append(all, view{"/about", "About"})
}

// assetURL returns the path of a file.
func assetURL(name string) string { return "/static/" + assets()[name].tag + "/" + name }

// frame returns a whole page with the contents of a view, whose path is current. Its
// head has alive, see aliveNode. A session can be ended.
func (s *Server) frame(title, current string, session bool, alive, contents g.Node) g.Node {
	views := s.views()
	key := 0
	return h.Doctype(h.HTML(h.Lang("en"),
		h.Head(
			h.Meta(h.Charset("utf-8")),
			h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
			h.Meta(h.Name("color-scheme"), h.Content("light dark")),
			h.TitleEl(g.Text(title+" · oid")),
			h.Link(h.Rel("stylesheet"), h.Href(assetURL("page.css"))),
			h.Link(h.Rel("icon"), h.Href(assetURL("icon.svg")), h.Type("image/svg+xml")),
			h.Script(h.Src(assetURL("page.js")), h.Defer()),
			h.Script(h.Src(assetURL("live.js")), h.Defer()),
		),
		h.Body(
			h.A(h.Class("skip"), h.Href("#main"), g.Text("Skip to the content")),
			h.Header(h.Class("top"), h.Div(h.Class("bar-in"),
				h.A(h.Class("brand"), h.Href("/"), h.Aria("label", "oid, start page"),
					h.Span(h.Class("brand-a"), g.Text("o")), h.Span(h.Class("brand-b"), g.Text("i")), h.Span(h.Class("brand-c"), g.Text("d"))),
				h.Nav(h.Aria("label", "Views"), g.Map(views, func(v view) g.Node {
					key++
					return h.A(h.Href(v.Path), h.Data("key", strconv.Itoa(key)), g.If(v.Path == current, h.Aria("current", "page")), g.Text(v.Name))
				})),
				alive,
				h.Div(h.Class("zone"), g.Attr("hidden"), h.Label(h.For("zone"), g.Text("Time zone")), h.Select(h.ID("zone"), h.AutoComplete("off"))),
			)),
			h.Main(h.ID("main"), h.TabIndex("-1"), contents),
			h.Footer(h.P(h.Class("soft"), g.Text(strings.TrimSpace("oid "+s.options.Version)), h.Span(h.Class("keys"),
				g.Text(" · keys: "), h.Kbd(g.Text("1")), g.Text("–"), h.Kbd(g.Text(strconv.Itoa(len(views)))), g.Text(" views, "),
				h.Kbd(g.Text("/")), g.Text(" input, "), h.Kbd(g.Text("c")), g.Text(" copy"))),
				g.Iff(session, func() g.Node {
					return h.Form(h.Method("post"), h.Action("/logout"), h.Button(h.Type("submit"), h.Class("quiet"), g.Text("Log out")))
				})),
			h.Div(h.ID("said"), h.Class("said"), h.Role("status"), h.Aria("live", "polite")),
		),
	))
}

// showNow answers with the parts of the start page that change by themselves.
func (s *Server) showNow(w http.ResponseWriter, r *http.Request) {
	now := s.overview(r.Context())
	s.send(w, http.StatusOK, g.Group{s.aliveNode(&now), startCards(&now, time.Now())})
}

func (s *Server) noPage(w http.ResponseWriter, r *http.Request) {
	s.refuse(w, r, http.StatusNotFound, "no such page")
}

func serveAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := assets()[r.PathValue("name")]
	if !ok || a.tag != r.PathValue("tag") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Content-Type", a.kind)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.data))
}

// show answers with the contents of a view, whose path is current. The page is complete
// before its first byte is sent: from then on the request has no slot, see admit.
func (s *Server) show(w http.ResponseWriter, r *http.Request, code int, title, current string, contents g.Node) {
	now := s.overview(r.Context())
	s.send(w, code, s.frame(title, current, s.door.InSession(r), s.aliveNode(&now), contents))
}

// showAnyone answers as show does, with nothing that only those may know who are
// admitted.
func (s *Server) showAnyone(w http.ResponseWriter, r *http.Request, code int, title, current string, contents g.Node) {
	s.send(w, code, s.frame(title, current, s.door.InSession(r), nil, contents))
}

// send answers with HTML.
func (s *Server) send(w http.ResponseWriter, code int, html g.Node) {
	var b bytes.Buffer
	_ = html.Render(&b) // to memory, without errors
	page := rebase(b.Bytes(), s.door.Base())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = w.Write(page) // the client may have disconnected
}

// rebase puts the path of the base URL before all links of a page.
func rebase(page []byte, base string) []byte {
	if base == "" {
		return page
	}
	for _, attribute := range []string{`href="/`, `action="/`, `src="/`} { // text cannot contain a quote that is not escaped
		with := attribute[:len(attribute)-1] + base + "/"
		page = bytes.ReplaceAll(page, []byte(" "+attribute), []byte(" "+with))
	}
	return page
}

// errorPage answers with an error as a page.
func (s *Server) errorPage(w http.ResponseWriter, r *http.Request, code int, text string) {
	current := ""
	for _, v := range s.views()[1:] {
		if strings.HasPrefix(r.URL.Path, v.Path) {
			current = v.Path
		}
	}
	title := http.StatusText(code)
	s.showAnyone(w, r, code, title, current, g.Group{h.H1(g.Text(title)), problem(text), h.P(h.Class("soft"), g.Textf("Status %d.", code))})
}
