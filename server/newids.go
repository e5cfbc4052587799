package server

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/page"
	"github.com/oidkit/oid/timerange"
)

func (s *Server) newForm(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.fail(w, r, requestf("the request cannot be read as a form: %w", err))
		return
	}
	f := r.PostForm
	v := page.New{Format: f.Get("format"), At: strings.TrimSpace(f.Get("at")), Zone: f.Get("tz")}
	code := http.StatusOK
	if err := s.fillNew(&v, f.Get("count")); err != nil {
		code = status(err)
		v.Error = s.text(r.Context(), err)
	}
	s.showStart(w, r, code, &page.Start{New: &v})
}

// fillNew creates the ids that v asks for.
func (s *Server) fillNew(v *page.New, count string) error {
	n, err := strconv.Atoi(strings.TrimSpace(count))
	if err != nil || n < 1 {
		v.Count = page.FewIDs
		return requestf("number of ids %q: want a whole number from 1 to %s", count, humanize.Comma(page.MaxIDs))
	}
	v.Count = min(n, page.MaxIDs)
	if n > min(page.MaxIDs, s.options.Limits.IDs) {
		return requestf("number of ids %d: the page creates up to %s; for more use POST /v1/ids, or the command \"oid new -n %d\"", n, humanize.Comma(int64(min(page.MaxIDs, s.options.Limits.IDs))), n)
	}
	if !page.HasNotation(v.Format) {
		return requestf("format %q: want one of the list", v.Format)
	}
	generator := s.backend.generator()
	if v.At != "" {
		if generator, err = s.generatorAt(v.At, v.Zone); err != nil {
			return err
		}
	}
	v.IDs = make([]objectid.ID, n)
	generator.Fill(v.IDs)
	s.metrics.created.Add(float64(n))
	return nil
}

// generatorAt returns a generator whose ids all have the creation time that text
// means in a zone.
func (s *Server) generatorAt(text, zone string) (*objectid.Generator, error) {
	now, err := s.nowIn(zone)
	if err != nil {
		return nil, err
	}
	at, err := timerange.Parse(text, now)
	if err != nil {
		return nil, requestError{err}
	}
	if objectid.At(at).Time().Unix() != at.Unix() {
		return nil, requestf("time %q: an id holds times from 1970-01-01T00:00:00Z to 2106-02-07T06:28:15Z", text)
	}
	return objectid.NewGenerator(&objectid.Options{Now: func() time.Time { return at }})
}

// nowIn returns the time in a zone, in which times without a zone are then read. The
// empty name is UTC.
func (s *Server) nowIn(zone string) (time.Time, error) {
	l, err := time.LoadLocation(zone)
	if err != nil || strings.EqualFold(zone, "local") {
		return time.Time{}, requestf("time zone %q: no such zone; want a name such as Europe/Berlin", zone)
	}
	return s.options.Now().In(l), nil
}
