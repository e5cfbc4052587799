package page

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/pure"
	"github.com/oidkit/oid/objectid"
)

// Answer returns the view of the static page for an address, and the address that shows this
// view again. form is the body of a form that is sent with POST, or empty. The view shows what
// is wrong with them. A text that is too long for a link is not in the address that is
// returned. A time in the text that names no zone is in the zone of the parameter tz, which
// the returned address has, or in zone. The program of the static page calls Answer where a
// browser would ask a server.
func (s *Site) Answer(address, form, zone string, now time.Time) (f Frame, shown string) {
	path, q := Address(address)
	posted, _ := url.ParseQuery(form) // what cannot be read is left out
	shown = s.URL(path + "?" + q.Encode())
	switch path {
	case "/range":
		f, _ = s.Range(q, now)
		return f, shown
	case "/odds":
		f, _ = s.Odds(q)
		return f, shown
	case "/census":
		return Frame{Title: s.Say("Census"), Current: path, Contents: s.Census(0, "")}, shown
	}
	text := q.Get("id")
	if posted.Has("id") {
		text = strings.TrimSpace(posted.Get("id"))
	}
	look := func(id string) (in Inspected, err error) {
		report, err := inspect.Inspect(id, &inspect.Options{Now: func() time.Time { return now }})
		in.Inspection = pure.Inspection(report)
		return in, err
	}
	v := Read(text, now, look)
	link := url.Values{"id": {text}}
	if zone = cmp.Or(q.Get("tz"), zone); len(v.Times) > 0 && zone != "UTC" {
		l, _ := pure.Zone(zone) // a zone takes long to load in a browser; UTC if it is unknown
		v = Read(text, now.In(l), look)
		link.Set("tz", zone)
	}
	v.New, _ = NewIDs(posted.Get("count"), posted.Get("format"), objectid.Fill)
	v.Now = s.Prepare(&Overview{Time: now}) // without processes and locks
	if shown = s.URL("/"); text != "" && len(text) <= MaxLink {
		shown = s.URL("/?" + link.Encode())
	}
	return s.Start(&v), shown
}
