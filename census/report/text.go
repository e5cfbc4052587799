// Package report writes the report of a census for people: as text for a terminal,
// and as a page of HTML with plots.
package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/rivo/uniseg"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/phrase"
)

// WriteText writes r as text for a terminal. The error is w's.
func WriteText(w io.Writer, r *census.Report, s Screen) error {
	t := &textWriter{bufio.NewWriter(w), s.withDefaults()}
	if r.Partial != "" {
		t.wrapped("", "  ", "PARTIAL: "+clean(r.Partial)+"; sources, or the rest of one, were not read")
	}
	t.sources(r.Sources)
	t.summary(r)
	if len(r.Collections) > 0 {
		t.collections(r.Collections)
		for _, c := range r.Collections {
			t.wrapped("\n== ", "   ", title(c)+" ==")
			t.summary(c)
			t.body(c)
		}
		return t.Flush()
	}
	t.body(r)
	return t.Flush()
}

func (t *textWriter) body(r *census.Report) {
	t.timeline(r)
	t.events(r)
	t.processes(r)
	t.findings(r)
	t.list("advice", r.Advice)
	t.list("cannot be told", untold(r))
}

// maxEvents is how many events a text lists.
const maxEvents = 30

func (t *textWriter) events(r *census.Report) {
	events, left, deployments, restarts := notable(r.Events, maxEvents)
	if len(r.Events) == 0 {
		return
	}
	t.printf("\nevents\n")
	for _, e := range events {
		t.wrapped(e.Start.In(zone(r)).Format("2006-01-02 15:04")+"  ", "    ", sentence(e, zone(r)))
	}
	if left > 0 {
		t.printf("and %d more\n", left)
	}
	if deployments+restarts > 0 {
		t.wrapped("", "  ", changes(deployments, restarts))
	}
}

// title returns the name of the collection of r.
func title(r *census.Report) string {
	if r.Collection == "" {
		return "sources without a collection"
	}
	return clean(r.Collection)
}

// collections lists the collections that follow.
func (t *textWriter) collections(reports []*census.Report) {
	t.printf("\ncollections\n")
	name, ids := 0, 0
	for _, r := range reports {
		name, ids = max(name, uniseg.StringWidth(title(r))), max(ids, len(humanize.Comma(r.IDs)))
	}
	for _, r := range reports {
		blanks := strings.Repeat(" ", name-uniseg.StringWidth(title(r)))
		line := fmt.Sprintf("%s%s %*s ids", title(r), blanks, ids, humanize.Comma(r.IDs))
		if r.First != nil {
			line += fmt.Sprintf("  %s to %s", r.First.In(zone(r)).Format(time.DateOnly), r.Last.In(zone(r)).Format(time.DateOnly))
		}
		if n := len(r.Findings); n > 0 {
			line += "  " + phrase.Count(int64(n), "finding", "findings")
		}
		t.printf("%s\n", line)
	}
}

// sources lists the sources, with the reason for each that was not read to its end.
func (t *textWriter) sources(sources []*census.Source) {
	for _, s := range sources {
		name := clean(s.Name)
		if s.Collection != "" {
			name += " " + clean(s.Collection)
		}
		if !listed(s) {
			continue
		}
		if s.Unit == "" {
			t.wrapped("", "  ", name+":") // and why it was not read
		} else {
			t.wrapped("", "  ", fmt.Sprintf("%s: %v, %s, %s", name, s.Format,
				phrase.Count(s.Units, s.Unit, s.Unit+"s"), phrase.Count(s.IDs, "id", "ids")))
		}
		if s.Broken > 0 {
			t.wrapped("  ", "    ", fmt.Sprintf("! %s could not be read", phrase.Count(s.Broken, s.Unit, s.Unit+"s")))
			for _, p := range s.Problems {
				t.wrapped("    ", "      ", fmt.Sprintf("%s %d: %s", p.Position.Unit, p.Position.Number, clean(p.Error)))
			}
		}
		if s.Error != "" {
			t.wrapped("  ", "    ", "! "+clean(s.Error))
		}
	}
}

// listed reports whether s is shown: an archive is not if all that was read belongs
// to its collections, which are sources of their own.
func listed(s *census.Source) bool {
	return s.Collections == 0 || s.Units > 0 || s.Error != ""
}

// minRates is up to how many ids rates say nothing.
const minRates = 100

func (t *textWriter) summary(r *census.Report) {
	t.printf("\n")
	line := func(name, format string, args ...any) {
		t.wrapped(fmt.Sprintf("%-10s", name), strings.Repeat(" ", 10), fmt.Sprintf(format, args...))
	}
	ids := phrase.Count(r.IDs, "ObjectId", "ObjectIds")
	if r.Strings > 0 {
		ids = phrase.Count(r.IDs, "id, stored as a string", "ids, stored as strings")
	}
	if r.Distinct != r.IDs {
		ids += ", " + humanize.Comma(r.Distinct) + " different"
	}
	if r.Outside > 0 {
		ids += ", " + humanize.Comma(r.Outside) + " more outside the range"
	}
	line("ids", "%s", ids)
	for _, o := range r.Others {
		line("others", "%s %s, for example %s", humanize.Comma(o.Count), o.Type, clean(o.Examples[0].Text))
	}
	if r.Without > 0 {
		line("without", "%s without %s", humanize.Comma(r.Without), r.Field)
	}
	if r.First != nil {
		zone := zone(r)
		line("created", "%s to %s %s (%s)", r.First.In(zone).Format(time.DateTime), r.Last.In(zone).Format(time.DateTime),
			r.Timeline.Zone, span(r.Last.Sub(*r.First)))
	}
	if r.Processes > 0 {
		line("processes", "%s", humanize.Comma(r.Processes))
		line("gaps", "%s (counter values not in this data)", humanize.Comma(r.Gaps))
	}
	if r.Distinct > minRates {
		for _, p := range peaks(r, zone(r)) {
			t.wrapped(fmt.Sprintf("%-16s", p[0]), strings.Repeat(" ", 16), p[1])
		}
	}
}

// zone returns the time zone of the timeline.
func zone(r *census.Report) *time.Location {
	if len(r.Timeline.Buckets) > 0 {
		return r.Timeline.Buckets[0].Start.Location()
	}
	return time.UTC
}

func (t *textWriter) processes(r *census.Report) {
	if len(r.TopProcesses) == 0 {
		return
	}
	head := "\nprocesses\n"
	if n := int64(len(r.TopProcesses)); n < r.Processes {
		head = fmt.Sprintf("\nprocesses: %d of %s, those with the most ids or with a finding\n", n, humanize.Comma(r.Processes))
	}
	t.printf("%s", head)
	format := time.DateTime
	if t.screen.Columns < 90 {
		format = time.DateOnly
	}
	zone := zone(r)
	rows := [][]string{{"process", "ids", "first", "last", "gaps", ""}}
	for _, p := range r.TopProcesses {
		var notes []string
		if p.Name != "" {
			notes = append(notes, clean(p.Name))
		}
		notes = append(notes, p.Layout.String())
		if p.Jumps > 0 {
			notes = append(notes, phrase.Count(p.Jumps, "restart or jump", "restarts or jumps"))
		}
		if p.ClockStepped {
			notes = append(notes, "clock step")
		}
		if p.Shared {
			notes = append(notes, "shared")
		}
		if p.Resumed {
			notes = append(notes, "resumed")
		}
		if p.NoSequence {
			notes = append(notes, "counters that do not count")
		}
		if p.Doubt != "" {
			notes = append(notes, "cannot be told: "+string(p.Doubt))
		}
		mark := ""
		if len(faults(p)) > 0 {
			mark = "! "
		}
		gaps := humanize.Comma(p.Gaps)
		if p.Shared {
			gaps = "?"
		}
		rows = append(rows, []string{
			p.Value, humanize.Comma(p.IDs), p.First.In(zone).Format(format), p.Last.In(zone).Format(format),
			gaps, mark + strings.Join(notes, ", "),
		})
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], uniseg.StringWidth(cell))
		}
	}
	used := widths[0] + widths[1] + widths[2] + widths[3] + widths[4] + 4
	for i, row := range rows {
		line := fmt.Sprintf("%-*s %*s %-*s %-*s %*s", widths[0], row[0], widths[1], row[1], widths[2], row[2], widths[3], row[3], widths[4], row[4])
		switch {
		case row[5] == "":
		case used+2+widths[5] <= t.screen.Columns:
			line += "  " + row[5]
		case i > 0 && row[5] != "modern":
			t.printf("%s\n", line)
			t.wrapped(strings.Repeat(" ", widths[0]+1), strings.Repeat(" ", widths[0]+1), row[5])
			continue
		}
		t.printf("%s\n", line)
	}
}

func (t *textWriter) findings(r *census.Report) {
	if len(r.Findings) == 0 {
		if r.IDs > 0 || !r.Broken() { // nothing can be said of what was not read
			t.printf("\nfindings: none\n")
		}
		return
	}
	t.printf("\nfindings\n")
	for _, f := range r.Findings {
		t.wrapped("! ", "  ", clean(f.Title))
		t.wrapped("  ", "  ", clean(strings.TrimSpace(f.Evidence+" "+f.Reason)))
		for _, e := range f.Examples {
			t.example(e, zone(r))
		}
	}
}

func (t *textWriter) example(e census.Example, zone *time.Location) {
	text := fmt.Sprintf("%v %s %s", e.ID, e.Time.In(zone).Format(time.DateTime), clean(e.Position.String()))
	if e.Note != "" {
		text += ", " + e.Note
	}
	t.wrapped("    ", "      ", text)
}
