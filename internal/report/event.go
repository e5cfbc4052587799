package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/phrase"
)

// span formats a duration: in years from two years on.
func span(d time.Duration) string {
	const year = 31_556_952 * time.Second
	if d >= 2*year {
		return fmt.Sprintf("%.1f years", float64(d)/float64(year))
	}
	return phrase.Length(d)
}

// eventTexts describes an event in a few words, for a plot, and in a sentence.
func eventTexts(e census.Event, zone *time.Location) (label, sentence string) {
	until, length, size := e.End.In(zone).Format("2006-01-02 15:04"), phrase.Length(e.End.Sub(e.Start)), humanize.Comma(e.Size)
	switch e.Kind {
	case census.KindOutage:
		label = "outage " + length
		sentence = fmt.Sprintf("outage: no id for %s, until %s, where there usually are about %s", length, until, size)
		if e.Usual != "" {
			sentence += "; " + e.Usual
		}
	case census.KindImport:
		label = "import " + size
		sentence = fmt.Sprintf("import: about %s ids more than usual within %s", size, length)
	case census.KindDeletion:
		label = fmt.Sprintf("deleted %.0f %%", 100*e.Share)
		sentence = fmt.Sprintf("deletion: about %.0f %% of the ids created until %s are missing: %s ids", 100*e.Share, until, size)
	case census.KindClockStep:
		by := phrase.Length(time.Duration(e.Size) * time.Second)
		label = "clock -" + by
		sentence = fmt.Sprintf("clock step: the clock of process %s was set back by at least %s", e.Process, by)
	case census.KindSharedValue:
		label = "several at once"
		sentence = fmt.Sprintf("shared process value: several processes used %s at once until %s", e.Process, until)
	case census.KindResumed:
		label = "resumed"
		sentence = fmt.Sprintf("resumed state: process %s used the same counters again until %s", e.Process, until)
	case census.KindDeploy:
		sentence = "deploy: " + phrase.Shown(e.Service+" "+e.Version)
	case census.KindNoSequence:
		label = "counters that do not count up"
		sentence = fmt.Sprintf("%s: those of process value %s, until %s", label, e.Process, until)
	}
	if e.Confidence != census.ConfidenceCertain {
		sentence += fmt.Sprintf(" (%s)", e.Confidence)
	}
	return label, sentence
}

// untold returns what the report cannot tell: whether equal ids in a text were created twice, and
// whether there were outages.
func untold(r *census.Report) (out []string) {
	isText := func(s *census.Source) bool { return s.Format == census.FormatGrep }
	if r.Repeated > 0 && slices.ContainsFunc(r.Sources, isText) {
		out = append(out, "whether "+phrase.Count(r.Repeated, "id that occurs", "ids that occur")+" more than once were created more than once: a text may name an id again, but processes with one process value, for example after a fork, also create equal ids. To see which ids two logs share, type: oid census --grep --compare FILE FILE")
	}
	if r.Distinct <= minOutages || r.First == nil {
		return out
	}
	if s := r.ShortestOutage; s[0] > 0 {
		text := "an outage shorter than about " + phrase.Length(s[0]) + " in the busiest hours of the week"
		if s[1] > s[0] {
			text += " and " + phrase.Length(s[1]) + " in the quietest"
		}
		out = append(out, text+", or an outage with less than two periods of the collection's rhythm before or after it")
	} else if outages(r) == 0 {
		out = append(out, "an outage: too few ids, or too short a time, to know what is usual")
	}
	return out
}
