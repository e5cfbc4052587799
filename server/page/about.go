package page

import (
	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// About is the data of the page.
type About struct {
	Token  bool
	Origin string // URL of the server, as the browser sees it

	IDs       int64 // that one request may ask for
	Upload    int64 // bytes that one upload may have
	UploadIDs int64 // ids that it may have

	GPID  string
	Store string // what is wrong with it
	Go    string
}

// About explains the server.
func (s *Site) About(v *About) g.Node {
	v1 := "curl " + v.Origin + "/v1"
	link := func(path string) g.Node { return h.A(h.Href(s.URL(path)), g.Text(path)) }
	legend := func(name, text string) g.Node { return h.Span(h.Class("legend f-"+name), g.Text(text)) }
	return g.Group{
		heading("About", g.Text("oid creates MongoDB ObjectIds that never repeat within a process, and shows when and by which process an ObjectId was created, and the load of that process.")),
		g.If(v.GPID != "", h.P(g.Text("This server is a registered process: "), h.A(h.Class("id wrap"), h.Href(s.URL("/processes/"+v.GPID)), g.Text(v.GPID)))),
		g.If(v.Store != "", h.P(h.Class("note"), g.Text(v.Store+"."))),
		h.H2(g.Text("The twelve bytes")),
		exampleNode("507f1f77", "bcf86cd799", "439011"),
		h.P(legend("seconds", "seconds"), g.Text(" since 1970, "), legend("process", "process value"), g.Text(", "), legend("counter", "counter"), g.Text(".")),
		h.H2(g.Text("API")),
		h.P(g.Text("All views are an HTTP API, described by "), h.A(h.Href(s.URL("/openapi.json")), g.Text("OpenAPI 3.1")),
			g.Text(" ("), h.A(h.Href(s.URL("/openapi-3.0.json")), g.Text("3.0")), g.Text(" for older generators)."),
			g.If(v.Token, g.Group{g.Text(" Requests need the token: "), h.Code(g.Text(`-H "Authorization: Bearer $TOKEN"`)), g.Text(".")})),
		h.Div(h.Class("queries"),
			code("c-create", "Create ids", "JSON, text, or 12 bytes each", v1+`/ids -H 'Content-Type: application/json' -H 'Accept: text/plain' -d '{"count": 3}'`),
			code("c-inspect", "Inspect and trace", "one id", v1+"/ids/507f1f77bcf86cd799439011"),
			code("c-range", "Time range", "bounds and queries", "curl '"+v.Origin+"/v1/range?since=24h'"),
			code("c-register", "Register", "get a process block; then send heartbeats", v1+`/processes -H 'Content-Type: application/json' -d '{"name": "shop", "pid": 4711}'`),
			code("c-census", "Census", "of a dump", v1+"/census -H 'Content-Type: application/octet-stream' -T orders.bson -X POST")),
		h.H2(g.Text("Operation")),
		h.P(link("/metrics"), g.Text(" for Prometheus, "), link("/livez"), g.Text(", and "), link("/readyz"),
			g.Textf(", which fails while the server stops. One request creates up to %s ids. An upload has up to %s and %s ids.",
				humanize.Comma(v.IDs), bytesText(v.Upload), humanize.Comma(v.UploadIDs))),
		soft(g.Text(v.Go)),
	}
}
