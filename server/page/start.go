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
	"github.com/oidkit/oid/timerange"
)

// Start shows at once what oid does: it reads ids, creates ids, and leads to the
// rest, with what goes on there now.
func (s *Site) Start(v *Start) g.Node {
	return g.Group{
		heading("Read an id, or create one", g.Text("Paste anything: one id, a line of a log, a document, a thousand ids.")),
		h.Div(h.Class("start"),
			h.Div(h.Class("panel card"), s.pasteForm(v), h.Div(h.ID("result"), s.result(v))),
			g.Iff(v.New != nil, func() g.Node { return s.newPanel(v.New) })),
		v.Now.cards,
	}
}

func (s *Site) pasteForm(v *Start) g.Node {
	return h.Form(h.Method("post"), h.Action(s.URL("/")), h.Data("live", "id"), h.Class("paste"),
		h.Label(h.For("id"), g.Text("Ids")),
		h.Textarea(h.ID("id"), h.Name("id"), h.Rows("3"), g.Attr("spellcheck", "false"), g.Attr("autocapitalize", "off"),
			h.AutoComplete("off"), h.AutoFocus(), h.Placeholder("507f1f77bcf86cd799439011"), g.Text("\n"+v.Text)), // browsers drop the first line feed
		h.Div(h.Class("row"), h.Button(h.Type("submit"), g.Text("Inspect")), g.Iff(v.Text == "", func() g.Node {
			return h.Span(h.Class("soft"), g.Text("or try "), h.A(h.Href(s.URL("/?id=507f1f77bcf86cd799439011")), g.Text("one from 2012")),
				g.Iff(v.New != nil && len(v.New.IDs) > 0, func() g.Node {
					return g.Group{g.Text(", "), h.A(h.Href(s.URL("/?id="+v.New.IDs[0].String())), g.Text("a new one"))}
				}))
		})),
		g.If(v.Text == "", soft(g.Text(v.Formats+"."))))
}

// cards lead to the other views.
func (s *Site) cards(now *Overview) g.Node {
	card := func(path, title string, contents ...g.Node) g.Node {
		return h.Section(h.Class("panel card lead-to"), h.H2(h.A(h.Href(s.URL(path)), g.Text(title))), g.Group(contents))
	}
	day := timerange.Mongosh(objectid.Since(now.Time.Add(-24 * time.Hour)))
	return h.Div(h.ID("now"), h.Class("cards"), h.Data("refresh", ""),
		card("/range?since=24h", "A time range as a query",
			h.P(g.Text("The last 24 hours:")),
			h.Pre(h.TabIndex("0"), h.Aria("label", "Query"), h.Code(g.Text(day))),
			soft(g.Text("For MongoDB's shell, Python, Node, Java, Go and SQL."))),
		card("/census", "Census",
			h.P(g.Text("Drop a dump or an export: when it grew, which processes wrote it, what is wrong with it."))),
		card("/processes", "Processes", processesNow(now)),
		g.Iff(s.ShowsLocks, func() g.Node { return card("/locks", "Locks", locksNow(now)) }))
}

func processesNow(now *Overview) g.Node {
	n := now.Processes
	if n == nil {
		return soft(g.Text("Who creates ids, and with which load."))
	}
	late := g.If(n.Late > 0, g.Text(", "+phrase.Count(n.Late, "late", "late")))
	return g.Group{
		h.P(h.B(g.Text(phrase.Count(n.Alive, "alive", "alive"))), late),
		soft(g.Text("Each id leads to the process that created it, and to its load at that time.")),
	}
}

// shownLocks is how many locks the start page names.
const shownLocks = 3

func locksNow(now *Overview) g.Node {
	switch {
	case !now.LocksKnown:
		return soft(g.Text("Who holds a lock, and who waits for it."))
	case len(now.Locks) == 0:
		return g.Group{h.P(g.Text("No lock is held.")), soft(g.Text("One job on several hosts: "), h.Code(g.Text("oid lock NAME -- COMMAND")))}
	}
	return g.Group{
		h.Ul(h.Class("plain"), g.Map(now.Locks[:min(len(now.Locks), shownLocks)], func(l wire.Lock) g.Node {
			return h.Li(h.B(g.Text(phrase.Shown(l.Name))), g.Text(" "+heldBy(&l, now.Time)))
		})),
		g.If(len(now.Locks) > shownLocks, soft(g.Textf("and %d more", len(now.Locks)-shownLocks))),
	}
}

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
