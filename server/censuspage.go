package server

import (
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"sync"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/census/source"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/door"
	"github.com/oidkit/oid/server/page"
)

func (s *Server) censusPage(w http.ResponseWriter, r *http.Request) { s.showCensus(w, r, nil) }

func (s *Server) showCensus(w http.ResponseWriter, r *http.Request, err error) {
	data := page.Census{Upload: s.options.Limits.Upload, Past: s.reports.all(), Kept: maxReports}
	code := http.StatusOK
	if err != nil {
		code = status(err)
		data.Error = s.text(r.Context(), err)
		if code == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "5")
		}
	}
	s.show(w, r, code, "Census", "/census", s.site.Census(&data))
}

// showReport answers with the page of one report.
func (s *Server) showReport(w http.ResponseWriter, r *http.Request) {
	id, err := objectid.Parse(r.PathValue("id"))
	found := s.reports.get(id)
	if err != nil || found == nil {
		s.fail(w, r, errNoReport)
		return
	}
	s.show(w, r, http.StatusOK, "Census", "/census", s.site.Report(&page.Report{ID: id, Census: found}, maxReports))
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
	reports []page.Report // oldest first
}

// maxReports bounds the memory: a report has some examples, and the counts of a
// timeline for each process that it lists.
const maxReports = 32

func (c *reportCache) put(id objectid.ID, r *census.Report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reports = append(c.reports, page.Report{ID: id, Census: r})
	if len(c.reports) > maxReports {
		c.reports = append([]page.Report(nil), c.reports[1:]...)
	}
}

// get returns a report, or nil.
func (c *reportCache) get(id objectid.ID) *census.Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.reports {
		if r.ID == id {
			return r.Census
		}
	}
	return nil
}

// all returns the reports, latest first.
func (c *reportCache) all() []page.Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := slices.Clone(c.reports)
	slices.Reverse(out)
	return out
}
