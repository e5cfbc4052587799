package census

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/oidkit/oid/census/internal/idset"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/objectid"
)

// ReportOptions configure a [Report]. A nil pointer and the zero ReportOptions mean the
// defaults.
type ReportOptions struct {
	// By is the length of the timeline's buckets. Default: [IntervalAuto].
	By Interval

	// Zone is the time zone in which days and longer buckets of the timeline begin.
	// Default: UTC.
	Zone *time.Location

	// Top is the number of processes to list, those with the most ids first. Default: 10.
	// A negative number lists all processes.
	Top int

	// Name, if not nil, must return the name of the process that created an id, or "" if
	// the name is unknown. A census calls it once for each process in the list.
	Name func(objectid.ID) string

	// Deploys, if not nil, must return events of [KindDeploy] in order of time: the deploys
	// between two times of the services whose processes created the ids. A census
	// calls it once for each collection, with an id of each process in the list.
	Deploys func(ids []objectid.ID, from, to time.Time) []Event
}

func (o *ReportOptions) withDefaults() ReportOptions {
	out := *cmp.Or(o, &ReportOptions{})
	out.By, out.Zone = cmp.Or(out.By, IntervalAuto), cmp.Or(out.Zone, time.UTC)
	out.Top = max(cmp.Or(out.Top, 10), 0) // from here on 0 means no limit
	return out
}

// Report is the result of a census, or the part of it about one collection.
type Report struct {
	// Collection is the name of the collection. It is empty if the sources do not name it
	// or if there are several.
	Collection string
	// Collections has a report for each collection if there are several, in the order in
	// which the census met them. This report then is a summary: Timeline has no buckets,
	// and the fields from Processes to Findings are empty.
	Collections []*Report

	// Field is the document field whose values were read: [Options].Field.
	Field string
	// Partial says why the census ended before all sources were read. It is empty unless
	// [Census.EndEarly] was called.
	Partial string
	// ReferenceTime is [Options].Now.
	ReferenceTime time.Time
	// Sources describe the sources, in the order in which they were read.
	Sources []*Source

	// IDs is the number of ids that were counted, Distinct the number of different ids,
	// and Repeated the number of different ids that occur more than once.
	IDs      int64
	Distinct int64
	Repeated int64
	// Strings is equal to IDs if the collection stores its ids as strings of 24
	// hexadecimal digits, and 0 if it has ObjectIds.
	Strings int64
	// Outside is the number of ids outside [Options].Range, which were not counted.
	Outside int64
	// Elections are those of the ids that are electionIds. They hold no creation time.
	Elections Elections
	// Others describe the values that are not ids, by type, the most frequent type first.
	// Without is the number of documents or rows that lack the field.
	Others  []Other
	Without int64

	// Unjudged says where ids are if no document has an id in the field. It is nil if ids were
	// found, or if there were no documents.
	Unjudged *Unjudged

	// First and Last are the earliest and the latest creation time. They ignore ids from
	// before 2009, ids from the future and bounds. They are nil if there are no other ids.
	First *time.Time
	Last  *time.Time
	// Timeline counts the ids by creation time.
	Timeline Timeline

	// Processes is the number of processes that created the ids, as far as process values
	// and counters show, and Gaps is the sum of Process.Gaps over all of them. TopProcesses
	// lists the processes with the most ids, then a few of the others with a finding.
	Processes    int64
	Gaps         int64
	TopProcesses []Process

	// Doubts are the kinds of breaks in counters that may be faults or may be harmless: the
	// census cannot tell. The kind with the most processes comes first.
	Doubts []Doubt

	// Events are in order of time, and so are Deploys, see [ReportOptions].Deploys.
	Events  []Event
	Deploys []Event
	// ShortestOutage is the shortest period without ids that counts as an outage. Its first
	// element is for the busiest hours of the week, the second for the quietest hours. Both
	// are zero if unknown.
	ShortestOutage [2]time.Duration

	// Findings are what deserves attention, in the order of [Kinds].
	Findings []Finding
}

// Timeline counts ids by creation time.
type Timeline struct {
	By Interval
	// Chosen is true if the census chose By; see [IntervalAuto].
	Chosen bool
	// Zone is the time zone in which days and longer buckets begin.
	Zone string
	// Buckets are consecutive, and the last bucket ends at End.
	Buckets []Bucket
	End     time.Time
	// Beyond is the number of ids that are not in a bucket: those from before 2009, those
	// from the future and, if Chosen is true, a few that are far from all others.
	Beyond int64
}

// Bucket is a part of a timeline. It ends where the next bucket starts.
type Bucket struct {
	Start time.Time // with the offset of the timeline's zone
	IDs   int64
}

// Process describes one process by its ids in the data: those with the same process value.
// Some generators continue in the next process value when the counter overflows; then the
// ids with that value belong to the process, too.
type Process struct {
	// Value is the process value as ten hexadecimal digits.
	Value string
	// Name is the result of [ReportOptions].Name. It is empty if the name is unknown.
	Name string
	// Values is the number of consecutive process values that the process used, starting
	// with Value. It is 1 unless the counter overflowed into the next value.
	Values int
	// IDs is the number of different ids, and First and Last are the creation times of
	// the earliest and the latest.
	IDs   int64
	First time.Time
	Last  time.Time
	// Gaps is the number of counter values between the first and the last id that are not
	// found in the data. If more than 2^20 values are missing from one id to the next, Gaps
	// does not count them, and Jumps is increased by one: the process was restarted, or
	// created many ids elsewhere. Gaps and Jumps are 0 if they cannot be
	// told, see HasGaps.
	Gaps  int64
	Jumps int64
	// Findings are the kinds of findings that apply to the process, in the order of [Kinds].
	Findings []Kind
	// Doubt says why the census cannot tell whether the process has a fault. It is empty if
	// the census found a fault, or has no doubt.
	Doubt DoubtKind
	// Timeline is the number of different ids in each bucket of the report's timeline.
	Timeline []int64
}

// Has reports whether k is one of the findings that apply to p.
func (p *Process) Has(k Kind) bool { return slices.Contains(p.Findings, k) }

// HasGaps reports whether Gaps and Jumps are known. They are not if several processes used the
// process value, or if the counters do not count up.
func (p *Process) HasGaps() bool { return !p.Has(KindSharedValue) && !p.Has(KindNoSequence) }

// Report analyses the ids that have been read so far. It may be called again, for example
// after reading another source. It returns an error if o.By is not one of [Intervals] or if
// the temporary file cannot be used. The error wraps [ErrTooFine] if the timeline would
// have too many buckets.
//
// If there are several collections, the report is a summary with one report for each of
// them in Collections.
func (c *Census) Report(o *ReportOptions) (*Report, error) {
	options := o.withDefaults()
	if err := c.settle(); err != nil {
		return nil, err
	}
	collections := c.used()
	if len(collections) == 0 {
		collections = []*collection{newCollection("", new(idset.Space))} // nothing could be read
	}
	var reports []*Report
	for _, l := range collections {
		r, err := c.report(l, options)
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	if len(reports) == 1 {
		reports[0].Sources = c.sources
		return reports[0], nil
	}
	return c.summary(reports, options), nil
}

// settle prepares the analysis of what has been read so far.
func (c *Census) settle() error {
	for _, s := range c.sources {
		_, which := s.collection.judged()
		s.IDs = s.found[which]
	}
	return c.space.Settle()
}

// used returns the collections to report: those with documents or ids, and empty ones with
// a name. The unnamed collection of an archive has neither.
func (c *Census) used() (out []*collection) {
	for _, l := range c.collections {
		if l.found[0].taken > 0 || slices.ContainsFunc(l.sources, func(s *Source) bool { return s.Units > 0 || l.name != "" && s.Collections == 0 }) {
			out = append(out, l)
		}
	}
	return out
}

// report analyses one collection.
func (c *Census) report(l *collection, options ReportOptions) (*Report, error) {
	ids, which := l.judged()
	t, err := ids.analyse(&c.options, options.By, options.Zone, options.Top)
	if err != nil {
		return nil, err
	}
	r := &Report{
		Collection: l.name, Partial: c.partial,
		Field: c.options.Field, ReferenceTime: c.options.Now.UTC(), Sources: l.sources,
		IDs: t.ids, Distinct: t.distinct, Repeated: t.repeated, Outside: ids.outside,
		Elections: t.elections, Processes: t.processes, Gaps: t.gaps,
		Timeline: Timeline{By: t.axis.interval, Chosen: options.By == IntervalAuto, Zone: options.Zone.String(), Beyond: t.off},
		Others:   otherValues(l.sources),
		Unjudged: c.unjudged(l.sources),
	}
	t.trim()
	r.Timeline.End = time.Unix(t.axis.starts[len(t.counts)], 0).In(options.Zone)
	for i, n := range t.counts {
		if len(t.counts) == 1 && n == 0 {
			break // no id has a time
		}
		r.Timeline.Buckets = append(r.Timeline.Buckets, Bucket{time.Unix(t.axis.starts[i], 0).In(options.Zone), n})
	}
	if !t.plausible.empty() {
		first, last := moment(t.plausible.first), moment(t.plausible.last)
		r.First, r.Last = &first, &last
	}
	if which == hexStrings {
		r.Strings = t.ids
	}
	for _, s := range l.sources {
		r.Without += s.Without
	}
	for i := range t.top {
		r.TopProcesses = append(r.TopProcesses, c.process(t, &t.top[i], options.Name))
	}
	for i := range t.faulty {
		if p := c.process(t, &t.faulty[i], options.Name); len(p.Findings) > 0 && !slices.ContainsFunc(r.TopProcesses, func(q Process) bool { return q.Value == p.Value }) {
			r.TopProcesses = append(r.TopProcesses, p)
		}
	}
	r.Doubts = c.doubts(t)
	r.Events, r.ShortestOutage = t.history.events(options.Zone)
	r.Events = append(r.Events, t.faultEvents()...)
	if options.Deploys != nil && len(r.Timeline.Buckets) > 0 {
		ids := each.Of(t.top, func(p process) objectid.ID { return p.begin.ID() })
		r.Deploys = options.Deploys(ids, r.Timeline.Buckets[0].Start, r.Timeline.End)
	}
	slices.SortStableFunc(r.Events, func(a, b Event) int { return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Kind, b.Kind)) })
	r.Findings = append(r.Findings, c.findings(l, t, r)...)
	return r, nil
}

// summary returns the report above the reports of several collections. A process has
// ids in several of them, so its gaps in one are ids in another: processes are not
// counted together.
func (c *Census) summary(reports []*Report, options ReportOptions) *Report {
	sum := &Report{
		Partial: c.partial,
		Field:   c.options.Field, ReferenceTime: c.options.Now.UTC(), Sources: c.sources, Collections: reports,
		Timeline: Timeline{By: options.By, Zone: options.Zone.String()},
		Others:   otherValues(c.sources),
		Unjudged: c.unjudged(c.sources),
	}
	for _, r := range reports {
		sum.IDs += r.IDs
		sum.Distinct += r.Distinct
		sum.Repeated += r.Repeated
		sum.Strings += r.Strings
		sum.Outside += r.Outside
		sum.Elections.add(r.Elections)
		sum.Without += r.Without
		if r.First != nil && (sum.First == nil || r.First.Before(*sum.First)) {
			sum.First = r.First
		}
		if r.Last != nil && (sum.Last == nil || r.Last.After(*sum.Last)) {
			sum.Last = r.Last
		}
	}
	return sum
}

// moment returns the time of a Unix second, in UTC.
func moment(second uint32) time.Time { return time.Unix(int64(second), 0).UTC() }

// process describes p for a report.
func (c *Census) process(t *tally, p *process, name func(objectid.ID) string) Process {
	need, _ := t.suspects.need(t.broken)
	out := Process{
		Value: processText(p.value), Values: p.values, IDs: p.ids, First: moment(p.first), Last: moment(p.last),
		Gaps: p.gaps, Jumps: p.jumps, Timeline: p.timeline[t.trimmed:][:t.axis.buckets()],
		Doubt: t.doubtOf(p),
	}
	for f, of := range faultKinds {
		if p.found[f].bits >= need {
			out.Findings = append(out.Findings, of.kind)
		}
	}
	if !out.HasGaps() {
		out.Gaps, out.Jumps = 0, 0
	}
	if name != nil {
		out.Name = name(p.begin.ID())
	}
	return out
}

// processText returns a process value as ten hexadecimal digits.
func processText(value uint64) string {
	return fmt.Sprintf("%010x", value)
}
