package page

import (
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/report"
)

// Census is the data of the page with the form.
type Census struct {
	Upload int64    // maximum in bytes
	Past   []Report // latest first
	Error  string
}

// MaxReports is how many reports a server keeps.
const MaxReports = 32

// keptText says how long a report has its link.
var keptText = fmt.Sprintf("The server keeps the last %d reports, each under its link, in memory until it stops.", MaxReports)

// Census returns the form that takes a file, and the reports that are kept.
func (s *Site) Census(v *Census) g.Node {
	return g.Group{
		heading("Census of a collection", g.Text("Analyse all ids of a file of mongodump ("), h.Code(g.Text(".bson")),
			g.Text(", archive), mongoexport (JSON, CSV), a list of ids, or any text; gzip too. The file is not stored.")),
		problem(v.Error),
		h.Form(h.Method("post"), h.Action(s.URL("/census")), h.EncType("multipart/form-data"), h.Data("upload", ""),
			h.Div(h.Class("fields-row"), field("field", "Field", textInput("field", "_id")), field("tz", "Time zone", textInput("tz", "UTC", h.Data("zone", ""))),
				h.Div(h.Class("check"), h.Input(h.ID("grep"), h.Name("grep"), h.Type("checkbox"), h.Value("yes")),
					h.Label(h.For("grep"), g.Text("any text: every 24 hex digits are an id")))),
			h.Div(h.Class("drop"), h.Label(h.For("file"), g.Text("Choose a file, or drop it here")),
				h.Input(h.ID("file"), h.Name("file"), h.Type("file"), h.Required()), soft(g.Text("up to "+bytesText(v.Upload)))),
			h.Div(h.Class("row"), h.Button(h.Type("submit"), g.Text("Take the census"))),
			h.Div(h.Class("progress"), g.Attr("hidden"), h.Progress(h.Max("1"), h.Value("0"), h.Aria("label", "Upload")),
				g.Text(" "), h.Span(h.Class("soft")))),
		h.Div(h.ID("result"), g.Iff(len(v.Past) > 0, func() g.Node {
			return g.Group{
				h.H2(g.Text("Reports")),
				panel("scroll", "Reports", h.Table(
					h.THead(h.Tr(h.Th(h.Scope("col"), g.Text("source")), h.Th(h.Scope("col"), h.Class("n"), g.Text("ids")), h.Th(h.Scope("col"), g.Text("taken")))),
					h.TBody(g.Map(v.Past, func(p Report) g.Node {
						return h.Tr(h.Td(h.Class("wide"), h.A(h.Href(s.URL("/census/"+p.ID.String())), g.Text(p.names()))),
							h.Td(h.Class("n"), g.Text(humanize.Comma(p.Census.IDs))), h.Td(timeNode(p.Census.ReferenceTime)))
					})))),
				soft(g.Text(keptText)),
			}
		})),
	}
}

// names are what was read.
func (r *Report) names() string {
	return strings.Join(each.Of(r.Census.Sources, func(s *census.Source) string { return phrase.Shown(s.Name) }), ", ")
}

// Report returns the page of one report, with what the page with the form says of links.
func (s *Site) Report(r *Report) g.Node {
	return g.Group{
		h.P(h.Class("back"), h.A(h.Href(s.URL("/census")), g.Text("Another file"))),
		h.Div(h.ID("result"), h.Class("report"), h.Data("report", r.ID.String()),
			g.NodeFunc(func(w io.Writer) error { return report.WriteFragment(w, r.Census) })),
		soft(g.Text(keptText)),
	}
}
