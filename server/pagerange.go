package server

import (
	"net/http"

	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/timerange"
)

// rangeView is what the view shows.
type rangeView struct {
	timerange.Span
	Column string
	Picked []preset
	Range  *wire.Range
	Error  string
	Help   string
}

// preset is a stretch of time at a click.
type preset struct {
	Name, Since string
}

var presets = []preset{{"last hour", "1h"}, {"last 24 hours", "24h"}, {"last 7 days", "7d"}, {"last 30 days", "30d"}}

func (s *Server) addRangePage() {
	s.mux.HandleFunc("GET /range", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		data := rangeView{
			Span:   timerange.Span{Since: q.Get("since"), From: q.Get("from"), To: q.Get("to")},
			Column: q.Get("column"), Picked: presets, Help: timerange.Help,
		}
		if data.Column == "" {
			data.Column = "_id"
		}
		asked := data.Span
		if asked == (timerange.Span{}) {
			asked.Since = "24h"
		}
		found, err := s.timeRange(asked, data.Column)
		code := http.StatusOK
		if err != nil {
			code, data.Error = status(err), err.Error()
		} else {
			data.Range = &found
		}
		s.show(w, r, code, "range", "Range", "/range", data)
	})
}
