package server

import (
	"cmp"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/server/page"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/timerange"
)

type rangeInput struct {
	Since   string `query:"since" maxLength:"100" example:"24h" doc:"A duration up to now, or a time."`
	From    string `query:"from" maxLength:"100" doc:"A time, in place of since; rounded down to a second."`
	To      string `query:"to" maxLength:"100" doc:"A time, not included; rounded up to a second. Default: no end."`
	Column  string `query:"column" maxLength:"100" default:"_id" doc:"Name of the column in the SQL forms, written unchanged."`
	Process string `query:"process" maxLength:"10" example:"bcf86cd799" doc:"A process value, or a process block: 10 or 8 hexadecimal digits. The queries are then for the ids with it, in the languages that can say so. Default: any."`
	Zone    string `query:"tz" maxLength:"100" default:"UTC" doc:"Time zone in which times without one are read, such as Europe/Berlin."`
}

func (s *Server) rangeOf(api huma.API, at route) {
	op := operation(at, tagIDs, "range", "Turn a time range into a range of ids",
		"A time is RFC 3339, a date, now, yesterday, last tuesday, a distance from now such as -7d or 2 hours ago, Unix seconds, or an ObjectId.")
	handle(s, api, op, func(_ context.Context, in *rangeInput) (wire.Range, error) {
		return s.timeRange(timerange.Span{Since: in.Since, From: in.From, To: in.To}, in.Column, in.Process, in.Zone)
	})
}

// timeRange returns the ids of a time range, and the queries for those of a process
// value, or for all of them if it is empty.
func (s *Server) timeRange(span timerange.Span, column, process, zone string) (wire.Range, error) {
	now, err := s.nowIn(zone)
	if err != nil {
		return wire.Range{}, err
	}
	r, err := span.Range(now)
	if err != nil {
		return wire.Range{}, requestError{err}
	}
	if process, err = timerange.ParseProcess(process); err != nil {
		return wire.Range{}, requestError{err}
	}
	return towire.Range(r, column, process), nil
}

func (s *Server) showRange(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	data := page.Range{
		Span:   timerange.Span{Since: q.Get("since"), From: q.Get("from"), To: q.Get("to")},
		Column: cmp.Or(q.Get("column"), "_id"), Process: q.Get("process"), Zone: cmp.Or(q.Get("tz"), "UTC"),
	}
	data.Help = timerange.Help(data.Zone)
	asked := data.Span
	if asked == (timerange.Span{}) {
		asked.Since = "24h"
	}
	found, err := s.timeRange(asked, data.Column, data.Process, data.Zone)
	if err == nil {
		data.Range = &found
	}
	var code int
	code, data.Error = s.outcome(r.Context(), err)
	s.show(w, r, code, "Range", "/range", s.site.Range(&data))
}
