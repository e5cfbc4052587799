package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/pure"
	"github.com/oidkit/oid/internal/report"
	"github.com/oidkit/oid/internal/timerange"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/internal/door"
	"github.com/oidkit/oid/server/wire"
)

type censusInput struct {
	Name       string `query:"name" maxLength:"200" default:"upload" doc:"Name of the upload in the report."`
	Field      string `query:"field" maxLength:"200" default:"_id" doc:"The field of the documents from which ids are read. Dots lead into nested documents."`
	Column     string `query:"column" maxLength:"200" doc:"The column of CSV files from which ids are read. Default: the one named like the field."`
	Collection string `query:"collection" maxLength:"200" doc:"The only collection to read from an archive. Default: all."`
	Format     string `query:"format" enum:"auto,bson,archive,json,csv,list,grep" doc:"Format of the upload. Default: recognized from its content."`
	Since      string `query:"since" maxLength:"100" doc:"Count only ids created since this time, or in a duration up to now."`
	From       string `query:"from" maxLength:"100" doc:"Count only ids created from this time on. Send either this or since."`
	To         string `query:"to" maxLength:"100" doc:"Count only ids created before this time."`
	By         string `query:"by" enum:"auto,minute,hour,day,week,month,year" doc:"Length of the timeline's buckets. Default: chosen to fit the data."`
	Zone       string `query:"tz" maxLength:"100" default:"UTC" doc:"Time zone of the report, such as Europe/Berlin."`
	Top        int    `query:"top" minimum:"1" maximum:"1000" default:"10" doc:"How many processes to list."`

	r *http.Request
	w http.ResponseWriter
}

// Resolve stores the request, because the handler reads its body while it arrives.
func (in *censusInput) Resolve(c huma.Context) []error {
	in.r, in.w = humago.Unwrap(c)
	return nil
}

func (s *Server) takeCensus(api huma.API, at route) {
	op := operation(at, tagCensus, "takeCensus", "Take the census of an upload",
		"Analyses all ids of a dump. The body is the file: .bson or an archive of mongodump, JSON or CSV of mongoexport, a list of ids, or any text. It may be compressed with gzip, zstd, xz, bzip2 or lz4. It may be a tar or a zip: then every file in it is a collection.")
	op.RequestBody = &huma.RequestBody{Required: true, Description: "The file.", Content: map[string]*huma.MediaType{
		"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Description: "The bytes of the file."}},
	}}
	op.SkipValidateBody = true
	handle(s, api, op, func(_ context.Context, in *censusInput) (wire.Census, error) {
		o, v, err := in.options(s.options.Now().UTC())
		if err != nil {
			return wire.Census{}, err
		}
		u, done, err := s.door.NewUpload(in.w, in.r)
		if err != nil {
			return wire.Census{}, err
		}
		defer done()
		r, err := s.census(u, in.Name, u, o, v)
		if err != nil {
			return wire.Census{}, err
		}
		return towire.Census(r), nil
	})
}

func (in *censusInput) options(now time.Time) (o census.Options, v census.ReportOptions, err error) {
	ids, err := timerange.Span{Since: in.Since, From: in.From, To: in.To}.Range(now)
	if err != nil {
		return o, v, pure.Wrong(err)
	}
	zone, err := pure.Zone(in.Zone)
	if err != nil {
		return o, v, err
	}
	o = census.Options{Field: in.Field, Format: census.Format(in.Format), Column: in.Column, Collection: in.Collection, Range: ids}
	return o, census.ReportOptions{By: census.Interval(in.By), Zone: zone, Top: in.Top}, nil
}

// census takes the census of one source. Errors in the source are part of the report. If
// nothing could be read, they are the error.
func (s *Server) census(u *door.Upload, name string, in io.Reader, o census.Options, v census.ReportOptions) (*census.Report, error) {
	o.MaxIDs = s.options.Limits.UploadIDs
	o.Unpacked, o.Keep, o.MaxWindow = u.Unpack, u.Keep, door.UploadWindow
	o.Workers = max(1, runtime.GOMAXPROCS(0)/2) // other requests need processors, too
	if s.options.ownClock {
		o.Now = s.options.Now()
	}
	c := census.New(&o)
	defer c.Close()
	err := c.Read(u.Context(), name, in)
	switch {
	case u.Early() != nil:
		return nil, u.Early()
	case errors.Is(err, census.ErrLimit), errors.Is(err, census.ErrTooMany), errors.Is(err, door.ErrMemory):
		return nil, err
	case c.Units() == 0 && (errors.Is(err, census.ErrEmpty) || errors.Is(err, census.ErrFormat)):
		return nil, err
	}
	v.Name = func(id objectid.ID) string { return s.processName(u.Context(), id) }
	return c.Report(&v)
}

// processName returns what the census calls the process that created id, or "".
func (s *Server) processName(ctx context.Context, id objectid.ID) string {
	t, err := s.trace(ctx, id)
	switch {
	case err != nil:
	case t.Verdict == registry.Known:
		return t.Processes[0].Name
	case t.Verdict == registry.Claimed:
		return "claimed by " + t.Processes[0].Name
	case t.Verdict == registry.Unknown && t.Classic != nil:
		return fmt.Sprintf("host %s, pid %d", t.Classic.Host, t.Classic.PID)
	}
	return ""
}

func (s *Server) censusPage(w http.ResponseWriter, r *http.Request) { s.showCensus(w, r, nil) }

func (s *Server) showCensus(w http.ResponseWriter, r *http.Request, err error) {
	wrong := ""
	code := s.outcome(r.Context(), err, &wrong)
	if code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retrySoon)
	}
	s.show(w, r, code, page.Frame{Title: "Census", Current: "/census", Contents: s.site.Census(s.options.Limits.Upload, wrong)})
}

// censusForm answers the form with the page of the report.
func (s *Server) censusForm(w http.ResponseWriter, r *http.Request) {
	u, done, err := s.door.NewUpload(w, r)
	if err != nil {
		s.showCensus(w, r, err)
		return
	}
	defer done()
	c, err := s.censusOfForm(r, u)
	if err != nil {
		s.showCensus(w, r, err)
		return
	}
	s.show(w, r, http.StatusOK, page.Frame{Title: "Census", Current: "/census", Contents: s.site.Report(func(out io.Writer) error { return report.WriteFragment(out, c) }, false, nil)})
}

// maxField is the maximum size of a form field that is not the file, in bytes.
const maxField = 1000

// censusOfForm reads a form whose last part is the file.
func (s *Server) censusOfForm(r *http.Request, u *door.Upload) (*census.Report, error) {
	r.Body = io.NopCloser(u)
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, pure.Wrongf("the request is not a form with a file")
	}
	in := censusInput{Zone: "UTC", Top: 10}
	fields := map[string]*string{"field": &in.Field, "format": &in.Format, "tz": &in.Zone}
	for {
		part, err := parts.NextPart()
		switch {
		case u.Early() != nil:
			return nil, u.Early()
		case err == io.EOF:
			return nil, pure.Wrongf("the request has no file")
		case err != nil:
			return nil, pure.Wrongf("the form cannot be read: %w", err)
		}
		if part.FormName() == "file" {
			o, v, err := in.options(s.options.Now())
			if err != nil {
				return nil, err
			}
			name := part.FileName()
			if name == "" {
				return nil, pure.Wrongf("the request has no file: choose one first")
			}
			report, err := s.census(u, name, part, o, v)
			if err != nil {
				return nil, err
			}
			if after, err := parts.NextPart(); err == nil {
				return nil, pure.Wrongf("the field %q comes after the file; send it before", after.FormName())
			}
			// After the rest of the form has been read, the connection can be used again.
			_, _ = io.CopyN(io.Discard, u, maxField)
			return report, nil
		}
		value, err := io.ReadAll(io.LimitReader(part, maxField+1))
		if err != nil {
			return nil, pure.Wrongf("the form cannot be read: %w", err)
		}
		if len(value) > maxField {
			return nil, pure.Wrongf("the field %q has more than %d bytes", part.FormName(), maxField)
		}
		to := fields[part.FormName()]
		if to == nil {
			return nil, pure.Wrongf("the request has an unknown field %q", part.FormName())
		}
		*to = string(value)
	}
}
