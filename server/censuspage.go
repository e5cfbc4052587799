package server

import (
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/census/report"
	"github.com/oidkit/oid/census/source"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/door"
)

// censusView is the data of the page with the form.
type censusView struct {
	Upload int64 // maximum in bytes
	Past   []pastReport
	Error  string
}

type pastReport struct {
	ID    string
	Names []string
	IDs   int64
	Time  time.Time
}

func (s *Server) censusPage(w http.ResponseWriter, r *http.Request) { s.showCensus(w, r, nil) }

func (s *Server) showCensus(w http.ResponseWriter, r *http.Request, err error) {
	data := censusView{Upload: s.options.Limits.Upload}
	code := http.StatusOK
	if err != nil {
		code = status(err)
		data.Error = s.text(r.Context(), err)
		if code == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "5")
		}
	}
	for _, p := range s.reports.all() {
		past := pastReport{ID: p.id.String(), IDs: p.report.IDs, Time: p.report.ReferenceTime}
		for _, source := range p.report.Sources {
			past.Names = append(past.Names, source.Name)
		}
		data.Past = append(data.Past, past)
	}
	s.show(w, r, code, "Census", "/census", censusPage(&data))
}

func censusPage(v *censusView) g.Node {
	text := func(name, label, value string, more ...g.Node) g.Node {
		return h.Div(h.Label(h.For(name), g.Text(label)),
			h.Input(g.Group(more), h.ID(name), h.Name(name), h.Value(value), h.AutoComplete("off"), g.Attr("spellcheck", "false")))
	}
	return g.Group{
		heading("Census of a collection", g.Text("Analyse all ids of a file of mongodump ("), h.Code(g.Text(".bson")),
			g.Text(", archive), mongoexport (JSON, CSV), a list of ids, or any text; gzip too. The file is not stored.")),
		problem(v.Error),
		h.Form(h.Method("post"), h.Action("/census"), h.EncType("multipart/form-data"), h.Data("upload", ""),
			h.Div(h.Class("fields-row"), text("field", "Field", "_id"), text("tz", "Time zone", "UTC", h.Data("zone", "")),
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
					h.TBody(g.Map(v.Past, func(p pastReport) g.Node {
						return h.Tr(h.Td(h.Class("wide"), h.A(h.Href("/census/"+p.ID), g.Text(strings.Join(p.Names, ", ")))),
							h.Td(h.Class("n"), g.Text(humanize.Comma(p.IDs))), h.Td(timeNode(p.Time)))
					})))),
				soft(g.Text(kept)),
			}
		})),
	}
}

// showReport answers with the page of one report.
func (s *Server) showReport(w http.ResponseWriter, r *http.Request) {
	id, err := objectid.Parse(r.PathValue("id"))
	found := s.reports.get(id)
	if err != nil || found == nil {
		s.fail(w, r, errNoReport)
		return
	}
	s.show(w, r, http.StatusOK, "Census", "/census", g.Group{
		h.P(h.Class("back"), h.A(h.Href("/census"), g.Text("Another file"))),
		h.Div(h.ID("result"), h.Class("report"), h.Data("report", id.String()),
			g.NodeFunc(func(w io.Writer) error { return report.WriteFragment(w, found) })),
		soft(g.Text(kept)),
	})
}

// censusForm answers the form with the page of a new report.
func (s *Server) censusForm(w http.ResponseWriter, r *http.Request) {
	u, done, err := s.door.NewUpload(w, r)
	if err != nil {
		s.showCensus(w, r, err)
		return
	}
	defer done()
	report, err := s.censusOfForm(r, u)
	if err != nil {
		s.showCensus(w, r, err)
		return
	}
	id := objectid.New()
	s.reports.put(id, report)
	http.Redirect(w, r, "/census/"+id.String(), http.StatusSeeOther)
}

// maxField bounds a field of the form that is not a file.
const maxField = 1000

// censusOfForm reads a form whose last part is the file.
func (s *Server) censusOfForm(r *http.Request, u *door.Upload) (*census.Report, error) {
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return nil, requestf("the request is not a form with a file")
	}
	parts := multipart.NewReader(u, parameters["boundary"])
	in := censusInput{Zone: "UTC", Top: 10}
	for {
		part, err := parts.NextPart()
		switch {
		case u.Early() != nil:
			return nil, u.Early()
		case err == io.EOF:
			return nil, requestf("the request has no file")
		case err != nil:
			return nil, requestf("the form cannot be read: %w", err)
		}
		if part.FormName() == "file" {
			o, v, err := in.options(s.options.Now())
			if err != nil {
				return nil, err
			}
			name := part.FileName()
			if name == "" {
				return nil, requestf("the request has no file: choose one first")
			}
			report, err := s.census(u, name, part, o, v)
			if err != nil {
				return nil, err
			}
			if after, err := parts.NextPart(); err == nil {
				return nil, requestf("the field %q comes after the file; send it before", after.FormName())
			}
			// What follows is a line or two; then the connection can be used again.
			_, _ = io.CopyN(io.Discard, u, maxField)
			return report, nil
		}
		value, err := io.ReadAll(io.LimitReader(part, maxField+1))
		if err != nil {
			return nil, requestf("the form cannot be read: %w", err)
		}
		if len(value) > maxField {
			return nil, requestf("the field %q has more than %d bytes", part.FormName(), maxField)
		}
		if err := in.set(part.FormName(), string(value)); err != nil {
			return nil, err
		}
	}
}

// set takes a field of the form.
func (in *censusInput) set(name, value string) error {
	switch name {
	case "field":
		in.Field = value
	case "grep":
		in.Format = formatName(source.Grep)
	case "tz":
		in.Zone = value
	default:
		return requestf("the request has an unknown field %q", name)
	}
	return nil
}

// reportCache keeps the last reports, so that each has a URL.
type reportCache struct {
	mu      sync.Mutex
	reports []cachedReport // oldest first
}

type cachedReport struct {
	id     objectid.ID
	report *census.Report
}

// maxReports bounds the memory: a report has some examples, and the counts of a
// timeline for each process that it lists.
const maxReports = 32

// kept says how long a report has its link.
var kept = fmt.Sprintf("The server keeps the last %d reports, each under its link, in memory until it stops.", maxReports)

func (c *reportCache) put(id objectid.ID, r *census.Report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reports = append(c.reports, cachedReport{id, r})
	if len(c.reports) > maxReports {
		c.reports = append([]cachedReport(nil), c.reports[1:]...)
	}
}

// get returns a report, or nil.
func (c *reportCache) get(id objectid.ID) *census.Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.reports {
		if r.id == id {
			return r.report
		}
	}
	return nil
}

// all returns the reports, latest first.
func (c *reportCache) all() []cachedReport {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := slices.Clone(c.reports)
	slices.Reverse(out)
	return out
}
