package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/plot"
)

// WritePlot writes the timeline of r, of several collections that of the one with the most
// ids, as an SVG that needs no other file. It writes nothing if no id has a time.
func WritePlot(w io.Writer, r *census.Report) error {
	if len(r.Collections) > 0 {
		r = slices.MaxFunc(r.Collections, func(a, b *census.Report) int { return cmp.Compare(a.IDs, b.IDs) })
	}
	p := page{r, zoneOf(r)}
	drawing := string(p.chart(plot.Size{Width: 960, High: 240}))
	if drawing == "" {
		return nil
	}
	end := strings.Index(drawing, ">") + 1
	_, err := fmt.Fprintf(w, `%s xmlns="http://www.w3.org/2000/svg"><style>%s
svg { background: var(--panel); color: var(--wrong); font: 12px system-ui, "DejaVu Sans", sans-serif; }</style>%s%s`,
		drawing[:end-1], strings.ReplaceAll(style, "<", ""), drawing[end:], "\n")
	return err
}
