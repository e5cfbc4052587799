package census

import (
	_ "embed"
	"html/template"
	"io"
	"time"
)

//go:embed report.html
var page string

// htmlPage is the page of WriteHTML.
var htmlPage = template.Must(template.New("report").Funcs(template.FuncMap{
	"group":  group,
	"plural": plural,
	"at":     func(t time.Time, zone *time.Location) string { return t.In(zone).Format(time.DateTime) },
	"span":   func(r *Report) string { return humanSeconds(int64(r.Last.Sub(*r.First) / time.Second)) },
	"whole":  func(s *Source) bool { return len(s.parts) > 0 && s.Units == 0 && s.Error == "" },
}).Parse(page))

// WriteHTML writes r as one page of HTML that needs no other file, for light and
// dark screens. The error is w's.
func (r *Report) WriteHTML(w io.Writer) error {
	return htmlPage.Execute(w, struct {
		*Report
		Zone  *time.Location
		Chart template.HTML
		Lanes []lane
		Ticks template.HTML
	}{r, r.zone(), r.chart(), r.lanes(), r.laneAxis()})
}
