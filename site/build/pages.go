package main

import (
	"bytes"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/pattern"
	"github.com/oidkit/oid/internal/pure"
	"github.com/oidkit/oid/objectid"
)

// language is a language of the page.
type language struct {
	html, name string // in HTML, and in the language itself
	folder, up string // the folder of the page, and the way back from there
	infix      string // in the names of its files
	docs       string // its part of the map of documents
}

var languages = []language{{"en", "English", "", "", "", documentMap}, {"zh-CN", "中文", "zh/", "../", ".zh", documentMap + "#中文"}}

// scripts are the scripts of the page, in the order in which they run.
var scripts = []string{"wasm_exec.js", "load.js", "static.js", "census.js", "page.js"}

// pages renders the page in each language, and the manifest with which browsers install it.
func (b *builder) pages() {
	manifest, inline := string(b.files["manifest.json"]), string(b.files["clock.js"])+string(b.files["now.js"])
	delete(b.files, "now.js") // it is part of the pages
	for i, l := range languages {
		site := &page.Site{Static: true, Lang: l.html, Docs: repository + l.docs}
		if b.docs {
			site.Docs = l.up + published(l.docs)
		}
		frame := site.Start(&page.Start{New: &page.New{Count: page.FewIDs}}) // without new ids: every visitor would get the same
		other := languages[1-i]
		frame.Other = h.A(h.Class("lang"), h.Href(l.up+other.folder+"index.html"), h.Lang(other.html), g.Attr("hreflang", other.html), g.Text(other.name)) // page.js adds the fragment
		frame.Head = b.head(site, l, inline)
		frame.Below = g.Group{
			h.Template(h.ID("card"), site.Card(atOnce(objectid.MustParse(sample)))), h.Script(g.Raw(inline)),
			h.NoScript(h.P(h.Class("problem"), site.Prose("This page needs JavaScript. Without it, type `oid inspect` in a shell."))),
			landing(l, b.docs), // after what shows an id
		}
		var out bytes.Buffer
		b.ok(nil, site.Frame(frame).Render(&out))
		b.files[l.folder+"index.html"] = ages.Get().ReplaceAll(out.Bytes(), []byte("$1<"))
		b.files["manifest"+l.infix+".json"] = []byte(strings.NewReplacer("TITLE", site.Say(page.Title), "DESCRIPTION", site.Say(page.Description), "LANGUAGE", l.html, "FOLDER", l.folder).Replace(manifest))
	}
}

// ages finds the texts that say how long ago a time was. They are left out: clock.js writes them.
var ages = pattern.Of(`(data-ago="[^"]*">)[^<]*<`)

// sample is the id from whose card now.js makes the card of any other id.
const sample = "66f1a2b3c4d5e6f708192a3b"

// atOnce returns what now.js shows of an id: only what is true of every ObjectId.
func atOnce(id objectid.ID) page.Inspected {
	v := page.Read(id.String(), time.Time{}, func(text string) (page.Inspected, error) {
		r, err := inspect.Inspect(text, &inspect.Options{Layout: new(objectid.Modern)})
		return page.Inspected{Inspection: pure.Inspection(r)}, err
	})
	in := v.Cards[0]
	in.Readings = in.Readings[:1] // that of the layout; others depend on the bytes
	in.Readings[0].Variant, in.Readings[0].Verdict, in.Readings[0].Reason = "", string(inspect.Possible), "24 hexadecimal digits"
	return in
}

// head returns the elements of the head that package page does not write.
func (b *builder) head(site *page.Site, l language, inline string) g.Node {
	style := string(b.files["page.css"])
	policy := "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' '" + hash([]byte(inline)) + "'; style-src '" + hash([]byte(style)) +
		"'; img-src 'self' blob: data:; connect-src 'self'; worker-src 'self' blob:; manifest-src 'self'; base-uri 'none'; form-action 'none'"
	title, description := site.Say(page.Title), site.Say(page.Description)
	property := func(name, content string) g.Node { return h.Meta(g.Attr("property", name), h.Content(content)) }
	return g.Group{
		h.Meta(g.Attr("http-equiv", "Content-Security-Policy"), h.Content(policy)),
		h.Meta(h.Name("description"), h.Content(description)),
		property("og:type", "website"), property("og:title", title), property("og:description", description),
		g.If(b.url != "", g.Group{
			property("og:url", b.url+l.folder), property("og:image", b.url+"og.png"), h.Meta(h.Name("twitter:card"), h.Content("summary_large_image")),
			h.Link(h.Rel("canonical"), h.Href(b.url+l.folder)),
			g.Map(languages, func(l language) g.Node {
				return h.Link(h.Rel("alternate"), g.Attr("hreflang", l.html), h.Href(b.url+l.folder))
			}),
		}),
		h.StyleEl(g.Raw(style)),
		h.Link(h.Rel("icon"), h.Href(l.up+"icon.svg"), h.Type("image/svg+xml")),
		h.Link(h.Rel("apple-touch-icon"), h.Href(l.up+"icon-192.png")),
		h.Link(h.Rel("manifest"), h.Href(l.up+"manifest"+l.infix+".json")),
		g.Map(scripts, func(name string) g.Node { return g.If(b.files[name] != nil, h.Script(h.Src(l.up+name), h.Defer())) }),
	}
}
