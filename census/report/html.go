package report

import (
	_ "embed"
	"html/template"
	"io"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/plot"
)

//go:embed report.html
var page string

//go:embed report.css
var style string

// htmlPage is the page of WriteHTML.
var htmlPage = template.Must(template.New("page").Funcs(template.FuncMap{
	"style":  func() template.CSS { return template.CSS(style) },
	"group":  humanize.Comma,
	"plural": phrase.Count,
	"at":     func(t time.Time, zone *time.Location) string { return t.In(zone).Format(time.DateTime) },
	"span":   func(r *census.Report) string { return phrase.Length(r.Last.Sub(*r.First)) },
	"listed": listed,
	"title":  title,
}).Parse(page))

// Style returns the style sheet of the pages that WriteHTML writes, for a page that
// shows what [WriteFragment] writes.
func Style() string { return style }

// WriteHTML writes r as one page of HTML that needs no other file, for light and
// dark screens. The error is w's.
func WriteHTML(w io.Writer, r *census.Report) error { return htmlPage.Execute(w, view(r)) }

// WriteFragment writes the contents of the page of WriteHTML, without its head. What
// comes from a source is escaped. The error is w's.
func WriteFragment(w io.Writer, r *census.Report) error {
	return htmlPage.ExecuteTemplate(w, "report", view(r))
}

// htmlReport is what the page shows.
type htmlReport struct {
	*census.Report
	Zone  *time.Location
	Chart template.HTML
	Rows  []row
	Ends  [2]string // names of the first and the last bucket
	Parts []htmlReport
	Part  bool // it is one of Parts
}

// row is one process with its plot.
type row struct {
	census.Process
	Plot template.HTML
}

func view(r *census.Report) htmlReport {
	v := htmlReport{Report: r, Zone: zone(r)}
	for _, c := range r.Collections {
		part := view(c)
		part.Part = true
		v.Parts = append(v.Parts, part)
	}
	buckets := r.Timeline.Buckets
	if len(buckets) == 0 {
		return v
	}
	counts := plot.Counts{
		Counts: make([]int64, len(buckets)),
		Name:   func(i int) string { return buckets[i].Start.Format(bucketFormat(r.Timeline.By)) },
		Number: humanize.Comma,
		Title:  func(n int64) string { return phrase.Count(n, "id", "ids") },
	}
	for i, b := range buckets {
		counts.Counts[i] = b.IDs
	}
	v.Ends = [2]string{counts.Name(0), counts.Name(len(buckets) - 1)}
	v.Chart = counts.Bars("ids by " + string(r.Timeline.By))
	for _, p := range r.TopProcesses {
		class := "bar"
		if p.ClockStepped || p.Shared {
			class = "bar wrong"
		}
		counts.Counts = p.Timeline
		v.Rows = append(v.Rows, row{p, counts.Strip("ids of "+p.Value+" by "+string(r.Timeline.By), class)})
	}
	return v
}
