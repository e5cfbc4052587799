// Package report writes the report of a census for people: as text for a terminal,
// and as a page of HTML with plots.
package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/phrase"
)

// Screen is what a text report is written for. The zero Screen is 80 columns of
// UTF-8.
type Screen struct {
	// Columns is the width. Default: 80. Less than 40 counts as 40.
	Columns int
	// ASCII says that nothing but ASCII can be shown.
	ASCII bool
}

func (s Screen) withDefaults() Screen {
	if s.Columns == 0 {
		s.Columns = 80
	}
	s.Columns = max(s.Columns, 40)
	return s
}

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

// list writes a list of sentences under a title.
func (t *textWriter) list(name string, sentences []string) {
	if len(sentences) == 0 {
		return
	}
	t.printf("\n%s\n", name)
	for _, s := range sentences {
		t.wrapped("- ", "  ", s)
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
		name, ids = max(name, utf8.RuneCountInString(title(r))), max(ids, len(humanize.Comma(r.IDs)))
	}
	for _, r := range reports {
		line := fmt.Sprintf("%-*s %*s ids", name, title(r), ids, humanize.Comma(r.IDs))
		if r.First != nil {
			line += fmt.Sprintf("  %s to %s", r.First.In(zone(r)).Format(time.DateOnly), r.Last.In(zone(r)).Format(time.DateOnly))
		}
		if n := len(r.Findings); n > 0 {
			line += "  " + phrase.Count(int64(n), "finding", "findings")
		}
		t.printf("%s\n", line)
	}
}

type textWriter struct {
	*bufio.Writer
	screen Screen
}

func (t *textWriter) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

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
			r.Timeline.Zone, phrase.Length(r.Last.Sub(*r.First)))
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

// bucketFormat returns how to write a bucket's start.
func bucketFormat(step census.Step) string {
	switch step {
	case census.Second:
		return time.DateTime
	case census.Minute, census.Hour:
		return "2006-01-02 15:04"
	case census.Month:
		return "2006-01"
	case census.Year:
		return "2006"
	}
	return "2006-01-02"
}

// minEmpty is how many empty buckets in a row are written as one line.
const minEmpty = 4

func (t *textWriter) timeline(r *census.Report) {
	lines := group(r.Timeline, maxLines)
	var most int64
	for _, l := range lines {
		most = max(most, l.IDs)
	}
	if most == 0 {
		return
	}
	by := string(r.Timeline.By)
	if each := (len(r.Timeline.Buckets) + len(lines) - 1) / len(lines); each > 1 {
		by = fmt.Sprintf("%d %ss", each, by)
	}
	t.printf("\nids by %v, %s\n", by, r.Timeline.Zone)
	format := bucketFormat(r.Timeline.By)
	numbers := len(humanize.Comma(most))
	room := t.screen.Columns - len(format) - numbers - 3
	marks := marks(r.Events, lines)
	if len(marks) > 0 {
		room = room * 2 / 3
	}
	for i := 0; i < len(lines); i++ {
		empty := 0
		for i+empty < len(lines) && lines[i+empty].IDs == 0 && marks[i+empty] == "" {
			empty++
		}
		if empty >= minEmpty {
			t.printf("%*s\n", len(format), fmt.Sprintf("(%d empty)", empty))
			i += empty - 1
			continue
		}
		b := lines[i]
		bar := t.bar(b.IDs, most, room)
		line := fmt.Sprintf("%s %*s %s", b.Start.Format(format), numbers, humanize.Comma(b.IDs), bar)
		if marks[i] != "" {
			line += strings.Repeat(" ", room-utf8.RuneCountInString(bar)) + " < " + marks[i]
			line = cut(line, t.screen.Columns)
		}
		t.printf("%s\n", strings.TrimRight(line, " "))
	}
	if r.Timeline.Beyond > 0 {
		t.printf("and %s\n", phrase.Count(r.Timeline.Beyond, "id outside this timeline", "ids outside this timeline"))
	}
}

// cut returns text with at most n letters.
func cut(text string, n int) string {
	if letters := []rune(text); len(letters) > n {
		return string(letters[:n-1]) + "~"
	}
	return text
}

// maxLines is how many lines a timeline has as text, unless its step was given.
const maxLines = 48

// group returns the buckets of a timeline, or sums of as many of them as make few enough
// lines.
func group(t census.Timeline, limit int) []census.Bucket {
	each := 1
	for _, each = range roundNumbers[t.By] {
		if (len(t.Buckets)+each-1)/each <= limit {
			break
		}
	}
	if !t.Chosen || each == 1 {
		return t.Buckets
	}
	var out []census.Bucket
	for i := 0; i < len(t.Buckets); i += each {
		sum := census.Bucket{Start: t.Buckets[i].Start}
		for _, b := range t.Buckets[i:min(i+each, len(t.Buckets))] {
			sum.IDs += b.IDs
		}
		out = append(out, sum)
	}
	return out
}

// roundNumbers are how many buckets of a length make a good line, the fewest first.
var roundNumbers = map[census.Step][]int{
	census.Minute: {1, 2, 5, 10, 15, 30}, census.Hour: {1, 2, 3, 6, 12, 24}, census.Day: {1, 2, 7, 14},
	census.Week: {1, 2, 4, 13, 26}, census.Month: {1, 3, 6, 12, 24}, census.Year: {1, 2, 5, 10},
}

// marks returns what happened in the time of each line.
func marks(events []census.Event, lines []census.Bucket) map[int]string {
	out := map[int]string{}
	for _, e := range events {
		if isChange(e) {
			continue
		}
		i := 0
		for i+1 < len(lines) && !lines[i+1].Start.After(e.Start) {
			i++
		}
		if out[i] != "" {
			out[i] += ", "
		}
		out[i] += label(e)
	}
	return out
}

// bar returns n of most as a bar of at most room columns.
func (t *textWriter) bar(n, most int64, room int) string {
	if n == 0 {
		return ""
	}
	if t.screen.ASCII {
		return strings.Repeat("#", max(int(float64(n)/float64(most)*float64(room)), 1))
	}
	eighths := max(int(float64(n)/float64(most)*float64(room)*8), 1)
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return bar
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
		notes := []string{p.Layout.String()}
		if p.ClockStepped || p.Shared || p.Resumed {
			notes = append([]string{"!"}, notes...)
		}
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
		if p.Unjudged {
			notes = append(notes, "not judged")
		}
		if p.Name != "" {
			notes = append(notes, clean(p.Name))
		}
		gaps := humanize.Comma(p.Gaps)
		if p.Shared {
			gaps = "?"
		}
		rows = append(rows, []string{
			p.Value, humanize.Comma(p.IDs), p.First.In(zone).Format(format), p.Last.In(zone).Format(format),
			gaps, strings.Join(notes, ", "),
		})
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
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
		t.wrapped("  ", "  ", clean(f.Reason))
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

// wrapped writes text in lines that fit the screen, the first after first and
// the others after rest.
func (t *textWriter) wrapped(first, rest, text string) {
	prefix, line := first, ""
	for word := range strings.FieldsSeq(text) {
		if t.screen.ASCII {
			word = asASCII(word)
		}
		if line != "" && utf8.RuneCountInString(prefix)+utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > t.screen.Columns {
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

// clean makes text from a source safe for a terminal: what could steer it is
// replaced.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7F && r < 0xA0 || r == utf8.RuneError || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 {
			return '?'
		}
		return r
	}, text)
}

func asASCII(word string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '?'
		}
		return r
	}, word)
}
