package main

import (
	"bytes"
	"embed"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/pattern"
)

const (
	documentMap = "docs/README.md" // the list of all documents, which is shown beside each of them
	repository  = "https://github.com/oidkit/oid/blob/main/"
)

// markdown reads the Markdown of GitHub. The patterns below change the HTML that it writes.
var (
	markdown = goldmark.New(goldmark.WithRendererOptions(html.WithUnsafe()), goldmark.WithExtensions(extension.Linkify,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))))

	comment   = pattern.Of(`(?s)\s*<!--.*?-->`)
	link      = pattern.Of(`(<a href|<img src)="([^"#:]+)(#[^"]*)?"`)
	heading   = pattern.Of(`<h([1-6])>(.*)</h[1-6]>`)
	notInName = pattern.Of(`<[^>]*>|&\w+;|[^\p{L}\p{M}\p{N} _-]`)
	code      = pattern.Of(`(?s)<pre><code class="language-(\w+)">(.*?)</code>`)
	command   = pattern.Of(`(?m)^\$ (.*)$|^.*\n?`)
	wide      = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>", "<th></th>", "<td></td>", "<th>", `<th scope="col">`, `<th align="right"`, `<th scope="col" class="n"`, ` align="right"`, ` class="n"`)
)

//go:embed landing.md landing.zh.md
var landings embed.FS

// documents adds an HTML page for the map of the documents to files, and for every document that
// can be reached from there by links. Each page has the path of its document. Pictures are added
// too. root is the folder of the repository.
func documents(root string, files map[string][]byte) error {
	d := renderer{true, []string{documentMap}}
	links, err := os.ReadFile(filepath.Join(root, documentMap))
	for i := 0; i < len(d.names) && err == nil; i++ { // render appends
		var data []byte
		if data, err = os.ReadFile(filepath.Join(root, d.names[i])); path.Ext(d.names[i]) == ".md" && err == nil {
			data = d.page(d.names[i], data, links)
		}
		files[published(d.names[i])] = data
	}
	return err
}

// renderer turns Markdown into HTML.
type renderer struct {
	docs  bool     // documents and pictures are published, so links lead to them, not to the repository
	names []string // paths in the repository of the documents and pictures that links lead to
}

// published returns the path of the page of a document, or of a picture. The README of the
// repository does not become index.html, which is the static page.
func published(name string) string {
	return strings.Replace(strings.Replace(name, "/README.md", "/index.html", 1), ".md", ".html", 1)
}

// render returns a document as HTML within the page shown. Comments, such as those with the
// evidence of a sentence, are left out. The button above a block of code copies it, or the
// commands of a session at a terminal.
func (d *renderer) render(shown, file string, source []byte) string {
	var b bytes.Buffer
	_ = markdown.Convert(source, &b) // to memory
	text := comment.Get().ReplaceAllString(b.String(), "")
	text = link.Get().ReplaceAllStringFunc(text, func(found string) string {
		m := link.Get().FindStringSubmatch(found)
		name := path.Join(path.Dir(file), m[2])
		if !d.docs || !slices.Contains([]string{".md", ".svg", ".png"}, path.Ext(name)) {
			return m[1] + `="` + repository + name + m[3] + `"`
		}
		if !slices.Contains(d.names, name) {
			d.names = append(d.names, name)
		}
		to, _ := filepath.Rel(path.Dir(shown), published(name)) // neither is absolute
		return m[1] + `="` + filepath.ToSlash(to) + m[3] + `"`
	})
	return wide.Replace(code.Get().ReplaceAllStringFunc(text, func(found string) string {
		m := code.Get().FindStringSubmatch(found)
		copied := m[2]
		if m[1] == "console" {
			copied = command.Get().ReplaceAllString(copied, "$1")
		}
		return `<div class="query-head" data-copy="` + strings.TrimSpace(copied) + `"><span class="soft">` + m[1] + `</span></div>` + found
	}))
}

// landing returns the text below the converter. If docs is set, its links lead to the documents in
// the folder, otherwise to the repository.
func landing(l language, docs bool) g.Node {
	text, _ := landings.ReadFile("landing" + l.infix + ".md") // it is part of the program
	contents := (&renderer{docs: docs}).render(l.folder+"index.html", "", text)
	return h.Section(h.Class("landing"), h.Aria("labelledby", "about"), g.Raw(strings.Replace(contents, "<h2>", `<h2 id="about">`, 1)))
}

// anchored makes each heading a link to itself, with a name by GitHub's rule.
func anchored(text string) string {
	seen := map[string]int{}
	return heading.Get().ReplaceAllStringFunc(text, func(found string) string {
		m := heading.Get().FindStringSubmatch(found)
		name := strings.ReplaceAll(strings.ToLower(notInName.Get().ReplaceAllString(m[2], "")), " ", "-")
		if seen[name]++; seen[name] > 1 {
			name += "-" + strconv.Itoa(seen[name]-1)
		}
		return `<h` + m[1] + ` id="` + name + `"><a href="#` + name + `">` + m[2] + `</a></h` + m[1] + `>`
	})
}

// documentHead returns what loads the files of a document's page, which are in the folder up.
func documentHead(up string) g.Node {
	return g.Group{
		h.Meta(g.Attr("http-equiv", "Content-Security-Policy"), h.Content("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'")),
		h.Link(h.Rel("stylesheet"), h.Href(up+"page.css")), h.Link(h.Rel("stylesheet"), h.Href(up+"docs.css")), h.Link(h.Rel("icon"), h.Href(up+"icon.svg"), h.Type("image/svg+xml")),
		h.Script(h.Src(up+"clock.js"), h.Defer()), h.Script(h.Src(up+"page.js"), h.Defer()),
	}
}

// page returns the page of a document, with a list of links to all documents beside it. links is
// the map of the documents, whose last section has the documents in Chinese: a page in Chinese
// has these links, any other page has all links.
func (d *renderer) page(name string, source, links []byte) []byte {
	title, _, _ := strings.Cut(strings.ReplaceAll(string(source), "`", ""), "\n")
	up, shown := strings.Repeat("../", strings.Count(name, "/")), published(name)
	l, from := languages[0], bytes.Index(links, []byte("\n## "))
	if strings.Contains(name, "zh-CN") {
		l, from = languages[1], bytes.LastIndex(links, []byte("\n## "))
	}
	site := &page.Site{Static: true, Lang: l.html, Base: up + l.folder + "index.html", Docs: up + published(l.docs)}
	self := `href="` + path.Base(shown) + `"`
	beside := strings.ReplaceAll(d.render(shown, documentMap, links[from:]), self, self+` aria-current="page"`)
	var b bytes.Buffer
	_ = site.Frame(page.Frame{Title: strings.TrimPrefix(title, "# "), Head: documentHead(up), Contents: h.Div(h.Class("document"),
		h.Article(g.Raw(anchored(d.render(shown, name, source))), h.P(h.Class("soft"), h.A(h.Href(repository+name), g.Text(site.Say("This page on GitHub"))))),
		h.Nav(h.Aria("label", site.Say("Docs")), g.Raw(beside)))}).Render(&b) // to memory
	return b.Bytes()
}
