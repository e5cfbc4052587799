package page

import (
	"cmp"
	"net/url"
	"slices"

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
		result = g.Group{
			h.Div(h.Class("tiles two"),
				h.Div(h.Class("tile"), soften("two processes have the same process value"), h.B(g.Text(odds.Text(value)))),
				h.Div(h.Class("tile"), soften("an id is created twice"), h.B(g.Text(odds.Text(id))))),
			soft(g.Text("If a registry assigns the process blocks, both chances are 0, for up to 2^32 blocks.")),
		}
	}
	return Frame{Title: "Odds", Current: "/odds", Contents: g.Group{
		heading("The chance of a collision", g.Text("Processes that draw their process value at random may draw the same one. How likely is it, and how likely is it that an id is then created twice?")),
		h.Form(h.Method("get"), h.Action(s.URL("/odds")), h.Data("live", "odds"),
			h.Div(h.Class("fields-row four"),
				field("processes", "Processes", textInput("processes", processes)),
				field("rate", "Ids per second of each", textInput("rate", rate)),
				field("over", "Duration", textInput("over", over)),
				field("layout", "Layout", h.Select(h.ID("layout"), h.Name("layout"), g.Map(odds.Layouts, func(name string) g.Node {
					return h.Option(h.Value(name), g.If(name == layout, h.Selected()), g.Text(name+map[string]string{"modern": ": oid", "driver": ": MongoDB's drivers"}[name]))
				})))),
			h.Div(h.Class("row"), h.Button(h.Type("submit"), g.Text("Calculate")))),
		h.Div(h.ID("result"), problem(ErrorText(err)), result),
	}}, err
}
