package server

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/timerange"
)

// Bounds of the ids that the page creates.
const (
	fewIDs     = 5      // as long as nobody has asked for another number
	coloredIDs = 50     // shown with their fields in colours, one button each
	maxPageIDs = 10_000 // beyond, the API and the command are for it
)

// newView is the data of the part of the start page that creates ids.
type newView struct {
	Count  int
	Format string
	At     string // a time as somebody typed it, or empty
	Zone   string // in which a time without one is read; empty is UTC
	IDs    []objectid.ID
	Error  string
}

func (s *Server) newForm(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.fail(w, r, requestf("the request cannot be read as a form: %w", err))
		return
	}
	f := r.PostForm
	v := newView{Format: f.Get("format"), At: strings.TrimSpace(f.Get("at")), Zone: f.Get("tz")}
	code := http.StatusOK
	if err := s.fillNew(&v, f.Get("count")); err != nil {
		code = status(err)
		v.Error = s.text(r.Context(), err)
	}
	s.showStart(w, r, code, &inspectView{New: &v})
}

// fillNew creates the ids that v asks for.
func (s *Server) fillNew(v *newView, count string) error {
	n, err := strconv.Atoi(strings.TrimSpace(count))
	if err != nil || n < 1 {
		v.Count = fewIDs
		return requestf("number of ids %q: want a whole number from 1 to %s", count, humanize.Comma(maxPageIDs))
	}
	v.Count = min(n, maxPageIDs)
	if n > min(maxPageIDs, s.options.Limits.IDs) {
		return requestf("number of ids %d: the page creates up to %s; for more use POST /v1/ids, or the command \"oid new -n %d\"", n, humanize.Comma(int64(min(maxPageIDs, s.options.Limits.IDs))), n)
	}
	if _, err := notationOf(v.Format); err != nil {
		return err
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

// newPanel shows new ids, and the form that creates more.
func newPanel(v *newView) g.Node {
	how, err := notationOf(v.Format)
	if err != nil {
		how = notations[0]
	}
	field := func(id, label string, input g.Node) g.Node {
		return h.Div(h.Label(h.For(id), g.Text(label)), input)
	}
	return h.Section(h.ID("new"), h.Class("panel card"), h.Aria("labelledby", "new-head"),
		h.H2(h.ID("new-head"), g.Text("New ids")),
		problem(v.Error),
		g.Iff(len(v.IDs) > 0, func() g.Node { return newIDsNode(v, how) }),
		h.Form(h.Method("post"), h.Action("/new"), h.Data("new", ""),
			h.Input(h.Type("hidden"), h.Name("tz"), h.Value(v.Zone), h.Data("zone", "")),
			h.Div(h.Class("fields-row small"),
				field("count", "How many", h.Input(h.ID("count"), h.Name("count"), h.Type("number"), h.Min("1"), h.Max(strconv.Itoa(maxPageIDs)), h.Value(strconv.Itoa(v.Count)))),
				field("format", "Format", h.Select(h.ID("format"), h.Name("format"), g.Map(notations, func(n notation) g.Node {
					return h.Option(h.Value(n.Name), h.Title(n.About), g.If(n.Name == how.Name, h.Selected()), g.Text(n.Name))
				}))),
				field("at", "Creation time", h.Input(h.ID("at"), h.Name("at"), h.Value(v.At), h.Placeholder("now"), h.AutoComplete("off"), g.Attr("spellcheck", "false")))),
			h.Div(h.Class("row"), h.Button(h.Type("submit"), g.Text("Create ids")))),
		soft(g.Text("No id is created twice, here or by any registered process. In a shell: "), h.Code(g.Textf("oid new -n %d", v.Count)), g.Text(".")),
	)
}

func newIDsNode(v *newView, how notation) g.Node {
	if len(v.IDs) > coloredIDs || how.Name != "hex" {
		var text strings.Builder
		for _, id := range v.IDs {
			text.WriteString(how.write(id) + "\n")
		}
		return h.Div(h.Class("query-head made-ids"), h.Span(h.Class("soft"), g.Text(humanize.Comma(int64(len(v.IDs)))+" "+how.Name)),
			h.Pre(h.TabIndex("0"), h.Aria("label", "New ids"), h.Data("copy-all", ""), h.Code(g.Text(text.String()))))
	}
	return h.Ul(h.Class("made-ids plain"), h.Data("copy-all", ""), g.Map(v.IDs, func(id objectid.ID) g.Node {
		text := id.String()
		return h.Li(h.Class("id"), h.Data("copy", text), coloredDigits(text[:8], text[8:18], text[18:]))
	}))
}
