package page

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/objectid"
)

// Bounds of the ids that the page creates.
const (
	FewIDs     = 5      // as long as nobody has asked for another number
	coloredIDs = 50     // shown with their fields in colours, one button each
	MaxIDs     = 10_000 // beyond, the API and the command are for it
)

// New is the data of the part of the start page that creates ids.
type New struct {
	Count  int
	Format string
	At     string // a time as somebody typed it, or empty
	Zone   string // in which a time without one is read; empty is UTC
	IDs    []objectid.ID
	Error  string
}

// newPanel shows new ids, and the form that creates more.
func (s *Site) newPanel(v *New) g.Node {
	how := notationOf(v.Format)
	var form g.Node
	if v.Count == FewIDs && v.Format+v.At+v.Zone == "" { // as on most pages
		form = s.once("new ids", func() g.Node { return s.newForm(v, how) })
	} else {
		form = s.newForm(v, how)
	}
	return h.Section(h.ID("new"), h.Class("panel card"), h.Aria("labelledby", "new-head"),
		h.H2(h.ID("new-head"), g.Text("New ids")),
		problem(v.Error),
		g.Iff(len(v.IDs) > 0, func() g.Node { return newIDsNode(v, how) }),
		form,
	)
}

func (s *Site) newForm(v *New, how notation) g.Node {
	return g.Group{
		h.Form(h.Method("post"), h.Action(s.URL("/new")), h.Data("new", ""),
			h.Input(h.Type("hidden"), h.Name("tz"), h.Value(v.Zone), h.Data("zone", "")),
			h.Div(h.Class("fields-row small"),
				field("count", "How many", h.Input(h.ID("count"), h.Name("count"), h.Type("number"), h.Min("1"), h.Max(strconv.Itoa(MaxIDs)), h.Value(strconv.Itoa(v.Count)))),
				field("format", "Format", h.Select(h.ID("format"), h.Name("format"), g.Map(notations, func(n notation) g.Node {
					return h.Option(h.Value(n.Name), h.Title(n.About), g.If(n.Name == how.Name, h.Selected()), g.Text(n.Name))
				}))),
				field("at", "Creation time", textInput("at", v.At, h.Placeholder("now")))),
			h.Div(h.Class("row"), h.Button(h.Type("submit"), g.Text("Create ids")))),
		soft(g.Text("No id is created twice, here or by another process of one registry that keeps its data. In a shell: "), h.Code(g.Textf("oid new -n %d", v.Count)), g.Text(".")),
	}
}

func newIDsNode(v *New, how notation) g.Node {
	if len(v.IDs) > coloredIDs || how.Name != "hex" {
		var text strings.Builder
		for _, id := range v.IDs {
			text.WriteString(how.write(id) + "\n")
		}
		return h.Div(h.Class("query-head made-ids"), h.Span(h.Class("soft"), g.Text(humanize.Comma(int64(len(v.IDs)))+" "+how.Name)),
			h.Pre(h.TabIndex("0"), h.Aria("label", "New ids"), h.Data("copy-all", ""), h.Code(g.Text(text.String()))))
	}
	return h.Ul(h.Class("made-ids plain"), h.Data("copy-all", ""), g.Map(v.IDs, func(id objectid.ID) g.Node {
		text := id.String()
		return h.Li(h.Class("id"), h.Data("copy", text), coloredDigits(text[:8], text[8:18], text[18:]))
	}))
}

// notation is a way to write an id, to paste it.
type notation struct {
	Name, About string
	write       func(objectid.ID) string
}

// notations are all ways. The first is the default.
var notations = []notation{
	{"hex", "24 hexadecimal digits", objectid.ID.String},
	{"mongosh", "MongoDB shell, Compass, Python", between(`ObjectId("`, `")`)},
	{"json", "Extended JSON", between(`{"$oid":"`, `"}`)},
	{"node", "Node and Java", between(`new ObjectId("`, `")`)},
	{"go", "package objectid", between(`objectid.MustParse("`, `")`)},
	{"sql", "binary column of SQLite and MySQL", between("X'", "'")},
	{"postgres", "BYTEA column of PostgreSQL", between(`'\x`, "'")},
	{"base64", "the twelve bytes", func(id objectid.ID) string { return base64.StdEncoding.EncodeToString(id[:]) }},
}

func between(before, after string) func(objectid.ID) string {
	return func(id objectid.ID) string { return before + id.String() + after }
}

// notationOf returns the notation with a name. An empty or unknown name means the first.
func notationOf(name string) notation {
	i := slices.IndexFunc(notations, func(n notation) bool { return n.Name == name })
	return notations[max(i, 0)]
}

// HasNotation reports whether ids can be written in a format. The empty one is the default.
func HasNotation(format string) bool { return format == "" || notationOf(format).Name == format }
