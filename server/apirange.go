package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/timerange"
)

type rangeInput struct {
	Since  string `query:"since" maxLength:"100" example:"24h" doc:"A duration up to now, or a time."`
	From   string `query:"from" maxLength:"100" doc:"A time, in place of since; rounded down to a second."`
	To     string `query:"to" maxLength:"100" doc:"A time, not included; rounded up to a second. Default: no end."`
	Column string `query:"column" maxLength:"100" default:"_id" doc:"What the SQL forms call the column; written as it is given."`
}

func (s *Server) addRange(api huma.API) {
	op := operation(http.MethodGet, "/v1/range", "range", "Turn a stretch of time into a range of ids",
		"A time is RFC 3339, a date, now, a distance from now such as -7d, Unix seconds, or an ObjectId.")
	handle(s, api, op, func(_ context.Context, in *rangeInput) (wire.Range, error) {
		return s.timeRange(timerange.Span{Since: in.Since, From: in.From, To: in.To}, in.Column)
	})
}

// timeRange returns the ids of a stretch of time and the queries for them.
func (s *Server) timeRange(span timerange.Span, column string) (wire.Range, error) {
	r, err := span.Range(s.options.Now())
	if err != nil {
		return wire.Range{}, requestError{err}
	}
	out := wire.Range{From: bound(r.From), To: bound(r.To)}
	for _, f := range timerange.Forms {
		out.Queries = append(out.Queries, wire.Query{For: f.Name, About: f.About, Text: f.Write(r, column)})
	}
	return out, nil
}

func bound(id objectid.ID) *wire.Bound {
	if id.IsZero() {
		return nil
	}
	return &wire.Bound{ID: id, Time: id.Time()}
}
