package server

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/census/report"
	"github.com/oidkit/oid/internal/phrase"
)

//go:embed static templates
var files embed.FS

// asset is a file that the pages load.
type asset struct {
	kind, tag string
	data      []byte
}

// assets are the files by name. Their URLs contain a hash of the content, so that
// browsers can cache them.
var assets = func() map[string]asset {
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
}()

// view is one part of the page.
type view struct {
	Path, Name, Key string
}

var views = []view{
	{"/", "Inspect", "1"},
	{"/range", "Range", "2"},
	{"/census", "Census", "3"},
	{"/processes", "Processes", "4"},
	{"/about", "About", "5"},
}

// frame is the data of a whole page, with a view in it.
type frame struct {
	Title   string
	Current string // the path of the view
	Views   []view
	Version string
	Data    any
}

var templates = func() map[string]*template.Template {
	names := []string{"inspect", "range", "census", "report", "processes", "process", "about", "error", "login"}
	out := map[string]*template.Template{}
	for _, name := range names {
		out[name] = template.Must(template.New("frame.html").Funcs(functions).
			ParseFS(files, "templates/frame.html", "templates/parts.html", "templates/"+name+".html"))
	}
	return out
}()

var functions = template.FuncMap{
	"asset":   func(name string) string { return "/static/" + assets[name].tag + "/" + name },
	"rfc3339": func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
	"moment":  moment,
	"ago":     func(t time.Time) string { return phrase.Ago(t, time.Now()) },
	"bytes":   func(n int64) string { return humanize.IBytes(uint64(n)) },
	"comma":   humanize.Comma,
}

// moment writes a time for people.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" }

func (s *Server) addPages() {
	s.mux.HandleFunc("GET /static/{tag}/{name}", serveAsset)
	s.mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/static/"+assets["icon.svg"].tag+"/icon.svg", http.StatusMovedPermanently)
	})
	s.addAbout()
	s.addLogin()
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, http.StatusNotFound, "no such page")
	})
}

func serveAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := assets[r.PathValue("name")]
	if !ok || a.tag != r.PathValue("tag") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Content-Type", a.kind)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.data))
}

// show answers with a view. It renders the page before it sends the first byte, so
// that an error does not leave an incomplete page.
func (s *Server) show(w http.ResponseWriter, r *http.Request, code int, name, title, current string, data any) {
	var b bytes.Buffer
	f := frame{title, current, views, s.options.Version, data}
	if err := templates[name].Execute(&b, f); err != nil {
		s.options.Log.ErrorContext(r.Context(), "page", "view", name, "error", err)
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(internalText + "\n"))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes()) // the client may have disconnected
}

// errorPage answers with an error as a page.
func (s *Server) errorPage(w http.ResponseWriter, r *http.Request, code int, text string) {
	current := ""
	for _, v := range views[1:] {
		if strings.HasPrefix(r.URL.Path, v.Path) {
			current = v.Path
		}
	}
	s.show(w, r, code, "error", http.StatusText(code), current, struct {
		Code  int
		Title string
		Text  string
	}{code, http.StatusText(code), text})
}

// fail answers with err.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	code := status(err)
	if code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	s.refuse(w, r, code, s.text(r.Context(), code, err))
}
