// Package report writes the report of a census as text for a terminal, or as an HTML page
// with plots.
//
// A report begins with the sources, the number of ids and the time in which they were
// created. The findings follow, and what cannot be told. The timeline, the events and the
// processes come last.
package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/rivo/uniseg"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/phrase"
)

// WriteText writes r as text for a screen with the given number of columns. 0 means 80
// columns, and numbers below 40 count as 40. An error of w is returned.
func WriteText(w io.Writer, r *census.Report, columns int) error {
	t := newTextWriter(w, columns)
	if r.Partial != "" {
		t.wrapped("", "  ", "PARTIAL: "+phrase.Shown(r.Partial)+"; not every source was read to its end")
	}
	top, all := describeAll(r.Sources)
	t.sources(top)
	t.facts(r)
	if len(r.Collections) == 0 {
		t.body(r)
	} else {
		t.overview(r)
	}
	if len(all) > 0 {
		t.printf("\nsources\n")
		t.sources(all)
	}
	return t.Flush()
}

func (t *textWriter) body(r *census.Report) {
	t.findings(r)
	t.untold(r)
	t.timeline(r)
	t.events("events", r.Events, zoneOf(r))
	t.events("deploys", r.Deploys, zoneOf(r))
	t.processes(r)
}

// overview writes the titles of all findings, a list of the collections, and a section about
// each collection.
func (t *textWriter) overview(r *census.Report) {
	reports, others := counted(r)
	if told(r) {
		t.printf("\nfindings: %s\n", verdict(r))
	}
	left := maxTitles
	name, ids := 16, 0
	for _, c := range reports {
		for _, f := range c.Findings {
			if left--; left >= 0 {
				t.wrapped("! ", "  ", phrase.Shown(titleOf(c)+": "+f.Title))
			}
		}
		name, ids = max(name, uniseg.StringWidth(titleOf(c))), max(ids, len(humanize.Comma(c.IDs)))
	}
	if left < 0 {
		t.printf("and %d more\n", -left)
	}
	t.printf("\ncollections\n")
	name = max(16, min(name, t.columns-ids-len(" ids  2006-01-02 to 2006-01-02  ")))
	for _, c := range reports {
		short := cut(phrase.Shown(titleOf(c)), name)
		line := fmt.Sprintf("%s%s %*s ids  %s", short, strings.Repeat(" ", name-uniseg.StringWidth(short)), ids, humanize.Comma(c.IDs), dates(c))
		if v := verdict(c); v != "none" {
			line = strings.TrimRight(line, " ") + "\n    findings: " + v
		}
		t.printf("%s\n", strings.TrimRight(line, " "))
	}
	if others != "" {
		t.wrapped("", "  ", phrase.Shown(others))
	}
	for _, c := range reports {
		t.wrapped("\n== ", "   ", phrase.Shown(titleOf(c))+" ==")
		t.facts(c)
		t.body(c)
	}
}

// sources writes the sources and what could not be read.
func (t *textWriter) sources(lines []sourceLine) {
	for _, l := range lines {
		t.wrapped("", "  ", phrase.Shown(l.text))
		for _, p := range l.problems {
			t.wrapped("  ! ", "    ", phrase.Shown(p))
		}
	}
}

// facts writes when the ids were created and how many there are.
func (t *textWriter) facts(r *census.Report) {
	t.printf("\n")
	for _, f := range factsOf(r) {
		t.wrapped(fmt.Sprintf("%-12s", f[0]), strings.Repeat(" ", 12), phrase.Shown(f[1]))
	}
}

// maxEvents is how many events a text lists.
const maxEvents = 30

// events writes events under a title.
func (t *textWriter) events(title string, all []census.Event, zone *time.Location) {
	if len(all) == 0 {
		return
	}
	t.printf("\n%s\n", title)
	for _, e := range all[:min(len(all), maxEvents)] {
		_, sentence := eventTexts(e, zone)
		t.wrapped(e.Start.In(zone).Format("2006-01-02 15:04")+"  ", "    ", sentence)
	}
	if left := len(all) - maxEvents; left > 0 {
		t.printf("and %d more\n", left)
	}
}

func (t *textWriter) processes(r *census.Report) {
	if len(r.TopProcesses) == 0 {
		return
	}
	t.printf("\nprocesses")
	if n := int64(len(r.TopProcesses)); n < r.Processes {
		t.printf(": %d of %s, those with the most ids or with a finding", n, humanize.Comma(r.Processes))
	}
	t.printf("\n")
	format := time.DateTime
	if t.columns < 90 {
		format = time.DateOnly
	}
	zone := zoneOf(r)
	rows := [][]string{{"process", "ids", "first", "last", "gaps", ""}}
	for _, p := range r.TopProcesses {
		mark, said := "", faults(p)
		if len(said) > 0 {
			mark = "! "
		}
		if p.Name != "" {
			said = append(said, p.Name)
		}
		gaps := humanize.Comma(p.Gaps)
		if !p.HasGaps() {
			gaps = "?"
		}
		rows = append(rows, []string{
			p.Value, humanize.Comma(p.IDs), p.First.In(zone).Format(format), p.Last.In(zone).Format(format),
			gaps, mark + phrase.Shown(strings.Join(append(said, notes(p)...), ", ")),
		})
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], uniseg.StringWidth(cell))
		}
	}
	used := widths[0] + widths[1] + widths[2] + widths[3] + widths[4] + 4
	for _, row := range rows {
		line := fmt.Sprintf("%-*s %*s %-*s %-*s %*s", widths[0], row[0], widths[1], row[1], widths[2], row[2], widths[3], row[3], widths[4], row[4])
		isWide := used+2+widths[5] <= t.columns
		if row[5] != "" && isWide {
			line += "  " + row[5]
		}
		t.printf("%s\n", line)
		if row[5] != "" && !isWide {
			t.wrapped(strings.Repeat(" ", widths[0]+1), strings.Repeat(" ", widths[0]+1), row[5])
		}
	}
}

func (t *textWriter) findings(r *census.Report) {
	if !told(r) {
		return
	}
	t.printf("\nfindings: %s\n", verdict(r))
	for _, f := range r.Findings {
		t.wrapped("! ", "  ", phrase.Shown(f.Title))
		t.wrapped("  ", "  ", phrase.Shown(strings.TrimSpace(f.Evidence+" "+f.Reason)))
		t.examples(f.Examples, zoneOf(r))
	}
}

// untold writes what cannot be told, and why.
func (t *textWriter) untold(r *census.Report) {
	limits := untold(r)
	if len(r.Doubts)+len(limits) > 0 {
		t.printf("\ncannot be told\n")
	}
	for _, d := range r.Doubts {
		t.wrapped("- ", "  ", phrase.Shown(d.Reason))
		t.examples(d.Examples, zoneOf(r))
	}
	for _, l := range limits {
		t.wrapped("- ", "  ", l)
	}
}

func (t *textWriter) examples(all []census.Example, zone *time.Location) {
	for _, e := range all {
		text := e.ID.String() + " "
		if !e.Time.IsZero() {
			text += e.Time.In(zone).Format(time.DateTime) + " "
		}
		text += phrase.Shown(e.Position.String())
		if e.Note != "" {
			text += ", " + e.Note
		}
		t.wrapped("    ", "      ", text)
	}
}

type textWriter struct {
	*bufio.Writer
	columns int // the width of the screen
}

// newTextWriter returns a writer for a screen with that many columns, see [WriteText].
func newTextWriter(w io.Writer, columns int) *textWriter {
	return &textWriter{bufio.NewWriter(w), max(cmp.Or(columns, 80), 40)}
}

func (t *textWriter) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// cut shortens text to at most n columns.
func cut(text string, n int) string {
	if uniseg.StringWidth(text) <= n {
		return text
	}
	for uniseg.StringWidth(text) >= n {
		_, last := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-last]
	}
	return text + "~"
}

// wrapped writes text in lines that fit the screen. first is written before the first line,
// and rest before each of the others. A Chinese character takes two columns.
func (t *textWriter) wrapped(first, rest, text string) {
	prefix, line := first, ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && uniseg.StringWidth(prefix)+uniseg.StringWidth(line)+1+uniseg.StringWidth(word) > t.columns {
			t.printf("%s%s\n", prefix, line)
			prefix, line = rest, ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	t.printf("%s%s\n", prefix, line)
}

// WriteDifference writes d as text for a screen with the given number of columns, see
// [WriteText]. An error of w is returned.
func WriteDifference(w io.Writer, d *census.Difference, columns int) error {
	t := newTextWriter(w, columns)
	for _, side := range []census.Side{d.A, d.B} {
		for _, s := range side.Sources {
			if listed(s) {
				t.sources([]sourceLine{describe(s)})
			}
		}
	}
	t.printf("\nin both   %s\n", phrase.Count(d.Both, "id", "ids"))
	if d.Retyped > 0 {
		t.wrapped("retyped   ", "          ", phrase.Count(d.Retyped, "id", "ids")+": an ObjectId on one side, a string of the same digits on the other")
	}
	t.side("only in A", d.A)
	t.side("only in B", d.B)
	return t.Flush()
}

func (t *textWriter) side(name string, s census.Side) {
	t.printf("%s %s\n", name, phrase.Count(s.Only, "id", "ids"))
	if s.First != nil {
		t.wrapped("    ", "      ", fmt.Sprintf("created %s to %s", s.First.Format(time.DateTime), s.Last.Format(time.DateTime)))
	}
	t.examples(s.Examples, time.UTC)
	if s.Others > 0 {
		t.printf("    %s not compared\n", phrase.Count(s.Others, "value of another type was", "values of other types were"))
	}
}
