package page

import (
	"io"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// Census returns the form that takes a file of up to most bytes. If wrong is not empty, the form
// shows it. The static page reads any number of files and folders, of any size.
func (s *Site) Census(most int64, wrong string) g.Node {
	limit := soft(g.Text("up to " + humanize.IBytes(uint64(most))))
	if s.Static {
		limit = g.Group{
			h.Label(h.For("folder"), g.Text(s.Say("or choose a folder, such as one that mongodump wrote"))),
			h.Input(h.ID("folder"), h.Type("file"), g.Attr("webkitdirectory")),
		}
	}
	return g.Group{
		heading(s.Say("Census of a collection"), s.Prose("See when and by how many processes the ids of a collection were created, and what is wrong with them. The file may be a dump of mongodump (`.bson` or archive), an export of mongoexport (JSON or CSV), a list of ids, or any text. It may be compressed, or a tar or zip of several files. "), s.Prose(s.either("The server does not store it.", "This browser reads the file and sends it nowhere."))),
		problem(wrong),
		h.Form(h.Method("post"), h.Action(s.URL("/census")), h.EncType("multipart/form-data"), h.Data("upload", ""),
			h.Div(h.Class("fields-row"), field("field", s.Say("Field"), textInput("field", "_id")), field("tz", s.Say("Time zone"), textInput("tz", "UTC", h.Data("zone", ""))),
				h.Div(h.Class("check"), h.Input(h.ID("grep"), h.Name("format"), h.Type("checkbox"), h.Value("grep")),
					h.Label(h.For("grep"), g.Text(s.Say("any text: read every 24 hexadecimal digits as an id"))))),
			h.Div(h.Class("drop"), h.Label(h.For("file"), g.Text(s.Say(s.either("Choose a file, or drop it here", "Choose files, or drop files and folders here")))),
				h.Input(h.ID("file"), h.Name("file"), h.Type("file"), g.If(s.Static, h.Multiple()), g.If(!s.Static, h.Required())), limit),
			h.Div(h.Class("row"), h.Button(h.Type("submit"), g.Text(s.Say("Take the census")))),
			h.Div(h.Class("progress"), g.Attr("hidden"), h.Progress(h.Max("1"), h.Value("0"), h.Aria("label", s.Say("Progress"))),
				g.Text(" "), g.If(s.Static, h.Button(h.Type("button"), h.Class("quiet"), g.Text(s.Say("Cancel")))), g.Text(" "), h.Span(h.Class("soft")),
				g.If(s.Static, soft(g.Text(s.Say("This browser reads the files. Nothing is uploaded."))))),
		),
	}
}

// Again is another way to read the files of a census: another field, or as any text.
type Again struct {
	Field  string
	IsText bool
}

// Report returns the report of a census, which write writes as HTML, with a button for each other
// way in which the files have ids. The static page has links that save the report and its picture;
// its script gives the links their data.
func (s *Site) Report(write func(io.Writer) error, hasPicture bool, again []Again) g.Node {
	save := func(part, kind, file, text string) g.Node {
		return g.Group{g.Text(" · "), h.A(h.Data("part", part), h.Type(kind), g.Attr("download", file), g.Text(s.Say(text)))}
	}
	return g.Group{
		h.P(h.Class("back"), h.A(h.Href(s.URL("/census")), g.Text(s.Say("Another file"))),
			g.If(s.Static, save("page", "text/html", "census.html", "Save the report")), g.If(hasPicture, save("svg", "image/svg+xml", "census.svg", "Save the picture"))),
		g.If(len(again) > 0, h.P(h.Class("problem"), g.Text(s.Say("Other fields contain ids. Take the census of: ")), g.Map(again, func(a Again) g.Node {
			label := a.Field
			if a.IsText {
				label = s.Say("any text")
			}
			return g.Group{h.Button(h.Type("button"), h.Class("quiet"), h.Data("again", a.Field), g.If(a.IsText, h.Data("text", "")), g.Text(label)), g.Text(" ")}
		}))),
		g.If(s.isChinese(), soft(g.Text(s.Say("The report is in English.")))),
		h.Div(h.Class("report"), h.Lang("en"), g.NodeFunc(write)),
	}
}

// Unread returns the problem of a census in the browser that could read nothing: failed has a
// sentence for each file.
func (s *Site) Unread(failed []string) string {
	if n := len(failed) - FewIDs; n > 0 {
		failed = append(failed[:FewIDs:FewIDs], "+ "+strconv.Itoa(n))
	}
	text := strings.Join(failed, "\n")
	if strings.Contains(text, ": write --") {
		text += "\n" + s.Say("In this form, --grep is “any text”, and --field and --column are “Field”.")
	}
	return text
}
