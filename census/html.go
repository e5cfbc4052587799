package census

import (
	_ "embed"
	"html/template"
	"io"
	"time"
)

//go:embed report.html
var page string

//go:embed report.css
var style string

// htmlPage is the page of WriteHTML.
var htmlPage = template.Must(template.New("page").Funcs(template.FuncMap{
	"style":  func() template.CSS { return template.CSS(style) },
	"group":  group,
	"plural": plural,
	"at":     func(t time.Time, zone *time.Location) string { return t.In(zone).Format(time.DateTime) },
	"span":   func(r *Report) string { return humanSeconds(int64(r.Last.Sub(*r.First) / time.Second)) },
	"whole":  func(s *Source) bool { return len(s.parts) > 0 && s.Units == 0 && s.Error == "" },
}).Parse(page))

// Style returns the style sheet of the pages that WriteHTML writes, for whoever
// puts what [Report.WriteFragment] writes into a page of their own.
func Style() string { return style }

// WriteHTML writes r as one page of HTML that needs no other file, for light and
// dark screens. The error is w's.
func (r *Report) WriteHTML(w io.Writer) error { return htmlPage.Execute(w, r.html()) }

// WriteFragment writes what stands within the page of WriteHTML. The error is w's.
func (r *Report) WriteFragment(w io.Writer) error {
	return htmlPage.ExecuteTemplate(w, "report", r.html())
}

// htmlReport is what the page shows.
type htmlReport struct {
	*Report
	Zone  *time.Location
	Chart template.HTML
	Lanes []lane
	Ends  [2]string // of the lanes
}

func (r *Report) html() htmlReport {
	return htmlReport{r, r.zone(), r.chart(), r.lanes(), r.Timeline.ends()}
}

// ends returns where the timeline starts and where its last bucket does.
func (t Timeline) ends() [2]string {
	if len(t.Buckets) == 0 {
		return [2]string{}
	}
	format := bucketFormat(t.By)
	return [2]string{t.Buckets[0].Start.Format(format), t.Buckets[len(t.Buckets)-1].Start.Format(format)}
}
