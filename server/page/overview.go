package page

import (
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// Overview is what goes on among the processes and locks.
type Overview struct {
	Time       time.Time   // when it was so
	Processes  *Counted    // nil if the store does not answer
	Locks      []wire.Lock // those that are held
	LocksKnown bool        // the locks answer
	State      uint64      // another one shows that a process or a lock has changed

	head, cards g.Node // as HTML, see Prepare
}

// Prepare renders what pages show of now, for all pages that share it. They show nothing of
// one that was not prepared.
func (s *Site) Prepare(now *Overview) {
	now.head, now.cards = rendered(s.aliveNode(now)), rendered(s.cards(now))
}

// rendered returns a node whose HTML is made only once.
func rendered(n g.Node) g.Node {
	var b strings.Builder
	if n != nil {
		_ = n.Render(&b) // to memory, without errors
	}
	return g.Raw(b.String())
}

// Counted is how many processes there are.
type Counted struct {
	Alive, Late int64
	State       uint64 // another one shows that a process has changed
}

// Report is a census under its link.
type Report struct {
	ID     objectid.ID
	Census *census.Report
}

// aliveNode is how many processes are alive and where they are recorded, for the head of
// every page, with the state by which the script sees that something has changed.
func (s *Site) aliveNode(now *Overview) g.Node {
	if !s.Registry && !s.ShowsLocks {
		return nil
	}
	var contents g.Node
	switch n := now.Processes; {
	case !s.Registry:
	case n == nil:
		contents = g.Text("the store does not answer")
	default:
		contents = h.A(h.Href(s.URL("/processes?state=alive")), g.Text(phrase.Count(n.Alive, "process alive", "processes alive")))
	}
	return h.P(h.ID("alive"), h.Class("soft"), h.Data("refresh", ""), h.Data("state", strconv.FormatUint(now.State, 36)), contents,
		g.If(s.StoreName != "", h.Span(g.Text(" · store: "+s.StoreName))))
}

// Refreshed returns the parts of pages that show what goes on.
func Refreshed(now *Overview) g.Node { return g.Group{now.head, now.cards} }
