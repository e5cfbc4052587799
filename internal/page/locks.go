package page

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/server/wire"
)

// Locks is the data of the view of locks.
type Locks struct {
	Search string
	Rows   []wire.Lock
	Next   string // path of the next page; empty if there is none
	Error  string // shown instead of the rows
}

// Locks returns the view of locks: a search form and the list.
func (s *Site) Locks(v *Locks) g.Node {
	return g.Group{
		heading("Locks", g.Text("The locks that are held, the process that holds each lock, and how many processes wait for it.")),
		h.Form(h.Method("get"), h.Action(s.URL("/locks")), h.Data("live", "q"),
			h.Div(h.Class("fields-row list-by"), searchField("Search", "a name, a host, a command…", v.Search), h.Button(h.Type("submit"), g.Text("Show")))),
		h.Div(h.ID("result"), h.Data("refresh", ""), problem(v.Error), g.Iff(v.Error == "", func() g.Node { return s.lockTable(v) })),
	}
}

// searchField returns the form field in which a list is searched.
func searchField(label, placeholder, value string) g.Node {
	return h.Div(h.Class("search"), h.Label(h.For("q"), g.Text(label)),
		h.Input(h.ID("q"), h.Name("q"), h.Value(value), h.Placeholder(placeholder), h.MaxLength("200"), h.AutoComplete("off"), g.Attr("spellcheck", "false")))
}

func (s *Site) lockTable(v *Locks) g.Node {
	if len(v.Rows) == 0 {
		return g.Group{
			h.P(g.Text("No lock is held.")),
			soft(g.Text("A command under a lock: "), h.Code(g.Text("oid lock nightly-report -- ./report.sh"))),
		}
	}
	return g.Group{
		soft(g.Text(humanize.Comma(int64(len(v.Rows)))+" held"), s.nextPage(v.Next)),
		panel("scroll", "Locks", h.Table(h.Class("list"), columns("lock", "held by", "since", "waiting", "lease"),
			h.TBody(g.Map(v.Rows, func(l wire.Lock) g.Node { return lockRow(&l) })))),
	}
}

func lockRow(l *wire.Lock) g.Node {
	holder := l.Holder
	if holder.GPID == "" {
		return h.Tr(h.Td(h.B(g.Text(phrase.Shown(l.Name)))), h.Td(h.ColSpan("4"), g.Text(unnamedHolder)))
	}
	waiting := g.Node(soften("not counted: the kernel holds this lock, and shows no queue"))
	if l.Waiters != nil {
		waiting = g.Text(humanize.Comma(int64(*l.Waiters)))
	}
	return h.Tr(
		h.Td(h.B(g.Text(phrase.Shown(l.Name)))),
		h.Td(g.Textf("pid %d", holder.PID), g.If(holder.Host != "", g.Text(" on "+phrase.Shown(holder.Host)+" ")), g.If(holder.State != "", state(holder.State)),
			h.Br(), h.Span(h.Class("soft id"), g.Text(holder.GPID)),
			g.If(holder.Command != "", g.Group{h.Br(), h.Code(h.Class("wrap"), g.Text(phrase.Shown(holder.Command)))})),
		h.Td(timeNode(holder.Since), h.Br(), h.Span(h.Class("soft"), agoNode("span", holder.Since))),
		h.Td(g.If(l.Waiters == nil, h.Class("reason")), waiting),
		h.Td(g.Textf("fence %d", holder.Fence), g.Iff(holder.TTLSeconds != nil, func() g.Node {
			return g.Group{h.Br(), h.Span(h.Class("soft"), g.Text(fmt.Sprintf("expires in %.0f s unless renewed", *holder.TTLSeconds)))}
		})))
}

// unnamedHolder describes the holder of a lock in a file that another program has locked.
const unnamedHolder = "held by a program that does not say who it is, such as flock(1)"

// heldBy returns who holds a lock, in a few words.
func heldBy(l *wire.Lock, now time.Time) string {
	if l.Holder.GPID == "" {
		return unnamedHolder
	}
	text := fmt.Sprintf("held by pid %d", l.Holder.PID)
	if l.Holder.Host != "" {
		text += " on " + phrase.Shown(l.Holder.Host)
	}
	text += " for " + phrase.Length(now.Sub(l.Holder.Since))
	if l.Waiters != nil && *l.Waiters > 0 {
		text += fmt.Sprintf(", %d waiting", *l.Waiters)
	}
	return text
}
