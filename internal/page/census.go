package page

import (
	"io"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// Census returns the form that uploads a file of up to most bytes. If wrong is not empty,
// the form shows it.
func (s *Site) Census(most int64, wrong string) g.Node {
	return g.Group{
		heading("Census of a collection", g.Text("Analyse all ids in a file: of mongodump ("), h.Code(g.Text(".bson")),
			g.Text(" or archive), of mongoexport (JSON or CSV), a list of ids, or any text. It may be compressed, or a tar or zip of several files. The server does not store it.")),
		problem(wrong),
		h.Form(h.Method("post"), h.Action(s.URL("/census")), h.EncType("multipart/form-data"), h.Data("upload", ""),
			h.Div(h.Class("fields-row"), field("field", "Field", textInput("field", "_id")), field("tz", "Time zone", textInput("tz", "UTC", h.Data("zone", ""))),
				h.Div(h.Class("check"), h.Input(h.ID("grep"), h.Name("format"), h.Type("checkbox"), h.Value("grep")),
					h.Label(h.For("grep"), g.Text("any text: read every 24 hexadecimal digits as an id")))),
			h.Div(h.Class("drop"), h.Label(h.For("file"), g.Text("Choose a file, or drop it here")),
				h.Input(h.ID("file"), h.Name("file"), h.Type("file"), h.Required()), soft(g.Text("up to "+bytesText(most)))),
			h.Div(h.Class("row"), h.Button(h.Type("submit"), g.Text("Take the census"))),
			h.Div(h.Class("progress"), g.Attr("hidden"), h.Progress(h.Max("1"), h.Value("0"), h.Aria("label", "Upload")),
				g.Text(" "), h.Span(h.Class("soft")))),
	}
}

// Report returns the report of a census, which write writes as HTML.
func (s *Site) Report(write func(io.Writer) error) g.Node {
	return g.Group{
		h.P(h.Class("back"), h.A(h.Href(s.URL("/census")), g.Text("Another file"))),
		h.Div(h.Class("report"), g.NodeFunc(write)),
	}
}
