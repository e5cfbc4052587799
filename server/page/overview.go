package page

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/plot"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// Overview is what goes on among the processes and locks.
type Overview struct {
	Processes  *Counted    // nil if the store does not answer
	Census     *Report     // the latest; nil if there is none
	Locks      []wire.Lock // those that are held
	LocksKnown bool        // the locks answer
}

// Counted is how many processes there are.
type Counted struct {
	Alive, Late int64
	Over        int64        // ended or dead for less than a day
	MoreOver    bool         // there are more than Over
	Day         []plot.Point // how many were alive, over the last day; nil if not all are known
}

// Report is a census under its link.
type Report struct {
	ID     objectid.ID
	Census *census.Report
}

// alive is how many processes are alive and where they are recorded, for the head of
// every page.
func (s *Site) alive(now *Overview) g.Node {
	if !s.Registry {
		return nil
	}
	count := g.Node(g.Text("the store does not answer"))
	if n := now.Processes; n != nil {
		count = h.A(h.Href(s.URL("/processes?state=alive")), g.Text(phrase.Count(n.Alive, "process alive", "processes alive")))
	}
	return h.P(h.ID("alive"), h.Class("soft"), h.Data("refresh", "alive"), count,
		g.If(s.StoreName != "", h.Span(g.Text(" · store: "+s.StoreName))))
}

// Refreshed returns the parts of pages that show what goes on.
func (s *Site) Refreshed(now *Overview) g.Node { return g.Group{s.alive(now), s.startCards(now)} }
