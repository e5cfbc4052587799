package server

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/census/source"
	"github.com/oidkit/oid/timerange"
)

type censusInput struct {
	Name       string `query:"name" maxLength:"200" default:"upload" doc:"What the report calls the upload."`
	Field      string `query:"field" maxLength:"200" default:"_id" doc:"The field that is read from documents; dots lead into others."`
	Column     string `query:"column" maxLength:"200" doc:"The column that is read from CSV. Default: the field."`
	Collection string `query:"collection" maxLength:"200" doc:"The only collection to read from an archive."`
	Format     string `query:"format" enum:"auto,bson,archive,json,csv,list,grep" doc:"How it is written. Default: the content tells."`
	Since      string `query:"since" maxLength:"100" doc:"Count ids of this stretch up to now, or from this time."`
	From       string `query:"from" maxLength:"100" doc:"Count ids from this time, in place of since."`
	To         string `query:"to" maxLength:"100" doc:"Count ids before this time."`
	By         string `query:"by" enum:"auto,minute,hour,day,week,month,year" doc:"Step of the timeline. Default: chosen to fit."`
	Zone       string `query:"tz" maxLength:"100" default:"UTC" doc:"Time zone of the report, such as Europe/Berlin."`
	Top        int    `query:"top" minimum:"1" maximum:"1000" default:"10" doc:"How many writers to list."`

	r *http.Request
	w http.ResponseWriter
}

// Resolve keeps the request, whose body is read as it comes.
func (in *censusInput) Resolve(c huma.Context) []error {
	in.r, in.w = humago.Unwrap(c)
	return nil
}

func (s *Server) addCensus(api huma.API) {
	op := operation(http.MethodPost, "/v1/census", "census", "Take the census of an upload",
		"Tells what the ids of a dump say: .bson and archives of mongodump, JSON and CSV of mongoexport, lists of ids, or any text; each may be compressed with gzip. "+
			"The body is the file itself.")
	op.RequestBody = &huma.RequestBody{Required: true, Description: "The file.", Content: map[string]*huma.MediaType{
		"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Description: "The bytes of the file."}},
	}}
	op.SkipValidateBody = true
	handle(s, api, op, func(ctx context.Context, in *censusInput) (*census.Report, error) {
		o, v, err := in.options(s.options.Now())
		if err != nil {
			return nil, err
		}
		u, done, err := s.newUpload(in.w, in.r)
		if err != nil {
			return nil, err
		}
		defer done()
		return s.census(ctx, u, in.Name, u, o, v)
	})
}

func (in *censusInput) options(now time.Time) (o census.Options, v census.ReportOptions, err error) {
	ids, err := timerange.Span{Since: in.Since, From: in.From, To: in.To}.Range(now)
	if err != nil {
		return o, v, requestError{err}
	}
	zone, err := time.LoadLocation(in.Zone)
	if err != nil || in.Zone == "Local" {
		return o, v, requestf("time zone %q is not known", in.Zone)
	}
	o = census.Options{Field: in.Field, Format: source.Format(in.Format), Column: in.Column, Collection: in.Collection, Range: ids}
	return o, census.ReportOptions{By: census.Step(in.By), Zone: zone, Top: in.Top}, nil
}
