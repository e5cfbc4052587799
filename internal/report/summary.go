package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/phrase"
)

// This file has the sentences that text and HTML have in common.

const (
	// maxSources is how many sources the beginning of a report describes. If there are
	// more, it only counts them, and the end of the report describes them.
	maxSources = 5

	// maxTitles is how many findings a summary of collections lists.
	maxTitles = 20

	// maxNames is how many collections without ids a summary names.
	maxNames = 12

	// minOutages: with at most this many ids, a report does not mention that outages
	// cannot be told. That is obvious.
	minOutages = 100
)

// sourceLine describes a source in one line, and what could not be read in others.
type sourceLine struct {
	text     string
	problems []string
}

// describe describes s.
func describe(s *census.Source) sourceLine {
	l := sourceLine{text: sourceName(s) + ":"} // s.Error follows
	if s.Unit != "" {
		l.text = fmt.Sprintf("%s: %v, %s, %s", sourceName(s), s.Format, phrase.Count(s.Units, s.Unit, s.Unit+"s"), phrase.Count(s.IDs, "id", "ids"))
	}
	if s.Broken > 0 {
		head := phrase.Count(s.Broken, s.Unit, s.Unit+"s") + " could not be read"
		for _, p := range s.Problems {
			l.problems = append(l.problems, fmt.Sprintf("%s: %s %d: %s", head, p.Position.Unit, p.Position.Number, p.Error))
			head = "another one"
		}
		if len(l.problems) == 0 {
			l.problems = []string{head}
		}
	}
	if s.Error != "" {
		l.problems = append(l.problems, s.Error)
	}
	return l
}

func sourceName(s *census.Source) string { return strings.TrimSpace(s.Name + " " + s.Collection) }

// listed reports whether a report shows s. It does not show an archive whose documents all
// belong to its collections, which are sources of their own.
func listed(s *census.Source) bool {
	return s.Collections == 0 || s.Units > 0 || s.Error != ""
}

// describeAll describes sources: top is for the beginning of a report, all for its end. If
// top describes all of them, all is nil.
func describeAll(sources []*census.Source) (top, all []sourceLine) {
	formats, broken := tally{}, 0
	for _, s := range sources {
		if !listed(s) {
			continue
		}
		l := describe(s)
		all = append(all, l)
		if len(l.problems) > 0 {
			broken++
		}
		formats[string(s.Format)]++
	}
	if len(all) <= maxSources {
		return all, nil
	}
	text := fmt.Sprintf("%d sources: %v", len(all), formats)
	if broken > 0 {
		text += fmt.Sprintf("; %d could not be read, or only in part, see below", broken)
	}
	return []sourceLine{{text: text}}, all
}

// tally counts things by name. Its text is "3 bson, 1 json".
type tally map[string]int64

func (t tally) String() string {
	parts := each.Of(slices.Sorted(maps.Keys(t)), func(name string) string { return humanize.Comma(t[name]) + " " + name })
	return strings.Join(parts, ", ")
}

// factsOf returns pairs of a name and a fact: when the ids of r were created, how many there
// are, and so on.
func factsOf(r *census.Report) (out [][2]string) {
	add := func(name, format string, args ...any) {
		out = append(out, [2]string{name, fmt.Sprintf(format, args...)})
	}
	zone := zoneOf(r)
	if r.First != nil {
		add("created", "%s to %s %s (%s)", r.First.In(zone).Format(time.DateTime), r.Last.In(zone).Format(time.DateTime),
			r.Timeline.Zone, span(r.Last.Sub(*r.First)))
	}
	ids := phrase.Count(r.IDs, "ObjectId", "ObjectIds")
	if r.Strings == r.IDs && r.IDs > 0 {
		ids = phrase.Count(r.IDs, "id, stored as a string", "ids, stored as strings")
	} else if r.Strings > 0 {
		ids = fmt.Sprintf("%s ids, %s stored as strings", humanize.Comma(r.IDs), humanize.Comma(r.Strings))
	}
	if r.Distinct != r.IDs {
		ids += ", " + humanize.Comma(r.Distinct) + " different"
	}
	if r.Outside > 0 {
		ids += ", " + humanize.Comma(r.Outside) + " more outside the range"
	}
	add("ids", "%s", ids)
	if e := r.Elections; e.IDs > 0 {
		which := fmt.Sprintf("election %d", e.First)
		if e.Last > e.First {
			which = fmt.Sprintf("elections %d to %d", e.First, e.Last)
		}
		add("elections", "%s of a replica set, of %s: no creation time", phrase.Count(e.IDs, "electionId", "electionIds"), which)
	}
	for _, o := range r.Others {
		add("others", "%s %s, for example %s (%v)%s", humanize.Comma(o.Count), o.Type, o.Examples[0].Text, o.Examples[0].Position, likeness(o.Examples[0].Text))
	}
	if r.Without > 0 {
		add("without", "%s without %s", humanize.Comma(r.Without), r.Field)
	}
	if r.Unjudged != nil {
		add("no verdict", "%v", r.Unjudged)
	}
	if r.Processes > 0 {
		add("processes", "%s", humanize.Comma(r.Processes))
	}
	return out
}

// meteor are the characters of Meteor's random ids, which have 17 of them.
const meteor = "23456789ABCDEFGHJKLMNPQRSTWXYZabcdefghijkmnopqrstuvwxyz"

// likeness returns which other kind of id a value looks like, as the end of a sentence, or "".
func likeness(text string) string {
	text = strings.Trim(text, `"'`)
	if len(text) == 17 && strings.Trim(text, meteor) == "" {
		return ": a random id of Meteor, which has no time"
	}
	if r, err := inspect.Inspect(text, nil); err == nil && r.Readings[0].Format != inspect.ObjectID && r.Readings[0].Verdict == inspect.Likely {
		return fmt.Sprintf(": the form of %s, see \"oid inspect\"", r.Readings[0].Format)
	}
	return ""
}

// zoneOf returns the time zone of the timeline.
func zoneOf(r *census.Report) *time.Location {
	if len(r.Timeline.Buckets) > 0 {
		return r.Timeline.Buckets[0].Start.Location()
	}
	return time.UTC
}

// titleOf returns the name of the collection of r, for a heading.
func titleOf(r *census.Report) string {
	if r.Collection == "" {
		return "sources without a collection"
	}
	return r.Collection
}

// counted returns the reports of the collections that have ids or findings. others is a line
// that names the other collections, those with other values first; it is "" if there are none.
func counted(r *census.Report) (out []*census.Report, others string) {
	var names, empty []string
	for _, c := range r.Collections {
		if c.IDs > 0 || len(c.Findings) > 0 {
			out = append(out, c)
			continue
		}
		if u := c.Unjudged; u != nil && len(u.Elsewhere) > 0 {
			names = append(names, fmt.Sprintf("%s (%v)", titleOf(c), u.Elsewhere[0]))
			continue
		}
		n := tally{}
		for _, o := range c.Others {
			n[o.Type] = o.Count
		}
		if c.Outside > 0 {
			n["outside the range"] = c.Outside
		}
		if len(n) > 0 {
			names = append(names, fmt.Sprintf("%s (%v)", titleOf(c), n))
		} else {
			empty = append(empty, titleOf(c))
		}
	}
	names = append(names, empty...)
	if n := len(names); n > 0 {
		others = phrase.Count(int64(n), "collection", "collections") + " without ids: " + strings.Join(names[:min(n, maxNames)], ", ")
		if n > maxNames {
			others += fmt.Sprintf(" and %d more", n-maxNames)
		}
	}
	return out, others
}

// dates returns the days on which the first and the last id were created, or "" without ids.
func dates(r *census.Report) string {
	if r.First == nil {
		return ""
	}
	return r.First.In(zoneOf(r)).Format(time.DateOnly) + " to " + r.Last.In(zoneOf(r)).Format(time.DateOnly)
}

// verdict counts the findings of r and its collections, the outages, and the processes for
// which it cannot be told whether they have a fault.
func verdict(r *census.Report) string {
	findings, doubts := 0, int64(0)
	for _, c := range append([]*census.Report{r}, r.Collections...) {
		findings += len(c.Findings)
		for _, d := range c.Doubts {
			doubts += d.Processes
		}
	}
	text := "none"
	if findings > 0 {
		text = humanize.Comma(int64(findings))
	}
	if n := outages(r); n > 0 {
		text += "; " + phrase.Count(n, "outage", "outages")
	}
	if doubts > 0 {
		text += "; " + phrase.Count(doubts, "process", "processes") + " cannot be told, see below"
	}
	return text
}

// outages counts the outages in r and in the reports of its collections.
func outages(r *census.Report) (n int64) {
	for _, c := range append([]*census.Report{r}, r.Collections...) {
		for _, e := range c.Events {
			if e.Kind == census.KindOutage {
				n++
			}
		}
	}
	return n
}

// told reports whether r has a verdict. It has none if no ids were judged.
func told(r *census.Report) bool { return r.IDs > 0 || len(r.Findings) > 0 }

// findingTexts are short texts for kinds of findings whose names alone are not clear.
var findingTexts = map[census.Kind]string{
	census.KindSharedValue: "several processes at once", census.KindNoSequence: "counters that do not count up",
}

// faults returns a short text for each finding about a process.
func faults(p census.Process) []string {
	return each.Of(p.Findings, func(k census.Kind) string {
		return cmp.Or(findingTexts[k], strings.ReplaceAll(string(k), "-", " "))
	})
}

// notes returns short texts about a process that are not findings.
func notes(p census.Process) (out []string) {
	if p.Jumps > 0 {
		out = append(out, phrase.Count(p.Jumps, "restart or jump", "restarts or jumps"))
	}
	if p.Doubt != "" {
		out = append(out, "cannot be told: "+strings.ReplaceAll(string(p.Doubt), "-", " "))
	}
	return out
}
