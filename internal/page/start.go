package page

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/pure"
	"github.com/oidkit/oid/internal/query"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// Start returns the start page: a form that reads ids, new ids, and a card for each other view.
func (s *Site) Start(v *Start) Frame {
	title := s.Say(s.either("Ids", Title))
	if len(v.Cards) == 1 {
		title = v.Cards[0].ID
	}
	if v.Now == nil { // the build of the static page does not know when it will be opened
		v.Now = s.Prepare(&Overview{})
	}
	return Frame{Title: title, Current: "/", Contents: g.Group{
		heading(s.Say(s.either("Read an id, or create one", "MongoDB ObjectId to timestamp converter")),
			s.Prose(s.either("Paste anything: one id, a line of a log, a document, a thousand ids.", "Paste an ObjectId to see when it was created, or paste anything that contains ids: a line of a log, a document, a thousand ids."))),
		h.Div(h.Class("start"),
			h.Div(h.Class("panel card"), s.pasteForm(v), h.Div(h.ID("result"), v.result, g.Iff(v.result == nil, func() g.Node { return s.inspectResult(v) }))),
			g.Iff(v.New != nil, func() g.Node { return s.newPanel(v.New) })),
		v.Now.cards,
	}}
}

func (s *Site) pasteForm(v *Start) g.Node {
	return h.Form(h.Method("post"), h.Action(s.URL("/")), h.Data("live", "id"), h.Class("paste"),
		h.Label(h.For("id"), g.Text(s.Say("Ids"))),
		h.Textarea(h.ID("id"), h.Name("id"), h.Rows("3"), g.Attr("spellcheck", "false"), g.Attr("autocapitalize", "off"),
			h.AutoComplete("off"), h.AutoFocus(), h.Placeholder("507f1f77bcf86cd799439011"), g.Text("\n"+v.Text)), // browsers drop the first line feed
		h.Div(h.Class("row"), h.Button(h.Type("submit"), g.Text(s.Say("Inspect"))), g.Iff(v.Text == "", func() g.Node {
			return h.Span(h.Class("soft"), g.Text(s.Say("or try ")), h.A(h.Href(s.URL("/?id=507f1f77bcf86cd799439011")), g.Text(s.Say("one from 2012"))),
				g.Iff(v.New != nil && len(v.New.IDs) > 0, func() g.Node {
					return g.Group{g.Text(s.Say(", ")), h.A(h.Href(s.URL("/?id="+v.New.IDs[0].String())), g.Text(s.Say("a new one")))}
				}))
		})),
		g.If(v.Text == "" || len(v.Bad) > 0, soft(g.Text(inspect.Names()+"."), h.Br(), s.Prose("A time gives the first and last ObjectId of its second: `1351716000`, `2026-11-01 12:00`, `yesterday`."))))
}

// cards returns the cards that lead to the other views and show their current content.
func (s *Site) cards(now *Overview) g.Node {
	card := func(path, title string, contents ...g.Node) g.Node {
		return h.Section(h.Class("panel card lead-to"), h.H2(h.A(h.Href(s.URL(path)), g.Text(title))), g.Group(contents))
	}
	return h.Div(h.ID("now"), h.Class("cards"), h.Data("refresh", ""),
		card("/range?since=24h", s.Say("A time range as a query"),
			g.Iff(!now.Time.IsZero(), func() g.Node {
				day := query.Mongosh(objectid.Since(now.Time.Add(-24 * time.Hour)))
				return g.Group{h.P(g.Text(s.Say("The last 24 hours:"))), h.Pre(h.TabIndex("0"), h.Aria("label", s.Say("Query")), h.Code(g.Text(day)))}
			}),
			soft(s.Prose("For MongoDB's shell, Python, Node, Java, Go and SQL."))),
		card("/census", s.Say("Census"),
			h.P(s.Prose(s.either("Upload a dump or an export to see when the collection grew, which processes created its ids, and what is wrong with them.",
				"Drop a dump or an export to see when the collection grew, how many processes created its ids, and what is wrong with them. The file is not uploaded.")))),
		g.Iff(!s.Static, func() g.Node { return card("/processes", "Processes", processesNow(now)) }),
		g.Iff(s.ShowsLocks, func() g.Node { return card("/locks", "Locks", locksNow(now)) }))
}

func processesNow(now *Overview) g.Node {
	n := now.Processes
	if n == nil {
		return soft(g.Text("The processes that create ids, and their load."))
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
		return soft(g.Text("The processes that hold locks."))
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

// Overview is the current state of the processes and locks.
type Overview struct {
	Time       time.Time   // when the overview was made
	Processes  *Counted    // nil if the store does not answer
	Locks      []wire.Lock // the locks that are held
	LocksKnown bool        // false if the backend of the locks does not answer
	State      uint64      // changes when a process or a lock changes

	head, cards g.Node // rendered by Prepare
}

// Prepare renders the parts of pages that show now, so that several pages can share them, and
// returns now. It must be called before a page shows now.
func (s *Site) Prepare(now *Overview) *Overview {
	now.head, now.cards = rendered(s.aliveNode(now)), rendered(s.cards(now))
	return now
}

// rendered renders a node, and returns one with the result.
func rendered(n g.Node) g.Node {
	var b strings.Builder
	if n != nil {
		_ = n.Render(&b) // to memory, without errors
	}
	return g.Raw(b.String())
}

// Counted has the number of processes that are alive, and of those that are late.
type Counted struct {
	Alive, Late int64
}

// aliveNode shows at the top of every page how many processes are alive, and in which store
// they are recorded. It also has the state of the overview, with which the script of the page
// notices changes.
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

// Refreshed returns the parts of pages that show an overview. The script of the page asks
// for them regularly.
func Refreshed(now *Overview) g.Node { return g.Group{now.head, now.cards} }

// How many ids the page creates.
const (
	FewIDs     = 5      // the default
	coloredIDs = 50     // up to this number, each id has coloured fields and a button
	MaxIDs     = 10_000 // the maximum, also of a request of the API
)

// New is the data of the part of the start page that creates ids.
type New struct {
	Count  int    // how many ids the user has asked for
	Format string // name of the notation; empty for the default
	IDs    []objectid.ID
	Error  string
}

// NewIDs returns the new ids that a form asks for. fill makes ids. count is a number, or empty
// for the default; format is the name of a notation, or empty for the default. The result shows
// the error, which is about these values.
func NewIDs(count, format string, fill func([]objectid.ID)) (v *New, err error) {
	v = &New{Count: FewIDs, Format: format}
	n, wrong := strconv.Atoi(cmp.Or(strings.TrimSpace(count), strconv.Itoa(FewIDs)))
	switch {
	case wrong != nil || n < 1:
		err = pure.Wrongf("number of ids %q: want a whole number from 1 to %s", count, humanize.Comma(MaxIDs))
	case n > MaxIDs:
		v.Count, err = MaxIDs, TooMany(n)
	case notationOf(format).Name != cmp.Or(format, notations[0].Name):
		v.Count, err = n, pure.Wrongf("format %q: want one of the list", format)
	default:
		v.Count, v.IDs = n, make([]objectid.ID, n)
		fill(v.IDs)
	}
	v.Error = ErrorText(err)
	return v, err
}

// TooMany returns the error about a request for n ids.
func TooMany(n int) error {
	return pure.Wrongf("count %d: want at most %s ids per request; send several requests, or use the command \"oid new -n %d\" or the Go package objectid", n, humanize.Comma(MaxIDs), n)
}

// newPanel shows new ids, and the form that creates more.
func (s *Site) newPanel(v *New) g.Node {
	how := notationOf(v.Format)
	var form g.Node
	if v.Count == FewIDs && v.Format == "" { // as on most pages
		form = s.once("new ids", func() g.Node { return s.newForm(v, how) })
	} else {
		form = s.newForm(v, how)
	}
	return h.Section(h.ID("new"), h.Class("panel card"), h.Aria("labelledby", "new-head"),
		h.H2(h.ID("new-head"), g.Text(s.Say("New ids"))),
		problem(v.Error),
		g.Iff(len(v.IDs) > 0, func() g.Node { return s.newIDsNode(v, how) }),
		form,
	)
}

func (s *Site) newForm(v *New, how notation) g.Node {
	return g.Group{
		h.Form(h.Method("post"), h.Action(s.URL("/new")), h.Data("new", ""),
			h.Div(h.Class("fields-row small"),
				field("count", s.Say("How many"), h.Input(h.ID("count"), h.Name("count"), h.Type("number"), h.Min("1"), h.Max(strconv.Itoa(MaxIDs)), h.Value(strconv.Itoa(v.Count)))),
				field("format", s.Say("Format"), h.Select(h.ID("format"), h.Name("format"), g.Map(notations, func(n notation) g.Node {
					return h.Option(h.Value(n.Name), h.Title(s.Say(n.About)), g.If(n.Name == how.Name, h.Selected()), g.Text(n.Name))
				})))),
			h.Div(h.Class("row"), h.Button(h.Type("submit"), g.Text(s.Say("Create ids"))))),
		h.P(h.Class("soft"), h.A(h.Href(s.URL("/odds")), g.Text(s.Say("The chance of a collision")))),
		soft(s.Prose(s.either("The server never creates an id twice. Neither do the processes of its registry, as long as it keeps its data. ",
			"Your browser creates these ids. Each time this page is loaded, it draws a new process value at random, as a MongoDB driver does when a program starts. ")), s.Prose("In a shell: `oid new -n %d`.", v.Count)),
	}
}

func (s *Site) newIDsNode(v *New, how notation) g.Node {
	if len(v.IDs) > coloredIDs || how.Name != "hex" {
		var text strings.Builder
		for _, id := range v.IDs {
			text.WriteString(how.write(id) + "\n")
		}
		return h.Div(h.Class("query-head made-ids"), h.Span(h.Class("soft"), g.Text(humanize.Comma(int64(len(v.IDs)))+" "+how.Name)),
			h.Pre(h.TabIndex("0"), h.Aria("label", s.Say("New ids")), h.Data("copy-all", ""), h.Code(g.Text(text.String()))))
	}
	return h.Ul(h.Class("made-ids plain"), h.Data("copy-all", ""), g.Map(v.IDs, func(id objectid.ID) g.Node {
		text := id.String()
		return h.Li(h.Class("id"), h.Data("copy", text), coloredDigits(text[:8], text[8:18], text[18:]))
	}))
}

// notation is a way to write an id so that it can be pasted.
type notation struct {
	Name, About string
	write       func(objectid.ID) string
}

// notations are all notations. The first is the default.
var notations = []notation{
	{"hex", "24 hexadecimal digits", objectid.ID.String},
	{"mongosh", "MongoDB shell, Compass, Python", between(`ObjectId("`, `")`)},
	{"json", "Extended JSON", between(`{"$oid":"`, `"}`)},
	{"node", "Node and Java", between(`new ObjectId("`, `")`)},
	{"go", "package objectid", between(`objectid.MustParse("`, `")`)},
	{"sql", "binary column of SQLite and MySQL", between("X'", "'")},
	{"postgres", "BYTEA column of PostgreSQL", between(`'\x`, "'")},
	{"base64", "the twelve bytes", func(id objectid.ID) string { return base64.StdEncoding.EncodeToString(id[:]) }},
}

func between(before, after string) func(objectid.ID) string {
	return func(id objectid.ID) string { return before + id.String() + after }
}

// notationOf returns the notation with a name. An empty or unknown name means the default.
func notationOf(name string) notation {
	i := slices.IndexFunc(notations, func(n notation) bool { return n.Name == name })
	return notations[max(i, 0)]
}
