package page

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oidkit/oid/internal/odds"
	"github.com/oidkit/oid/internal/pure"
)

// Odds returns the view of the chances that two processes have the same process value, or
// create the same id, for a query. The view shows the error, which is about a value of the
// query.
func (s *Site) Odds(q url.Values) (Frame, error) {
	processes, rate, over := cmp.Or(q.Get("processes"), "1000"), cmp.Or(q.Get("rate"), "100"), cmp.Or(q.Get("over"), "365d")
	layout := cmp.Or(q.Get("layout"), odds.Layouts[0])
	asked, err := odds.Parse(processes, rate, over, layout)
	var result g.Node
	switch {
	case err != nil:
		err = pure.Wrong(err)
	case !slices.Contains(odds.Layouts, layout):
		err = pure.Wrongf("layout %q: want one of the list", layout)
	default:
		value, id := odds.Of(asked)
		words := strings.NewReplacer("1 in ", s.Say("1 in "), "certain", s.Say("certain"))
		result = g.Group{
			h.Div(h.Class("tiles two"),
				h.Div(h.Class("tile"), soften(s.Say("two processes have the same process value")), h.B(g.Text(words.Replace(odds.Text(value))))),
				h.Div(h.Class("tile"), soften(s.Say("an id is created twice")), h.B(g.Text(words.Replace(odds.Text(id)))))),
			soft(s.Prose("If a registry assigns the process blocks, both chances are 0, for up to 2^32 blocks.")),
		}
	}
	return Frame{Title: s.Say("Odds"), Current: "/odds", Contents: g.Group{
		heading(s.Say("The chance of a collision"), s.Prose("How likely it is that two processes create the same id. Each process draws its process value at random when it starts, so two processes may draw the same value.")),
		h.Form(h.Method("get"), h.Action(s.URL("/odds")), h.Data("live", "odds"),
			h.Div(h.Class("fields-row four"),
				field("processes", s.Say("Processes"), textInput("processes", processes)),
				field("rate", s.Say("Ids per second, each process"), textInput("rate", rate)),
				field("over", s.Say("Duration"), textInput("over", over)),
				field("layout", s.Say("Layout"), h.Select(h.ID("layout"), h.Name("layout"), g.Map(odds.Layouts, func(name string) g.Node {
					return h.Option(h.Value(name), g.If(name == layout, h.Selected()), g.Text(map[string]string{"modern": s.Say("modern: oid"), "driver": s.Say("driver: MongoDB's drivers")}[name]))
				})))),
			h.Div(h.Class("row"), h.Button(h.Type("submit"), g.Text(s.Say("Calculate"))))),
		h.Div(h.ID("result"), problem(ErrorText(err)), result),
	}}, err
}
