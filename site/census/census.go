package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/pure"
	"github.com/oidkit/oid/internal/report"
)

// job is what the page asks for.
type job struct {
	files  []file
	field  string // empty for _id
	isText bool   // read every 24 hexadecimal digits in any text as an id
	zone   string // of the report, such as Europe/Berlin
	lang   string // see page.Site
	memory int64  // in bytes, see census.Options
}

// answer is what the page gets: either problem, a sentence, or html, the view, with page, the report
// as a page of its own, and svg, its timeline, which is empty if no id has a time.
type answer map[string]any

// take takes a census. If nothing could be read, the answer is a problem that says why.
func take(ctx context.Context, j job) answer {
	zone, err := pure.Zone(j.zone)
	if err != nil {
		return answer{"problem": err.Error()}
	}
	o := census.Options{Field: j.field, Memory: j.memory}
	if j.isText {
		o.Format = census.FormatGrep
	}
	c := census.New(&o)
	defer c.Close()
	all := parts(j.files, j.isText)
	for i, p := range all {
		_ = c.ReadCollection(ctx, p.name, p.collection, p.in) // the report has the error
		all[i] = part{}                                       // else what was read stays in memory
	}
	r, err := c.Report(&census.ReportOptions{Zone: zone, Top: 10})
	if err != nil {
		return answer{"problem": fmt.Sprintf("after %d documents, lines or rows: %s", c.Units(), phrase.Plain(err.Error()))}
	}
	site := page.Site{Static: true, Lang: j.lang}
	var failed []string
	for _, s := range r.Sources {
		if s.Error != "" {
			failed = append(failed, s.Name+": "+s.Error)
		}
	}
	if c.Units() == 0 && len(failed) > 0 {
		return answer{"problem": site.Unread(failed)}
	}
	var again []page.Again
	if r.Unjudged != nil {
		for _, e := range r.Unjudged.Elsewhere {
			again = append(again, page.Again{Field: e.Field, IsText: e.InOtherText})
		}
	}
	text := func(write func(io.Writer, *census.Report) error) string {
		var b strings.Builder
		_ = write(&b, r) // a Builder returns no errors
		return b.String()
	}
	svg := text(report.WritePlot)
	view := text(func(w io.Writer, r *census.Report) error {
		return site.Report(func(w io.Writer) error { return report.WriteFragment(w, r) }, svg != "", again).Render(w)
	})
	return answer{"html": view, "page": text(report.WriteHTML), "svg": svg}
}
