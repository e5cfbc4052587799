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
// view again. The static page calls Answer in place of a server. form is the body of a form
// that is sent with POST; it may be empty. If the address or the form has a wrong value, the
// view says so.
//
// Times without a zone are in the zone that the parameter tz of the address names, or else in
// zone. If the text has such times, the returned address has the parameter. If the text is too
// long for a link, the returned address is that of the start page.
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
