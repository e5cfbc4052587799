package page

import (
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/timerange"
	"github.com/oidkit/oid/objectid"
)

// TypedTime is a time that somebody typed in the place of an id.
type TypedTime struct {
	Text     string
	Readings []timerange.Reading // at least one
}

// typedTime shows the readings of a time, each with the ids of its second.
func (s *Site) typedTime(t TypedTime) g.Node {
	return h.Article(h.Class("id-card"),
		h.Div(h.Class("id-head"), h.H2(h.Class("the-id"), g.Text(phrase.Shown(strings.TrimSpace(t.Text))))),
		g.If(len(t.Readings) > 1, soft(g.Text(s.Say("This text can be read in several ways.")))),
		g.Map(t.Readings, func(r timerange.Reading) g.Node { return s.readAsTime(s.Say("Read as"), r) }))
}

// readAsTime shows one reading of a text as a time. name is the name of its first line.
func (s *Site) readAsTime(name string, r timerange.Reading) g.Node {
	first := objectid.MinAt(r.Time).String()
	last := first[:8] + strings.Repeat("f", len(first)-8)
	return h.Dl(h.Class("says"),
		says(name, "", g.Text(strings.TrimSpace(s.Say(r.As)+" "+r.Zone))), s.when(s.Say("Time"), r.Time),
		says(s.Say("First id"), first, h.Code(g.Text(first))), says(s.Say("Last id"), last, h.Code(g.Text(last))),
		says(s.Say("Documents"), "", h.Span(h.Class("presets"), s.rangesAround(r.Time))))
}

// when shows a time, in UTC and in the zone of the reader, and how long ago it was.
func (s *Site) when(name string, t time.Time) g.Node {
	return says(name, rfc3339(t), h.B(timeNode(t)),
		h.Span(h.Class("soft also"), h.Data("utc", ""), g.Attr("hidden"), g.Text(" · "+moment(t))), h.Span(h.Class("soft"), g.Text(" · "), agoNode("span", t)))
}
