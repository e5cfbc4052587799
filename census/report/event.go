package report

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/phrase"
)

// span returns a length of time, in years if it has two of them.
func span(d time.Duration) string {
	const year = 31_556_952 * time.Second
	if d >= 2*year {
		return fmt.Sprintf("%.1f years", float64(d)/float64(year))
	}
	return phrase.Length(d)
}

// label returns an event in a few words, to stand at a plot.
func label(e census.Event) string {
	switch e.Kind {
	case census.Outage:
		return "outage " + phrase.Length(e.End.Sub(e.Start))
	case census.Import:
		return "import " + humanize.Comma(e.Size)
	case census.Deletion:
		return fmt.Sprintf("deleted %.0f %%", 100*e.Share)
	case census.ClockStep:
		return "clock -" + phrase.Length(time.Duration(e.Size)*time.Second)
	case census.SharedValue:
		return "several at once"
	case census.ResumedState:
		return "resumed"
	case census.NoSequence:
		return "counters that do not count"
	}
	return string(e.Kind)
}

// sentence returns what an event is.
func sentence(e census.Event, zone *time.Location) string {
	until := e.End.In(zone).Format("2006-01-02 15:04")
	text := ""
	switch e.Kind {
	case census.Outage:
		text = fmt.Sprintf("outage: no id for %s, until %s, where there usually are about %s",
			phrase.Length(e.End.Sub(e.Start)), until, humanize.Comma(e.Size))
		if e.Usual != "" {
			text += "; " + e.Usual
		}
	case census.Import:
		text = fmt.Sprintf("import: about %s ids more than usual within %s", humanize.Comma(e.Size), phrase.Length(e.End.Sub(e.Start)))
	case census.Deletion:
		text = fmt.Sprintf("deletion: about %.0f %% of the ids created until %s are missing, %s", 100*e.Share, until, humanize.Comma(e.Size))
	case census.ClockStep:
		text = fmt.Sprintf("clock step: the clock of process %s was set back by at least %s", e.Process, phrase.Length(time.Duration(e.Size)*time.Second))
	case census.SharedValue:
		text = fmt.Sprintf("shared process value: several processes used %s at once until %s", e.Process, until)
	case census.ResumedState:
		text = fmt.Sprintf("resumed state: process %s used the same counters again until %s", e.Process, until)
	case census.NoSequence:
		text = fmt.Sprintf("counters that do not count: those of process value %s, until %s", e.Process, until)
	}
	if e.Confidence != census.Certain {
		text += fmt.Sprintf(" (%s)", e.Confidence)
	}
	return text
}

// untold returns what the report cannot tell of outages.
func untold(r *census.Report) (out []string) {
	if r.Distinct <= minOutages {
		return nil
	}
	if s := r.ShortestOutage; s[0] > 0 {
		text := "an outage shorter than about " + phrase.Length(s[0]) + " in the busiest hours of the week"
		if s[1] > s[0] {
			text += " and " + phrase.Length(s[1]) + " in the quietest"
		}
		out = append(out, text+", or one with less than two periods of its rhythm before or after it")
	} else if outages(r) == 0 {
		out = append(out, "an outage: too few ids, or too short a time, to know what is usual")
	}
	return out
}
